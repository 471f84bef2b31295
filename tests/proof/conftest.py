"""A folder in memory for the many worlds of a proof."""

from tests.services.conftest import folder

__all__ = ["folder"]
