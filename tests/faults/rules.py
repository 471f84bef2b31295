"""What can go wrong with a request to a store, and when: the vocabulary of fault injection.

Owns: `Request` (one line of the log), `Fault`, `Crash`, the rules `at`, `on` and `seeded`, the action `meet`.
Guarantees: `possible_faults` names only what S3 can show on an operation; every rule is deterministic for a
given order of requests. Gives up: the sending, which is `hostile_store`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from random import Random
from typing import Literal

Operation = Literal["get", "create", "replace", "delete", "list", "versions", "get_version", "delete_version"]
MEETING_SECONDS = 10.0


class Crash(BaseException):
    """The process died here. Not an Exception, so that no handler of the code under test survives it."""


class Fault(Enum):
    """What happens to a request instead of its answer."""

    LOST = "lost: nothing written"
    CONTENDED = "contended: nothing written"
    GONE = "gone: nothing written"
    UNKNOWN_BEFORE = "no answer, and the write never happens"
    UNKNOWN_AFTER = "no answer, though the write happened"
    UNKNOWN_LATE = "no answer, and the write happens when the test calls land_late()"
    UNAVAILABLE = "StoreUnavailable, and nothing happened"
    UNAVAILABLE_AFTER = "StoreUnavailable, though the delete happened"
    CRASH_BEFORE = "the process dies before the request is sent"
    CRASH_AFTER = "the process dies when the request has taken effect"


ANYWHERE = frozenset({Fault.UNAVAILABLE, Fault.CRASH_BEFORE, Fault.CRASH_AFTER})
OF_CREATE = ANYWHERE | {
    Fault.LOST,
    Fault.CONTENDED,
    Fault.UNKNOWN_BEFORE,
    Fault.UNKNOWN_AFTER,
    Fault.UNKNOWN_LATE,
}
OF_REPLACE = OF_CREATE | {Fault.GONE}
OF_DELETE = ANYWHERE | {Fault.UNAVAILABLE_AFTER}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was sent. Each page of a listing is one; its `key` is then the prefix.

    `answer` is the name of the outcome's class, "Crash" or "StoreUnavailable"; "" while none came.
    `sent` and `received` are bytes of bodies. Numbers begin at 1.
    """

    number: int
    operation: Operation
    key: str
    sent: int = 0
    received: int = 0
    answer: str = ""

    @property
    def writes(self) -> bool:
        """Whether it changes the store."""
        return self.operation in ("create", "replace", "delete", "delete_version")

    def matches(self, operation: Operation | None, key: str) -> bool:
        """Whether it is of the operation (None: any) and its key fits the shell-style pattern."""
        return operation in (None, self.operation) and fnmatchcase(self.key, key)


Action = Callable[[Request], None]
Rule = Callable[[Request], "Fault | Action | None"]


def at(number: int, fault: Fault | Action) -> Rule:
    """The fault at the request of this number, counted from 1 over all operations."""
    return lambda request: fault if request.number == number else None


def on(
    fault: Fault | Action,
    operation: Operation | None = None,
    key: str = "*",
    *,
    skip: int = 0,
    times: int | None = 1,
) -> Rule:
    """The fault at matching requests: not the first `skip`, then `times` of them (None: all).

    An action instead of a fault runs before the request is sent on: so another writer can come in between.
    """
    seen = 0

    def rule(request: Request) -> Fault | Action | None:
        nonlocal seen
        if not request.matches(operation, key):
            return None
        seen += 1
        due = seen > skip and (times is None or seen <= skip + times)
        return fault if due else None

    return rule


def seeded(seed: int, share: float, faults: frozenset[Fault] = OF_REPLACE - ANYWHERE) -> Rule:
    """About `share` of all requests fail, each with one of `faults` that its operation can have."""

    def rule(request: Request) -> Fault | None:
        chance = Random(f"{seed}/{request.number}")
        possible = sorted(faults & possible_faults(request.operation), key=lambda fault: fault.name)
        return chance.choice(possible) if possible and chance.random() < share else None

    return rule


def meet(parties: int) -> Action:
    """An action that holds each request until `parties` of them wait: proof that they are sent side by side.

    Raises threading.BrokenBarrierError where they are sent one after the other.
    """
    barrier = threading.Barrier(parties, timeout=MEETING_SECONDS)

    def wait(_: Request) -> None:
        barrier.wait()

    return wait


def possible_faults(operation: Operation) -> frozenset[Fault]:
    """The faults that S3 can show on the operation."""
    if operation in ("delete", "delete_version"):
        return OF_DELETE
    return {"create": OF_CREATE, "replace": OF_REPLACE}.get(operation, ANYWHERE)
