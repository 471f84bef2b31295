"""The tool `maintain`: an admin's own sleep of the tenant, whole or by step.

Owns: its arguments. Guarantees: an unknown step is refused by name before anything runs; bounded in time. Where there
is a queue of maintenance (a deployment), a sleep that changes something is handed to it, because the function that
answers callers may not do what maintenance may; a dry run only reads, and is answered at once. An answer names only
what its caller may see (P-TENANT).
Gives up: other tenants; each is maintained from within.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.upkeep_task import UpkeepTask
from lodestore.errors import InvalidArgument, Unavailable
from lodestore.format.reports import report_fields
from lodestore.format.upkeep_tasks import encode_task
from lodestore.ports.clock import Clock
from lodestore.ports.task_queue import TaskQueue
from lodestore.services.arguments import Arguments
from lodestore.services.deadlines import going_for
from lodestore.services.report_for_caller import for_caller
from lodestore.services.sleeping import Sleeping
from lodestore.services.tenant_view import TenantViews
from lodestore.services.upkeep_steps import EVERYTHING, STEPS

ARGUMENTS = ("steps", "dry_run")
# A function's URL answers within 15 minutes; a caller waits for less.
SECONDS = 60.0


class Maintain:
    """The tool `maintain`. `queue`: None where this process does the work itself."""

    def __init__(
        self, sleeping: Sleeping, views: TenantViews, clock: Clock, queue: TaskQueue | None = None
    ) -> None:
        self._sleeping = sleeping
        self._views = views
        self._clock = clock
        self._queue = queue

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """The report; of a sleep that was handed over, which steps will run. Raises InvalidArgument, Unavailable."""
        arguments = Arguments("maintain", given, ARGUMENTS)
        steps = arguments.texts("steps", most=len(STEPS), most_bytes=limits.TAG_BYTES)
        dry_run = bool(arguments.flag("dry_run"))
        chosen = read_steps(steps or ())
        if self._queue is not None and not dry_run:
            return _handed_over(self._queue, caller.tenant, chosen)
        before = self._views.load(caller.tenant)
        slept = self._sleeping.run(
            caller.tenant, chosen, dry_run=dry_run, going=going_for(self._clock, SECONDS)
        )
        return report_fields(for_caller(slept.report, before, caller))


def _handed_over(queue: TaskQueue, tenant: str, steps: frozenset[str]) -> dict[str, object]:
    if queue.send([encode_task(UpkeepTask(tenant=tenant, steps=steps))]):
        raise Unavailable("The queue of maintenance gave no answer.", written="unknown")
    return {
        "tenant": tenant,
        "dry_run": False,
        "complete": False,
        "queued": True,
        "steps": [{"step": step, "status": "queued"} for step in STEPS if step in steps],
        "message": "Maintenance does it now; memory_stats shows the backlog, dry_run what is left to do.",
    }


def read_steps(names: tuple[str, ...]) -> frozenset[str]:
    """The steps of these names; all where none is named. Raises InvalidArgument."""
    for name in names:
        if name not in STEPS:
            raise InvalidArgument(
                f"steps: {name!r} is no step.",
                field="steps",
                limit=" | ".join(STEPS),
                got=name,
                next_step="Name steps of the limit, or leave steps out for all of them.",
            )
    return frozenset(names) or EVERYTHING
