"""Retrieval: terms, scores and ranking. Pure functions over text and arrays, no I/O."""
