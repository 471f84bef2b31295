"""The soak: minutes of writing while workers and the store are killed, and the account of it afterwards."""
