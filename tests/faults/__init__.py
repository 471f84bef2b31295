"""What happens when the store, the network or the process fails at any point."""
