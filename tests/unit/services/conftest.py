"""The world of the service tests, for the parts that need one."""

from tests.services.conftest import folder, world

__all__ = ["folder", "world"]
