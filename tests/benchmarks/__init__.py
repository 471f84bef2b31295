"""The benchmarks' own arithmetic and data."""
