"""Every interleaving of the requests of a few processes on one id, on the real code."""
