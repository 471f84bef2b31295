"""Benchmarks: each is one command and prints its figures last. Data sets are found by DATA_DIR, never copied
here."""
