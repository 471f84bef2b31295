"""Tests of the benchmarks: each runs at a tiny size, and its checks can fail."""
