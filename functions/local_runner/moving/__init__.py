"""Moving in and out: the commands, and the readers of files that memories come from."""
