"""One process of ours in a storm: its own view of the stores, its own clock, and the death that ends it.

Owns: `Process`, `SkewedClock`. Guarantees: after a crash no request of it reaches either store, but for those that were
under way side by side; what a call raises beside the interface's errors is an answer of the error `raised`, which no
caller may ever see. Gives up: restarting; a dead process is replaced by another.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime, timedelta

from indexer.handler import Indexer
from indexer.journal import Journal
from lodestore.bootstrap import assemble
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from lodestore.ports.object_store import ObjectStore
from lodestore.services.upkeep import FAILURES
from lodestore.settings import parse_settings
from tests.faults.hostile_store import Action, Crash, Fault, FaultyStore, Request
from tests.proof.model import Json, Who
from tests.proof.one_thread import one_thread
from tests.services.world import CountingMeter, FakeClock, SeededEntropy

Decide = Callable[["Process", FaultyStore, Request], Fault | Action | None]


class SkewedClock:
    """A machine's clock that is early or late."""

    def __init__(self, clock: FakeClock, offset: timedelta) -> None:
        self._clock = clock
        self._offset = offset

    def now(self) -> datetime:
        return self._clock.now() + self._offset

    def elapsed(self) -> float:
        return self._clock.elapsed()

    def pause(self, seconds: float) -> None:
        self._clock.pause(seconds)


class Process:
    """The services over both stores, each request of which `decide` may spoil."""

    def __init__(
        self,
        name: str,
        state: ObjectStore,
        index: ObjectStore,
        clock: SkewedClock,
        decide: Decide,
        seed: int,
    ) -> None:
        self.name = name
        self.busy = False
        self.dead = False
        self._decide = decide
        self.state = FaultyStore(state, lambda request: self._met(self.state, request))
        self.index = FaultyStore(index, lambda request: self._met(self.index, request))
        with one_thread(seed):
            self.services = assemble(
                parse_settings({}),
                self.state,
                self.index,
                clock=clock,
                entropy=SeededEntropy(seed),
                meter=CountingMeter(),
            )
        self._indexer = Indexer(self.services, Journal(clock=clock, log=io.StringIO(), metrics=None))

    def call(self, who: Who, tool: str, given: Json) -> Json | None:
        """The tool's answer or error; None where the process died over it."""
        caller = Caller(who.tenant, who.conversation, Role.WRITER)

        def work() -> Json:
            try:
                answer: Json = self.services.toolbox.call(caller, tool, given)
            except LodestoreError as error:
                return error.to_dict()
            return answer

        return self._alive(work)

    def keep_up(self, work: Callable[[], object]) -> Json | None:
        """A step of the indexer or of maintenance, which may fail and be made again."""

        def step() -> Json:
            try:
                work()
            except FAILURES:
                return {"failed": True}
            return {}

        return self._alive(step)

    def handle(self, event: Json) -> Json:
        """The indexer's answer to a batch of its queue."""
        answer: Json = self._indexer(event)
        return answer

    def land_late(self) -> None:
        """Writes that it got no answer to take effect, dead or not."""
        self.state.land_late()
        self.index.land_late()

    def _alive(self, work: Callable[[], Json]) -> Json | None:
        self.busy = True
        try:
            return work()
        except Crash:
            self.dead = True
            return None
        # Whatever it is, a caller would have seen it.
        except Exception as failure:  # noqa: BLE001
            return {"error": "raised", "field": None, "written": "unknown", "message": repr(failure)}
        finally:
            self.busy = False

    def _met(self, store: FaultyStore, request: Request) -> Fault | Action | None:
        return Fault.CRASH_BEFORE if self.dead else self._decide(self, store, request)
