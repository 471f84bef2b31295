"""Tests, by what is tested; tests/structure holds the rules of the repository."""
