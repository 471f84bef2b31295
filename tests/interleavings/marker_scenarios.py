"""Markers and time: when they are deleted, and by whom they are still needed.

Owns: `MARKERS`. Guarantees: what `explorer` holds of each. Gives up: more than four processes at once.
"""

from __future__ import annotations

from tests.interleavings.actors import Program
from tests.interleavings.scenario import Before, Scenario, Wait
from tests.interleavings.staging import (
    BERGEN,
    HOUR,
    INDEXED,
    LIST,
    OFFICE,
    OTHERS,
    RECALL,
    REMEMBER,
    STORE_OFFICE,
)
from tests.interleavings.steps import call, index

MARKERS = (
    Scenario(
        name="markers-of-a-new-memory",
        says="a new memory, an indexer that runs twice, and a reader that holds the manifest of before; time passes",
        ids=(OFFICE, "lunch"),
        beginning=(*OTHERS, Before(LIST, by="reader")),
        programs=(
            Program("writer", (REMEMBER,)),
            Program("indexer", (index(), index()), clock=-20, cold=True),
            Program("reader", (LIST,), clock=20),
        ),
        jumps=(61.0,),
    ),
    Scenario(
        name="markers-of-an-update",
        says="an update, an indexer that runs twice, and a reader that looks for a word of the update; time passes",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("updater", (call("update_memory", id="office", content=BERGEN),)),
            Program("indexer", (index(), index()), clock=-20, cold=True),
            Program("reader", (call("recall", query="Bergen"),), clock=20),
        ),
        jumps=(61.0,),
    ),
    Scenario(
        name="two-indexers",
        says="two indexers on one new memory, one of them twice; time passes; a reader starts at any moment",
        ids=(OFFICE, "lunch"),
        beginning=OTHERS,
        programs=(
            Program("writer", (REMEMBER,)),
            Program("indexer", (index(),), clock=-3),
            Program("another", (index(), index()), clock=3, cold=True),
            Program("reader", (RECALL,)),
        ),
        jumps=(61.0,),
    ),
    Scenario(
        name="two-indexers-alone",
        says="two indexers on one new memory, one of them twice; time passes; only fresh processes read",
        ids=(OFFICE, "lunch"),
        beginning=OTHERS,
        programs=(
            Program("writer", (REMEMBER,)),
            Program("indexer", (index(),), clock=-3),
            Program("another", (index(), index()), clock=3, cold=True),
        ),
        jumps=(61.0,),
    ),
    Scenario(
        name="slow-writer",
        says="an hour passes between any two requests of a writer, while an indexer clears up",
        ids=("office", "lunch"),
        beginning=OTHERS,
        programs=(
            Program("writer", (STORE_OFFICE,)),
            Program("indexer", (index(), index()), cold=True),
        ),
        jumps=(HOUR, 61.0),
    ),
    Scenario(
        name="slow-relearner",
        says="a memory is said again over its stub, an hour passes between any two requests, an indexer clears up",
        ids=("office",),
        beginning=(*INDEXED, Before(call("forget", id="office")), Before(index()), Wait(61)),
        programs=(
            Program("learner", (STORE_OFFICE,)),
            Program("indexer", (index(), index()), cold=True),
            Program("reader", (LIST,)),
        ),
        jumps=(HOUR,),
    ),
    Scenario(
        name="two-indexers-on-an-update",
        says="two indexers on an update of an update, one of them twice; time passes",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program(
                "updater",
                (
                    call("update_memory", id="office", importance=0.9),
                    call("update_memory", id="office", content=BERGEN),
                ),
            ),
            Program("indexer", (index(),), clock=-3),
            Program("another", (index("office"), index()), clock=3, cold=True),
        ),
        jumps=(61.0,),
    ),
)
