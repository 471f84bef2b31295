"""Forget: a stub takes the memory's place, and stays.

Owns: the tool `forget`. Guarantees: an unknown, forgotten, foreign or hidden id all get the same answer (P-TENANT).
Gives up: the protocol, which `services/removing` has for every removal.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.removing import Removal, Removing
from lodestore.services.statements import Screen
from lodestore.settings import SecretPolicy

ARGUMENTS = ("id", "reason")
FORGOTTEN = "forgotten"
NOT_FOUND = "not_found"


class Forget:
    """The tool `forget`."""

    def __init__(self, removing: Removing, clock: Clock, *, secrets: SecretPolicy) -> None:
        self._removing = removing
        self._clock = clock
        self._secrets = secrets

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{deleted, id, reason}. Raises InvalidArgument, TooLarge, Unavailable."""
        arguments = Arguments("forget", given, ARGUMENTS)
        memory_id = arguments.required_identifier()
        reason = Screen(self._secrets).text(
            "reason", arguments.text("reason", most_bytes=limits.REASON_BYTES)
        )
        removal = Removal(reason, str(caller.role), self._clock.now())
        deleted = self._removing.remove_with_members(
            caller.tenant, memory_id, removal, lambda memory: memory.visible_to(caller)
        )
        return {"deleted": deleted, "id": memory_id, "reason": FORGOTTEN if deleted else NOT_FOUND}
