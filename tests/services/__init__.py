"""The services over real and faulty stores: outcomes of tools, not of functions."""
