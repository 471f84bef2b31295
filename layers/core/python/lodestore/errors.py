"""The tree of errors that a caller may see.

Owns: one class for each `error` code of the interface, and the JSON shape they all share.
Guarantees: an error says which field, which limit and what came, what to do next, whether a
repeat can help, and whether the write is known to have happened. Nothing internal (a key, a path,
an exception's own text) ever goes into one.
Gives up: causes. They belong to the log, which these errors never reach by themselves.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Written = bool | Literal["unknown"]


class LodestoreError(Exception):
    """Base of all errors with a place in the interface (`interface.md`, "Errors").

    field      the argument, header or setting at fault; None where none is
    limit      what is allowed, in words or as a number; None where there is no limit
    got        what came: a size or a short echo of a non-secret value; None where it must not be shown
    written    False: nothing was stored. True: it was. "unknown": the store gave no answer
    """

    code: ClassVar[str] = "unavailable"
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        limit: str | int | float | None = None,
        got: str | int | float | None = None,
        next_step: str = "",
        written: Written = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.limit = limit
        self.got = got
        self.next_step = next_step
        self.written = written

    def to_dict(self) -> dict[str, object]:
        """The interface's JSON shape: every key always present, so that a client can rely on it."""
        return {
            "error": self.code,
            "field": self.field,
            "limit": self.limit,
            "got": self.got,
            "message": self.message,
            "next_step": self.next_step,
            "retryable": self.retryable,
            "written": self.written,
        }


class InvalidArgument(LodestoreError):
    """An argument, header or setting has a meaning that is not allowed."""

    code = "invalid_argument"


class TooLarge(LodestoreError):
    """A size is over its limit; `limit` and `got` are in the unit that the message names."""

    code = "too_large"


class NotFound(LodestoreError):
    """No such memory is visible to this caller: unknown, forgotten and foreign ids look alike."""

    code = "not_found"


class Forbidden(LodestoreError):
    """The caller is known, and may not do this."""

    code = "forbidden"


class Conflict(LodestoreError):
    """The memory is not what the caller took it for. `current_version` is None where it is not theirs to know."""

    code = "conflict"

    def __init__(
        self,
        message: str,
        *,
        memory_id: str,
        current_version: int | None,
        field: str | None = None,
        got: str | int | float | None = None,
        next_step: str = "",
        written: Written = False,
    ) -> None:
        super().__init__(message, field=field, got=got, next_step=next_step, written=written)
        self.memory_id = memory_id
        self.current_version = current_version

    def to_dict(self) -> dict[str, object]:
        return super().to_dict() | {"id": self.memory_id, "current_version": self.current_version}


class Unavailable(LodestoreError):
    """The store or a service behind it gave no answer. Every such request is safe to repeat."""

    code = "unavailable"
    retryable = True

    def __init__(
        self,
        message: str,
        *,
        written: Written = False,
        memory_id: str | None = None,
        next_step: str = "Repeat the same call; it is safe to repeat.",
    ) -> None:
        super().__init__(message, next_step=next_step, written=written)
        self.memory_id = memory_id

    def to_dict(self) -> dict[str, object]:
        shown = super().to_dict()
        return shown | {"id": self.memory_id} if self.memory_id is not None else shown


class NotConfirmed(Unavailable):
    """It is stored, or kept in memory and goes with the next write; a repeat would count twice."""

    retryable = False


class Unauthenticated(LodestoreError):
    """No credential, or one that is not known (HTTP 401; never the answer of a tool)."""

    code = "unauthenticated"


class SettingsError(Exception):
    """A setting is unknown, contradictory or missing; the text names it and what is allowed."""
