"""Who may do what, and what never leaks."""
