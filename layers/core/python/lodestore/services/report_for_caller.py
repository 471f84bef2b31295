"""A report of a sleep as one caller may read it.

Owns: which actions a tool's answer names. Guarantees: no id of another conversation's scoped note, be it the action's
own or one in its reason (P-TENANT); what is not named is counted in `actions_left`, and the counts of each step stay.
Gives up: naming what the index shows to nobody: what is forgotten, withdrawn, or was put there by hand. The stored
report, for whoever runs the store, has all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from lodestore.domain.caller import Caller
from lodestore.domain.identity import MEMORY_ID_PATTERN
from lodestore.domain.sleep_report import Action, SleepReport, StepReport
from lodestore.services import columns
from lodestore.services.tenant_view import TenantView

_ID: Final = re.compile(MEMORY_ID_PATTERN, re.ASCII)
# Their own id is that of a segment, of a proposal, or of a memory that is still to be made.
_OF_NO_MEMORY: Final = ("renew", "lapse", "merge", "propose")


def for_caller(report: SleepReport, view: TenantView, caller: Caller) -> SleepReport:
    """The report with those actions that name only what the caller sees in `view`, which is from before the sleep."""
    named = {name for step in report.steps for action in step.actions for name in _names(action)}
    visible = columns.visible(view, caller)
    seen = columns.ids_among(view, visible, named)
    others = columns.ids_among(view, columns.but(columns.memories(view), visible), named)
    return replace(report, steps=tuple(_shown(step, seen, others) for step in report.steps))


def _shown(step: StepReport, seen: frozenset[str], others: frozenset[str]) -> StepReport:
    actions = tuple(
        action
        for action in step.actions
        if (action.id in seen or action.what.startswith(_OF_NO_MEMORY)) and others.isdisjoint(_names(action))
    )
    return replace(step, actions=actions, actions_left=step.actions_left + len(step.actions) - len(actions))


def _names(action: Action) -> Iterable[str]:
    """The action's id, and whatever in its reason has the form of one."""
    return (action.id, *_ID.findall(action.why))
