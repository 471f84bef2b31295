"""The maintenance handler: turns a schedule or a queued tenant into one sleep-time run."""
