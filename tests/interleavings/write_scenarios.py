"""Writes beside writes: every kind of write of design section 3 meets every other, an indexer and a reader.

Owns: `WRITES`. Guarantees: what `explorer` holds of each. Gives up: more than four processes at once.
"""

from __future__ import annotations

from tests.interleavings.actors import Program
from tests.interleavings.scenario import Before, End, Scenario
from tests.interleavings.staging import (
    BERGEN,
    INDEXED,
    KEYED,
    MOVED,
    OFFICE,
    OSLO,
    OTHERS,
    RECALL,
    REMEMBER,
    STORE_OFFICE,
    TWO_SEGMENTS,
)
from tests.interleavings.steps import call, index
from tests.interleavings.truths import is_stub


def _one_stored(end: End) -> list[str]:
    told = sorted(end.answers[name][-1].json["status"] for name in ("first", "second"))
    return [] if told == ["already_known", "stored"] else [f"two processes stored one statement: {told}"]


def _both_updates(end: End) -> list[str]:
    record = end.records["office"]
    lost = [] if record["tags"] == ["seen"] else ["the tags"]
    lost += [] if record["importance"] == 0.9 else ["the importance"]
    return [f"lost update: {', '.join(lost)}"] if lost else []


def _forgotten(end: End) -> list[str]:
    return [] if is_stub(end.records["office"]) else ["a forgotten memory is back"]


def _superseded(end: End) -> list[str]:
    return (
        []
        if end.records["office"]["superseded_by"] == [MOVED]
        else ["the note on the superseded one is lost"]
    )


def _no_cycle(end: End) -> list[str]:
    office, lunch = end.records["office"], end.records["lunch"]
    both = office["supersedes"] == ["lunch"] and lunch["supersedes"] == ["office"]
    return ["two memories supersede each other, and neither is found"] if both else []


WRITES = (
    Scenario(
        name="one-statement-twice",
        says="two processes remember the same; an indexer runs; a reader starts at any moment",
        ids=(OFFICE, "lunch"),
        beginning=OTHERS,
        programs=(
            Program("first", (REMEMBER,)),
            Program("second", (REMEMBER,), clock=-7),
            Program("indexer", (index(),), clock=4),
            Program("reader", (RECALL,)),
        ),
        judge=_one_stored,
        quick=True,
    ),
    Scenario(
        name="update-beside-forget",
        says="one updates while another forgets; the reader holds the manifest of before",
        ids=("office",),
        beginning=(*INDEXED, Before(RECALL, by="reader")),
        programs=(
            Program("updater", (call("update_memory", id="office", content=BERGEN),), clock=-5),
            Program("forgetter", (call("forget", id="office"),), clock=5),
            Program("indexer", (index(),)),
            Program("reader", (RECALL,)),
        ),
        may_fail=True,
        judge=_forgotten,
    ),
    Scenario(
        name="two-updates",
        says="two processes update different fields; an indexer runs; a reader starts at any moment",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("tagger", (call("update_memory", id="office", tags=("seen",)),), clock=-30),
            Program("weigher", (call("update_memory", id="office", importance=0.9),), clock=30),
            Program("indexer", (index(),)),
            Program("reader", (RECALL,)),
        ),
        judge=_both_updates,
    ),
    Scenario(
        name="forget-and-relearn",
        says="one forgets, another says it again; an indexer runs; a reader starts at any moment",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("forgetter", (call("forget", id="office"),), clock=9),
            Program("learner", (STORE_OFFICE,), clock=-9),
            Program("indexer", (index(),)),
            Program("reader", (RECALL,)),
        ),
        quick=True,
    ),
    Scenario(
        name="supersede-beside-update",
        says="one supersedes what another updates; an indexer runs; a reader starts at any moment",
        ids=("office", MOVED),
        beginning=INDEXED,
        programs=(
            Program("mover", (call("remember", content=BERGEN, id=MOVED, supersedes=("office",)),), clock=-4),
            Program("updater", (call("update_memory", id="office", importance=0.9),), clock=4),
            Program("indexer", (index(),)),
            Program("reader", (RECALL,)),
        ),
        judge=_superseded,
    ),
    Scenario(
        name="successor-forgotten",
        says="a successor comes and is forgotten again: what it replaced stays replaced",
        ids=("office", MOVED),
        beginning=INDEXED,
        programs=(
            Program(
                "mover",
                (
                    call("remember", content=BERGEN, id=MOVED, supersedes=("office",)),
                    call("forget", id=MOVED),
                ),
            ),
            Program("indexer", (index(),)),
            Program("reader", (RECALL,)),
        ),
        judge=_superseded,
        quick=True,
    ),
    Scenario(
        name="forgotten-twice",
        says="one forgets; another forgets, says it again and forgets again; tombstones are copied meanwhile",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("forgetter", (call("forget", id="office"),), clock=6),
            Program(
                "undecided",
                (call("forget", id="office"), STORE_OFFICE, call("forget", id="office")),
                clock=-6,
            ),
            Program("reader", (RECALL,)),
        ),
        judge=_forgotten,
    ),
    Scenario(
        name="retry-by-key",
        says="a remember with an idempotency key is sent twice, while another forgets what it stored",
        ids=(KEYED, "lunch"),
        beginning=OTHERS,
        programs=(
            Program("writer", (call("remember", content=OSLO, idempotency_key="k"),)),
            Program("retry", (call("remember", content=OSLO, idempotency_key="k"),), clock=-8),
            Program("forgetter", (call("forget", id=KEYED),), clock=8),
            Program("indexer", (index(KEYED),)),
        ),
    ),
    Scenario(
        name="supersede-each-other",
        says="two updates at once, each of which makes its memory supersede the other's",
        ids=("office", "lunch"),
        beginning=TWO_SEGMENTS,
        programs=(
            Program("one", (call("update_memory", id="office", supersedes=("lunch",)),)),
            Program("other", (call("update_memory", id="lunch", supersedes=("office",)),)),
        ),
        # One of the two is refused, as the circle that it would close.
        may_fail=True,
        judge=_no_cycle,
    ),
)
