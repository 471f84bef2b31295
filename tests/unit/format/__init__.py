"""Keys and bytes."""
