"""What a process does, one step after the other: a tool call, or a piece of upkeep.

Owns: `Step` and its answer as data. Guarantees: whatever the step comes to is an answer; an exception that no
caller may ever see is one too, and says so. Gives up: the transport.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lodestore.bootstrap import Lodestore
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from lodestore.services.merge_plan import SMALL_ROWS
from lodestore.services.upkeep import FAILURES

TENANT = "acme"
CALLER = Caller(TENANT, None, Role.ADMIN)
READS = frozenset({"recall", "list_memories", "get_memory"})
INDEX, MERGE, REBUILD, COLLECT = "index", "merge", "rebuild", "collect"
UPKEEP = frozenset({INDEX, MERGE, REBUILD, COLLECT})


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The tool's answer, or the error's JSON, as compact JSON: a value that can be compared."""

    step: Step
    text: str

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.text)
        return value

    @property
    def failed(self) -> bool:
        return "error" in self.json

    @property
    def raised(self) -> str:
        """What the code under test raised that no caller may ever see; "" for nothing."""
        return str(self.json.get("raised", ""))


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `tool` is a tool's name, or one of UPKEEP; `index` takes the ids that events name.

    waits   the step begins when the scheduler says so, and not with the step before
    """

    tool: str
    arguments: tuple[tuple[str, object], ...] = ()
    waits: bool = False

    @property
    def reads(self) -> bool:
        return self.tool in READS

    @property
    def keeps_up(self) -> bool:
        """Whether it works on what is derived, and no caller waits for it."""
        return self.tool in UPKEEP

    def argument(self, name: str) -> object:
        return dict(self.arguments).get(name)

    def run(self, lodestore: Lodestore) -> StepAnswer:
        return StepAnswer(self, json.dumps(self._answer(lodestore), sort_keys=True, default=str))

    def _answer(self, lodestore: Lodestore) -> Mapping[str, object]:
        arguments = _listed(dict(self.arguments))
        try:
            if not self.keeps_up:
                return lodestore.toolbox.call(CALLER, self.tool, arguments)
            return {"did": repr(_kept_up(lodestore, self.tool, arguments))}
        except LodestoreError as error:
            return error.to_dict()
        except FAILURES as error:
            return {"error": type(error).__name__}
        except Exception as error:  # noqa: BLE001 -- a defect, to be told with the schedule that leads to it
            return {"error": "internal", "raised": repr(error)}


def _kept_up(lodestore: Lodestore, what: str, arguments: Mapping[str, object]) -> object:
    if what == INDEX:
        named = arguments.get("named", [])
        assert isinstance(named, list)
        return lodestore.indexing.run(TENANT, named)
    if what == MERGE:
        return lodestore.merging.step(TENANT, SMALL_ROWS)
    return lodestore.rebuilding.run(TENANT) if what == REBUILD else lodestore.collection.run(TENANT)


def _listed(arguments: Mapping[str, object]) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in arguments.items()}


def call(tool: str, **arguments: object) -> Step:
    """A tool call."""
    return Step(tool, tuple(arguments.items()))


def index(*named: str) -> Step:
    """A run of the indexer; `named` are the ids that its events name."""
    return Step(INDEX, (("named", named),))


def upkeep(what: str) -> Step:
    """A merge of what is small, a rebuild, or a collection."""
    return Step(what)


def late(step: Step) -> Step:
    """The step, begun at a moment of the scheduler's choice."""
    return replace(step, waits=True)
