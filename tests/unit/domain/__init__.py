"""Tests of the domain: pure, without a store."""
