"""Measures of work and time, each one command."""
