"""The deployment: its settings, stacks, permissions and layers, as they are synthesised."""
