"""Proof: a model, a judge, a hostile store and hostile events, against the real services."""
