"""What the MCP server asks of the core.

Owns: `Lodestore`, the part of `lodestore.bootstrap`'s result that this function uses.
Guarantees: nothing else of the core is reached at run time, so that a test can stand in for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lodestore.ports.clock import Clock
from lodestore.services.access import Access
from lodestore.services.counted_store import RequestCounts
from lodestore.services.invocation_budget import InvocationBudget
from lodestore.services.pinned import PinnedInstructions
from lodestore.services.toolbox import Toolbox
from lodestore.settings import Settings


class Lodestore(Protocol):
    """One process's core."""

    @property
    def settings(self) -> Settings:
        """The settings that it was built from."""
        ...

    @property
    def toolbox(self) -> Toolbox:
        """The tools."""
        ...

    @property
    def access(self) -> Access:
        """Who may call."""
        ...

    @property
    def clock(self) -> Clock:
        """The machine's clock."""
        ...

    @property
    def instructions(self) -> str:
        """What a model is told about the server as a whole."""
        ...

    @property
    def pinned(self) -> PinnedInstructions | None:
        """Instructions of tenants that have their own; None: of none."""
        ...

    @property
    def requests(self) -> RequestCounts:
        """What its stores were asked."""
        ...

    @property
    def budget(self) -> InvocationBudget:
        """What the invocation has left."""
        ...

    def health(self) -> Mapping[str, object]:
        """{status, version, auth, embeddings}; no storage request."""
        ...
