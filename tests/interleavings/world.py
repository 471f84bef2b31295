"""The states of a scenario, and what can happen in each.

Owns: `State`, `Choice`, and the step from one to the next. Guarantees: a choice in a state leads to one state, whatever
came before; what a state holds is all that its future and its judgement depend on.
Gives up: the order of the search, which is `explorer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import NamedTuple

from lodestore.format import keys
from lodestore.ports.object_store import Contended, Missing, Unknown, Won
from tests.interleavings.actors import Given, Local
from tests.interleavings.beginning import begin
from tests.interleavings.judging import Judged, Judging
from tests.interleavings.scenario import End, Mishap, Scenario
from tests.interleavings.steps import COLLECT, MERGE, REBUILD, TENANT, StepAnswer
from tests.interleavings.tables import Table
from tests.stores.memory_store import Answer, Contents, Request, answered

_SEGMENTS, _COUNTS = keys.segments_of(TENANT), keys.deltas_of(TENANT)
STORES = ("state", "index")
_MISHAPS_OF_WRITES = tuple(mishap for mishap in Mishap if mishap is not Mishap.DIES)


class State(NamedTuple):
    """A state, by numbers of tables.

    buckets   contents of the state bucket and of the index bucket
    late      writes that no answer came to and that may still land: (bucket, request)
    locals    of each process; below zero: -1 - n, it died in its local state n
    """

    buckets: tuple[int, ...]
    jumps: int
    mishaps: int
    late: tuple[tuple[int, int], ...]
    judged: int
    locals: tuple[int, ...]


class Kind(Enum):
    """What the scheduler does."""

    ANSWER = "answer"
    JUMP = "the store's clock jumps"
    LAND = "a late write lands"


class Choice(NamedTuple):
    """Answer the `at`th waiting request of the process (with a mishap, perhaps), jump, or land the `at`th late one."""

    kind: Kind
    process: int = 0
    at: int = 0
    mishap: Mishap | None = None


@dataclass(frozen=True, slots=True)
class _Move:
    """A request that waits, by numbers. `request` below zero: the process waits for its start."""

    task: str
    bucket: int
    request: int
    private: bool
    writes: bool


class World:
    """One scenario's states."""

    def __init__(self, scenario: Scenario) -> None:
        begun = begin(scenario)
        self.scenario = scenario
        self.actors = begun.actors
        self.times = [
            begun.now + timedelta(seconds=sum(scenario.jumps[:n])) for n in range(len(scenario.jumps) + 1)
        ]
        self.contents = Table[Contents]()
        self.judged = Table[Judged]()
        self.judging = Judging(scenario)
        self._requests = Table[Request]()
        self._answers = Table[Answer]()
        self._moves: dict[tuple[int, int], tuple[_Move, ...]] = {}
        self._applied: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._nexts: dict[tuple[int, int, str, int, int], tuple[int, StepAnswer | None]] = {}
        buckets = (self.contents.number(begun.state), self.contents.number(begun.index))
        judged = self.judged.number(self.judging.first(begun.state))
        self.first = State(buckets, 0, scenario.most if scenario.mishaps else 0, (), judged, begun.locals)

    def close(self) -> None:
        """End all live processes."""
        for actor in self.actors:
            actor.close()

    def is_end(self, state: State) -> bool:
        """Whether no process has anything left to do."""
        return not any(local >= 0 and self._moves_of(at, local) for at, local in enumerate(state.locals))

    def end(self, state: State) -> End:
        """What an end came to."""
        answers = {
            actor.program.name: actor.locals[local if local >= 0 else -1 - local].told
            for actor, local in zip(self.actors, state.locals, strict=True)
        }
        return End(answers, self.judging.records(self.contents[state.buckets[0]]))

    def choices(self, state: State) -> list[Choice]:
        """All that can happen."""
        waiting = [
            (process, at, move)
            for process, local in enumerate(state.locals)
            if local >= 0
            for at, move in enumerate(self._moves_of(process, local))
        ]
        for process, at, move in waiting:
            if move.private:
                return [Choice(Kind.ANSWER, process, at)]
        choices = [Choice(Kind.ANSWER, process, at) for process, at, _ in waiting]
        if state.mishaps:
            for process, at, move in waiting:
                choices += [
                    Choice(Kind.ANSWER, process, at, mishap) for mishap in self._mishaps(process, move)
                ]
            choices += self._deaths(state)
        if waiting and state.jumps < len(self.scenario.jumps):
            choices.append(Choice(Kind.JUMP))
        choices += [Choice(Kind.LAND, at=at) for at in range(len(state.late))]
        return choices

    def after(self, state: State, choice: Choice) -> State:
        """The state that the choice leads to. Raises Violation."""
        if choice.kind is Kind.JUMP:
            return state._replace(jumps=state.jumps + 1)
        if choice.kind is Kind.LAND:
            bucket, request = state.late[choice.at]
            _, landed = self._effect(state, bucket, request)
            return landed._replace(late=(*state.late[: choice.at], *state.late[choice.at + 1 :]))
        if choice.mishap is Mishap.DIES:
            dead = _with(state.locals, choice.process, -1 - state.locals[choice.process])
            return state._replace(locals=dead, mishaps=state.mishaps - 1)
        return self._answered(state, choice)

    def given(self, state: State, choice: Choice) -> Given:
        """The answer that the choice gives to a process."""
        move = self._moves_of(choice.process, state.locals[choice.process])[choice.at]
        answer, _ = self._met(state, move, choice.mishap)
        return Given(move.task, self._answers[answer], self.times[state.jumps])

    def told(self, state: State, choice: Choice) -> str:
        """The choice in words."""
        if choice.kind is not Kind.ANSWER:
            return str(choice.kind.value)
        actor = self.actors[choice.process]
        if choice.mishap is Mishap.DIES:
            return f"{actor.program.name} dies"
        move = self._moves_of(choice.process, state.locals[choice.process])[choice.at]
        if move.request < 0:
            return f"{actor.program.name} starts"
        request = self._requests[move.request]
        what = f"{actor.program.name}: {request.operation} {request.key}"
        if choice.mishap is not None:
            return f"{what} -> {choice.mishap.value}"
        answer, _ = self._apply(state, move.bucket, move.request)
        return f"{what} -> {type(self._answers[answer]).__name__}"

    def _answered(self, state: State, choice: Choice) -> State:
        process, actor = choice.process, self.actors[choice.process]
        number = state.locals[process]
        move = self._moves_of(process, number)[choice.at]
        before = actor.locals[number]
        following = state
        if before.fresh and move.request >= 0 and actor.program.steps[before.step].reads:
            judged = self.judging.began(self.judged[state.judged], process)
            following = following._replace(judged=self.judged.number(judged))
        answer, following = self._met(following, move, choice.mishap)
        after, told = self._next(process, number, move.task, answer, state.jumps)
        if told is not None:
            given = Given(move.task, self._answers[answer], self.times[state.jumps])
            judged = self.judging.ended(self.judged[following.judged], process, before, given, told)
            following = following._replace(judged=self.judged.number(judged))
        return following._replace(locals=_with(state.locals, process, after))

    def _met(self, state: State, move: _Move, mishap: Mishap | None) -> tuple[int, State]:
        """The number of the answer, and the state after the effect."""
        if move.request < 0:
            return self._answers.number(None), state
        if mishap is None:
            return self._effect(state, move.bucket, move.request)
        following = state._replace(mishaps=state.mishaps - 1)
        if mishap is Mishap.CONTENDED:
            return self._answers.number(Contended()), following
        if mishap is Mishap.UNKNOWN_LATE:
            following = following._replace(late=tuple(sorted((*state.late, (move.bucket, move.request)))))
        if mishap is Mishap.UNKNOWN_AFTER:
            _, following = self._effect(following, move.bucket, move.request)
        return self._answers.number(Unknown("no answer")), following

    def _effect(self, state: State, bucket: int, request: int) -> tuple[int, State]:
        answer, contents = self._apply(state, bucket, request)
        before = state.buckets[bucket]
        if contents == before:
            return answer, state
        following = state._replace(buckets=_with(state.buckets, bucket, contents))
        if STORES[bucket] == "state":
            judged = self.judging.commit(
                self.judged[state.judged],
                self.contents[before],
                self.contents[contents],
                self._requests[request],
            )
            following = following._replace(judged=self.judged.number(judged))
        return answer, following

    def _apply(self, state: State, bucket: int, request: int) -> tuple[int, int]:
        key = (state.buckets[bucket], request, state.jumps)
        known = self._applied.get(key)
        if known is None:
            answer, contents = answered(
                self.contents[key[0]], self._requests[request], self.times[state.jumps]
            )
            if not self.scenario.does(COLLECT):
                _check_private(self._requests[request], answer)
            known = self._applied[key] = (self._answers.number(answer), self.contents.number(contents))
        return known

    def _next(
        self, process: int, local: int, task: str, answer: int, jumps: int
    ) -> tuple[int, StepAnswer | None]:
        key = (process, local, task, answer, jumps)
        known = self._nexts.get(key)
        if known is None:
            given = Given(task, self._answers[answer], self.times[jumps])
            known = self._nexts[key] = self.actors[process].next(local, given)
        return known

    def _moves_of(self, process: int, local: int) -> tuple[_Move, ...]:
        known = self._moves.get((process, local))
        if known is None:
            known = tuple(self._moves_in(process, self.actors[process].locals[local]))
            self._moves[process, local] = known
        return known

    def _moves_in(self, process: int, local: Local) -> Iterator[_Move]:
        for waiting in local.outstanding:
            request = waiting.request
            if request is None:
                yield _Move(waiting.task, 0, -1, private=False, writes=False)
                continue
            yield _Move(
                waiting.task,
                STORES.index(waiting.store),
                self._requests.number(request),
                private=self._is_private(process, request),
                writes=request.operation in ("create", "replace"),
            )

    def _is_private(self, process: int, request: Request) -> bool:
        """Whether it makes no difference to anyone when it is answered (`explorer`)."""
        if request.key.startswith(_COUNTS):
            return request.operation == "create"
        if not request.key.startswith(_SEGMENTS) or self.scenario.does(COLLECT):
            return False
        # A merge and a rebuild look at the time at which their segment was written.
        timeless = not self.scenario.jumps or not self.actors[process].program.does(MERGE, REBUILD)
        return request.operation == "get" or (request.operation == "create" and timeless)

    def _mishaps(self, process: int, move: _Move) -> list[Mishap]:
        if not move.writes or self.actors[process].program.name not in self.scenario.to:
            return []
        return [mishap for mishap in _MISHAPS_OF_WRITES if mishap in self.scenario.mishaps]

    def _deaths(self, state: State) -> list[Choice]:
        if Mishap.DIES not in self.scenario.mishaps:
            return []
        return [
            Choice(Kind.ANSWER, process, mishap=Mishap.DIES)
            for process, local in enumerate(state.locals)
            if local >= 0 and self.actors[process].program.name in self.scenario.to
            if not self.actors[process].locals[local].fresh and self._moves_of(process, local)
        ]


def _with(numbers: tuple[int, ...], at: int, number: int) -> tuple[int, ...]:
    return (*numbers[:at], number, *numbers[at + 1 :])


def _check_private(request: Request, answer: Answer) -> None:
    """What makes the order of a private request indifferent: it is written once, and there whenever it is read."""
    if request.operation in ("get", "create") and request.key.startswith((_SEGMENTS, _COUNTS)):
        assert not isinstance(answer, Missing), f"{request.key} was read before it was written"
        assert request.operation == "get" or isinstance(answer, Won), f"{request.key} was written twice"
