"""Many writers at once: threads, processes, and processes that are killed."""
