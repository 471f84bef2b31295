"""Remember: the tool.

Owns: from arguments to the interface's answer. Guarantees: no language model and no read of the tenant's memories on
the way (P-NO-LLM-ON-WRITE, P-FLAT-WRITES).
Gives up: near-duplicates that this instance does not hold in memory; the answer says how many it looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lodestore.domain.caller import Caller
from lodestore.domain.memory import Memory
from lodestore.domain.text import shorten
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.ledger import Overtaken, Standing
from lodestore.services.shown import show_moment
from lodestore.services.statements import FIELD_ARGUMENTS, Screen, read_statement
from lodestore.services.storing import Kept, Storing
from lodestore.settings import SecretPolicy

ARGUMENTS = (*FIELD_ARGUMENTS, "scope", "id", "idempotency_key")
_NEAR_BYTES = 400


@dataclass(frozen=True, slots=True)
class Near:
    """A memory that says nearly the same; `similarity` in [0, 1] is the share of terms in common (Jaccard)."""

    memory: Memory
    similarity: float


class Neighbourhood(Protocol):
    """What an instance holds in memory of a tenant. Never makes a request."""

    def near(self, caller: Caller, content: str, *, but: str) -> tuple[Sequence[Near], int]:
        """Visible live memories most like `content`, best first, and how many were looked at."""
        ...

    def hold(self, standing: Standing) -> None:
        """Take in what was just written."""
        ...


class Remember:
    """The tool `remember`."""

    def __init__(self, storing: Storing, near: Neighbourhood, clock: Clock, *, secrets: SecretPolicy) -> None:
        self._storing = storing
        self._near = near
        self._clock = clock
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """The interface's answer. Raises LodestoreError; what it says of `written` is true."""
        arguments = Arguments("remember", given, ARGUMENTS)
        statement = read_statement(arguments, Screen(self._secrets), caller, now=self._clock.now())
        kept = self._storing.keep(caller, statement)
        redacted = list(statement.redacted)
        if kept.written is None:
            return {"status": str(kept.status), "id": kept.memory_id, "redacted": redacted}
        answer = self._described(caller, kept, kept.written) | {"redacted": redacted}
        if kept.changed_since is not None:
            answer["changed_since"] = show_moment(kept.changed_since)
        return answer

    def _described(self, caller: Caller, kept: Kept, written: Standing | Overtaken) -> dict[str, object]:
        memory = written.record
        assert isinstance(memory, Memory)
        near, looked_at = self._near.near(caller, memory.content, but=memory.id)
        if isinstance(written, Standing):
            self._near.hold(written)
        return {
            "status": str(kept.status),
            "id": memory.id,
            "version": memory.version,
            "revision": memory.revision,
            "content": memory.content,
            "type": str(memory.type),
            "category": memory.category,
            "tags": list(memory.tags),
            "importance": memory.importance,
            "pinned": memory.pinned,
            "scope": str(memory.scope),
            "created_at": show_moment(memory.created_at),
            "expires_at": show_moment(memory.expires_at),
            "supersedes": list(memory.supersedes),
            "near_duplicates": [_shown(item) for item in near],
            "near_duplicates_checked": looked_at,
        }


def _shown(near: Near) -> dict[str, object]:
    content, _ = shorten(near.memory.content, _NEAR_BYTES)
    return {"id": near.memory.id, "similarity": round(near.similarity, 3), "content": content}
