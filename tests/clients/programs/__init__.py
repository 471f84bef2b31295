"""Programs that drive one client each, run in that client's own environment: URL and tenant in, JSON out."""
