"""The official conformance suite against the real server."""
