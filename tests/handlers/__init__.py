"""The Lambda handlers, called with the events that AWS sends."""
