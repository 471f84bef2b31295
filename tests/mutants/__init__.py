"""Copies of the product that are broken on purpose, and the tests that notice."""
