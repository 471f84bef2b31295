"""The local runner and the whole server as a process."""
