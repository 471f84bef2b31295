"""The services and the model, given the same random calls: every answer is the same.

Several tenants, conversations and processes; the indexer, maintenance and rebuilds run, processes start anew and time
passes at random moments. Hypothesis draws a number for each step, by which the step is chosen, and leaves out steps to
find the fewest that fail. The short run of `make test` is the same every time; `make chaos` makes long ones by seed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.proof.drawing import BAD_CALLS, CALLERS, STEPS_OF_TIME, TENANTS, Draw
from tests.proof.model import Json
from tests.proof.side_by_side import PROCESSES, SideBySide

IN_MEMORY = Path("/dev/shm")
ANY_SEED = st.integers(0, 2**32 - 1)
SHORT = settings(
    max_examples=60,
    stateful_step_count=50,
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


class ServiceAndModel(RuleBasedStateMachine):
    """One step after the other, each chosen by the number that hypothesis draws for it."""

    reached: ClassVar[Counter[tuple[str, str]]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        place = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
        self.folder = TemporaryDirectory(dir=place, prefix="lodestore-model-")
        self.steps: list[Callable[[Draw], None]] = []

    @initialize(number=ANY_SEED)
    def begin(self, number: int) -> None:
        draw = Draw(Random(number))
        self.both = SideBySide(Path(self.folder.name), number, note)
        kinds = {
            self._remember: 6,
            self._retry: 4,
            self._update: 4,
            self._forget: 2,
            self._feedback: 1,
            self._get: 2,
            self._list: 2,
            self._recall: 5,
            self._context: 1,
            self._stats: 1,
            self._refused: 1,
            self._time_passes: 2,
            self._index: 2,
            self._maintain: 1,
            self._rebuild: 1,
            self._restart: 1,
        }
        # Some runs do little of one thing and much of another, and get further in it.
        for kind, weight in kinds.items():
            self.steps += [kind] * (weight * draw.one_of((1, 1, 1, 4)) if not draw.maybe(0.1) else 0)
        self.steps += [self._remember] * 3

    @rule(number=ANY_SEED)
    def step(self, number: int) -> None:
        draw = Draw(Random(number))
        draw.one_of(self.steps)(draw)

    def teardown(self) -> None:
        if not hasattr(self, "both"):
            return
        try:
            if sys.exc_info()[0] is None:
                self.both.everything()
                for tenant in TENANTS:
                    self.both.index(tenant, [])
                self.both.everything()
        finally:
            type(self).reached.update(self.both.reached)
            self.both.close()
            self.folder.cleanup()

    def _remember(self, draw: Draw) -> None:
        who = draw.one_of(CALLERS)
        self.both.remember(_process(draw), who, draw.statement(who, self.both.known(who)))

    def _retry(self, draw: Draw) -> None:
        # Those at a place of their own are answered in more ways than others.
        placed = [(who, given) for who, given in self.both.said if {"id", "idempotency_key"} & set(given)]
        said = placed if placed and draw.maybe(0.7) else self.both.said
        if said:
            self.both.remember(_process(draw), *draw.one_of(said))

    def _update(self, draw: Draw) -> None:
        who = draw.one_of(CALLERS)
        known = self.both.known(who)
        memory_id = draw.one_of(known)
        versions = [memory.version for memory in self.both.model.visible(who) if memory.id == memory_id]
        given = draw.change(memory_id, known, versions[0] if versions else 1)
        self.both.update(_process(draw), who, given)

    def _forget(self, draw: Draw) -> None:
        who = draw.one_of(CALLERS)
        self.both.forget(_process(draw), who, draw.one_of(self.both.known(who)))

    def _feedback(self, draw: Draw) -> None:
        who = draw.one_of(CALLERS)
        self.both.feedback(_process(draw), who, draw.one_of(self.both.known(who)), draw.maybe(0.5))

    def _get(self, draw: Draw) -> None:
        who = draw.one_of(CALLERS)
        self.both.get(_process(draw), who, draw.one_of(self.both.known(who)))

    def _list(self, draw: Draw) -> None:
        given: Json = {**draw.filters(0.15), "limit": draw.one_of((1, 2, 3, 100))}
        if draw.maybe(0.6):
            given["status"] = draw.one_of(("active", "superseded", "expired", "all"))
        if draw.maybe(0.6):
            given["sort"] = draw.one_of(("newest", "important"))
        self.both.list_all(_process(draw), draw.one_of(CALLERS), given)

    def _recall(self, draw: Draw) -> None:
        words = draw.words()
        self.both.recall(_process(draw), draw.one_of(CALLERS), draw.question(words), words)

    def _context(self, draw: Draw) -> None:
        given: Json = {"max_tokens": 8_000}
        if draw.maybe(0.5):
            given["query"] = " ".join(draw.words())
        if draw.maybe(0.3):
            given["types"] = draw.one_of((["fact"], ["instruction", "event"]))
        self.both.context(_process(draw), draw.one_of(CALLERS), given)

    def _stats(self, draw: Draw) -> None:
        self.both.stats(_process(draw), draw.one_of(CALLERS))

    def _refused(self, draw: Draw) -> None:
        self.both.refused(_process(draw), draw.one_of(CALLERS), *draw.one_of(BAD_CALLS))

    def _time_passes(self, draw: Draw) -> None:
        self.both.time_passes(draw.one_of(STEPS_OF_TIME))

    def _index(self, draw: Draw) -> None:
        known = self.both.known(draw.one_of(CALLERS))
        self.both.index(
            draw.one_of(TENANTS), draw.chance.sample(known, draw.chance.randint(0, min(2, len(known))))
        )

    def _maintain(self, draw: Draw) -> None:
        self.both.maintain(draw.one_of(TENANTS))

    def _rebuild(self, draw: Draw) -> None:
        self.both.rebuild(draw.one_of(TENANTS), lost=draw.maybe(0.5))

    def _restart(self, draw: Draw) -> None:
        self.both.restart(_process(draw), cleanly=draw.maybe(0.5))


def _process(draw: Draw) -> int:
    return draw.chance.randrange(PROCESSES)


# What a run must have come across, or it proved nothing.
REACHED = [
    ("remember", "stored"),
    ("remember", "already_known"),
    ("remember", "updated"),
    ("remember", "forgotten"),
    ("remember", "changed since"),
    ("remember", "hint"),
    ("remember", "conflict id"),
    ("remember", "conflict idempotency_key"),
    ("remember", "invalid_argument supersedes"),
    ("remember", "invalid_argument scope"),
    ("update_memory", "True"),
    ("update_memory", "False"),
    ("update_memory", "not_found id"),
    ("update_memory", "conflict expected_version"),
    ("update_memory", "invalid_argument supersedes"),
    ("forget", "forgotten"),
    ("forget", "not_found"),
    ("memory_feedback", "True"),
    ("memory_feedback", "not_found id"),
    ("recall", "0 hits"),
    ("recall", "1 hits"),
    ("recall", "2 hits"),
    ("recall", "2 hits similar"),
    ("index", ""),
    ("maintain", ""),
    ("rebuild", ""),
    ("restart", ""),
]


def run_model(profile: settings, number: int | None = None) -> Counter[tuple[str, str]]:
    """Run the machine, by a seed or always alike; what was reached, by tool and outcome."""
    ServiceAndModel.reached = Counter()
    machine = ServiceAndModel if number is None else seed(number)(ServiceAndModel)
    run_state_machine_as_test(machine, settings=profile)
    return ServiceAndModel.reached


@pytest.mark.case("B09", "B21", "B24", "B37", "B46", "B50", "B72")
@pytest.mark.promise("P-READ-YOUR-WRITES", "P-FORGOTTEN", "P-TENANT", "P-IDEMPOTENT", "P-TRUTH")
def test_every_answer_of_the_service_is_the_models() -> None:
    reached = run_model(SHORT)
    assert [outcome for outcome in REACHED if not reached[outcome]] == []
