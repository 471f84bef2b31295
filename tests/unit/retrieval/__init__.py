"""What keywords find, and how they score."""
