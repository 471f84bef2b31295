"""Merges, rebuilds and collections beside writes, indexers and readers.

Owns: `UPKEEPS`. Guarantees: what `explorer` holds of each. Gives up: more than four processes at once.
"""

from __future__ import annotations

from tests.interleavings.actors import Program
from tests.interleavings.scenario import Before, Scenario, Wait
from tests.interleavings.staging import BERGEN, HOUR, INDEXED, LIST, RECALL, STORE_OFFICE, TWO_SEGMENTS
from tests.interleavings.steps import COLLECT, MERGE, REBUILD, call, index, upkeep

UPKEEPS = (
    Scenario(
        name="merge-beside-update",
        says="two segments are merged, while a memory in one of them is updated and indexed and read",
        ids=("office", "lunch"),
        beginning=TWO_SEGMENTS,
        programs=(
            Program("merger", (upkeep(MERGE),), clock=2),
            Program("updater", (call("update_memory", id="office", content=BERGEN),)),
            Program("indexer", (index(),), clock=-2),
            Program("reader", (RECALL,)),
        ),
        fan_in=2,
        quick=True,
    ),
    Scenario(
        name="merge-beside-forget",
        says="two segments are merged, while a memory in one of them is forgotten; an indexer clears up, time passes",
        ids=("office", "lunch"),
        beginning=TWO_SEGMENTS,
        programs=(
            Program("merger", (upkeep(MERGE),)),
            Program("forgetter", (call("forget", id="office"),)),
            Program("indexer", (index(), index()), cold=True),
        ),
        fan_in=2,
        jumps=(61.0,),
    ),
    Scenario(
        name="two-merges",
        says="two processes merge the same segments beside an indexer with a new memory",
        ids=("office", "lunch", "tea"),
        beginning=TWO_SEGMENTS,
        programs=(
            Program("merger", (upkeep(MERGE),)),
            Program("another", (upkeep(MERGE),)),
            Program("writer", (call("remember", content="The office has tea", id="tea"),)),
            Program("indexer", (index(),)),
        ),
        fan_in=2,
    ),
    Scenario(
        name="rebuild-beside-update",
        says="the index is rebuilt, while a memory is updated and indexed and read",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("rebuilder", (upkeep(REBUILD),), clock=2),
            Program("updater", (call("update_memory", id="office", content=BERGEN),)),
            Program("indexer", (index(),), clock=-2),
            Program("reader", (call("recall", query="Bergen"),)),
        ),
        quick=True,
    ),
    Scenario(
        name="rebuild-beside-forget",
        says="the index is rebuilt, while a memory is forgotten and said again; an indexer clears up",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("rebuilder", (upkeep(REBUILD),)),
            Program("undecided", (call("forget", id="office"), STORE_OFFICE)),
            Program("indexer", (index(),)),
        ),
    ),
    Scenario(
        name="collection-of-retired",
        says="what a merge retired is collected, while a reader of the manifest of before is slow",
        ids=("office", "lunch"),
        beginning=(*TWO_SEGMENTS, Wait(900), Before(LIST, by="reader"), Before(upkeep(MERGE))),
        programs=(
            Program("collector", (upkeep(COLLECT),)),
            Program("indexer", (index("office"),)),
            Program("reader", (LIST,)),
        ),
        fan_in=2,
        jumps=(HOUR,),
        # A process that sleeps for an hour finds its segments gone, says so, and is run again.
        may_fail=True,
        quick=True,
    ),
    Scenario(
        name="collection-of-unlisted",
        says="a process sleeps between writing a segment and listing it, while a collector clears up",
        ids=("office", "lunch"),
        beginning=(*TWO_SEGMENTS, Before(call("update_memory", id="office", content=BERGEN))),
        programs=(
            Program("merger", (upkeep(MERGE),)),
            Program("indexer", (index(),)),
            Program("collector", (upkeep(COLLECT),)),
        ),
        fan_in=2,
        jumps=(HOUR,),
        # A process that sleeps for an hour finds its segments gone, says so, and is run again.
        may_fail=True,
    ),
)
