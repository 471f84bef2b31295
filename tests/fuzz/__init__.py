"""Hostile clients: inputs drawn by a seed, sent to the real handler and the real server, and a judge of the answers."""
