"""A deployment of the real templates, on loopback: `make test-cloud`."""
