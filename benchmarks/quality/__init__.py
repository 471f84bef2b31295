"""How well memories are found: each module is one command and prints its table last."""
