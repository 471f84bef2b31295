"""Embedders for tests: the local model, and the real adapters of services against stubs of their wire format."""
