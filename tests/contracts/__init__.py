"""What every adapter of a port promises, run on each of them."""
