"""Parts of the services by themselves."""
