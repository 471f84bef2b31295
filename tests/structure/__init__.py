"""Tests of the repository itself: its rules hold, and each rule's check can fail."""
