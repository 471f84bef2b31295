"""The tool `maintain`: an admin's own sleep of the tenant, whole or by step.

Owns: its arguments. Guarantees: an unknown step is refused by name before anything runs; bounded in time.
Gives up: other tenants; each is maintained from within.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.errors import InvalidArgument
from lodestore.format.reports import report_fields
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.sleeping import Sleeping
from lodestore.services.upkeep_steps import EVERYTHING, STEPS

ARGUMENTS = ("steps", "dry_run")
# A function's URL answers within 15 minutes; a caller waits for less.
SECONDS = 60.0


class Maintain:
    """The tool `maintain`."""

    def __init__(self, sleeping: Sleeping, clock: Clock) -> None:
        self._sleeping = sleeping
        self._clock = clock

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """The report. Raises InvalidArgument."""
        arguments = Arguments("maintain", given, ARGUMENTS)
        steps = arguments.texts("steps", most=len(STEPS), most_bytes=limits.TAG_BYTES)
        dry_run = bool(arguments.flag("dry_run"))
        chosen = read_steps(steps or ())
        begun = self._clock.elapsed()
        slept = self._sleeping.run(
            caller.tenant,
            chosen,
            dry_run=dry_run,
            going=lambda: self._clock.elapsed() - begun < SECONDS,
        )
        return report_fields(slept.report)


def read_steps(names: tuple[str, ...]) -> frozenset[str]:
    """The steps of these names; all where none is named. Raises InvalidArgument."""
    for name in names:
        if name not in STEPS:
            raise InvalidArgument(
                f"steps: {name!r} is no step.", field="steps", limit=" | ".join(STEPS), got=name
            )
    return frozenset(names) or EVERYTHING
