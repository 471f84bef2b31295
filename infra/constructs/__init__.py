"""Parts that the stacks are made of: one function, its permissions, the alarms."""
