"""Memories of other stores on their way in."""
