"""The benchmarks: their arithmetic and data, and that each runs at a tiny size and its checks can fail."""
