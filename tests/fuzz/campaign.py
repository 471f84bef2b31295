"""A campaign: kinds of inputs in turn, drawn by a seed, until the time is over or the inputs are used up.

Owns: `Campaign`, `KINDS`. Guarantees: the same seed draws the same inputs in the same order; of the inputs that found
one thing the smallest is kept, which hypothesis makes smaller while the fault stays; a hang is not tried again.
Gives up: the same number of inputs in the same time.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from tests.fuzz.arguments import calls
from tests.fuzz.events import events, message_events, tool_events
from tests.fuzz.judging import HANG, Finding, judge
from tests.fuzz.messages import body_texts, messages, tool_messages
from tests.fuzz.raw_requests import raw_requests
from tests.fuzz.targets import Target
from tests.fuzz.values import weighted

Json = dict[str, Any]
Going = Callable[[], bool]

BATCH = 150
FINDINGS_MOST = 20


class _Found(Exception):
    """An input found something new."""


class _Over(BaseException):
    """The time is over, or one hung; hypothesis lets what is no Exception pass."""


@dataclass(slots=True)
class Discovery:
    """One thing that was found, with the smallest input so far."""

    kind: str
    finding: Finding
    sent: Json

    @property
    def record(self) -> Json:
        """What a replay needs, and what a person reads."""
        return {"kind": self.kind, "found": self.finding.kind, "why": self.finding.why, **self.sent}


@dataclass(slots=True)
class Tally:
    """Inputs by kind, answers by code, and what was found by its signature."""

    inputs: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    found: dict[str, Discovery] = field(default_factory=dict)

    def of(self, *kinds: str) -> int:
        """How many different things of these kinds were found."""
        return sum(discovery.finding.kind in kinds for discovery in self.found.values())


def strategies(tools: list[Json]) -> Mapping[str, SearchStrategy[Json]]:
    """The kinds of inputs: each gives `{"event": …}` for a handler or `{"bytes": …}` for a server."""
    called = tool_messages(calls(tools))
    bodies = body_texts(weighted((2, called), (1, messages())))
    return {
        "tool arguments": tool_events(called).map(_event),
        "message": message_events(body_texts(messages())).map(_event),
        "function-URL event": events(bodies).map(_event),
        "raw HTTP": raw_requests(bodies),
    }


def _event(event: Json) -> Json:
    return {"event": event}


class Campaign:
    """Sends inputs and keeps the tally."""

    def __init__(self, first_seed: int, going: Going) -> None:
        self.tally = Tally()
        self._seed = first_seed
        self._going = going
        self._rounds: Counter[str] = Counter()

    def batch(self, kind: str, strategy: SearchStrategy[Json], target: Target, most: int = BATCH) -> bool:
        """The next inputs of a kind; False once the time is over."""
        self._rounds[kind] += 1
        drawn = int.from_bytes(f"{self._seed} {kind} {self._rounds[kind]}".encode()[-16:], "big")

        @seed(drawn)
        @settings(
            max_examples=most,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def one(sent: Json) -> None:
            if not self._going():
                raise _Over
            self._try(kind, sent, target)

        self._signature = ""
        try:
            one()
        except (_Found, Flaky):
            pass
        except _Over:
            return self._going()
        return self._going() and len(self.tally.found) < FINDINGS_MOST

    def _try(self, kind: str, sent: Json, target: Target) -> None:
        answered = target.send(sent)
        self.tally.inputs[kind] += 1
        self.tally.codes[answered.code] += 1
        finding = judge(answered)
        if finding is None:
            return
        signature = f"{kind}: {finding.kind}: {re.sub(r'[0-9]+', '0', finding.why)[:60]}"
        known = self.tally.found.get(signature)
        if known is None or _size(sent) < _size(known.sent):
            self.tally.found[signature] = Discovery(kind, finding, sent)
        if known is None or signature == self._signature:
            # From now on this batch makes this one smaller; others that are known are counted, not raised.
            self._signature = signature
            raise _Over if finding.kind == HANG else _Found


def _size(sent: Json) -> int:
    return len(json.dumps(sent))
