"""`make run` with the suite's fixtures mounted: the same program, the same handler, one class in its place.

Owns: the mount. Guarantees: everything in front of the SDK's server is the product's own.
"""

from __future__ import annotations

from local_runner.one_machine import run
from lodestore.bootstrap import environment
from mcp_server import dispatch
from mcp_server.observability import Observer
from mcp_server.surface import Lodestore
from tests.conformance.fixtures import Mount


class FixtureDispatch(dispatch.Dispatch):
    """The dispatch with the suite's tools, resources and prompts beside its own."""

    def __init__(self, lodestore: Lodestore, observer: Observer) -> None:
        super().__init__(lodestore, observer)
        Mount(self.server)


if __name__ == "__main__":
    dispatch.Dispatch = FixtureDispatch  # type: ignore[misc]
    run(environment())
