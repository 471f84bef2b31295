"""Answers that do not come, and processes that die.

Owns: `MISHAPS`. Guarantees: what `explorer` holds of each. Gives up: more than four processes at once.
"""

from __future__ import annotations

from tests.interleavings.actors import Program
from tests.interleavings.scenario import Mishap, Scenario
from tests.interleavings.staging import (
    BERGEN,
    INDEXED,
    OFFICE,
    OTHERS,
    RECALL,
    REMEMBER,
    STORE_OFFICE,
    UNKNOWNS,
)
from tests.interleavings.steps import call, index, late

MISHAPS = (
    Scenario(
        name="lost-answers",
        says="any one write is not answered, before, after or long after it took effect, beside an update",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("updater", (call("update_memory", id="office", content=BERGEN),), clock=-5),
            Program("tagger", (call("update_memory", id="office", tags=("seen",)),)),
            Program("reader", (RECALL,)),
        ),
        mishaps=UNKNOWNS,
        to=("updater",),
        may_fail=True,
    ),
    Scenario(
        name="lost-answer-of-a-forget",
        says="any one write of a forget is not answered, while another says it again and an indexer runs",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("forgetter", (call("forget", id="office"),)),
            Program("learner", (STORE_OFFICE,)),
            Program("indexer", (index(),)),
        ),
        mishaps=UNKNOWNS,
        to=("forgetter",),
        may_fail=True,
    ),
    Scenario(
        name="lost-answers-of-the-indexer",
        says="any one write of an indexer is not answered, beside another indexer and an update",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("updater", (call("update_memory", id="office", content=BERGEN),)),
            Program("indexer", (index(), index()), cold=True),
            Program("another", (index(),)),
        ),
        mishaps=UNKNOWNS,
        to=("indexer",),
        may_fail=True,
        jumps=(61.0,),
    ),
    Scenario(
        name="a-writer-dies",
        says="the writer dies between any two requests; another says the same; an indexer runs, time passes",
        ids=(OFFICE, "lunch"),
        beginning=OTHERS,
        programs=(
            Program("first", (REMEMBER,)),
            Program("second", (late(REMEMBER),), clock=-7),
            Program("indexer", (index(),)),
        ),
        mishaps=(Mishap.DIES,),
        to=("first",),
        jumps=(61.0,),
    ),
    Scenario(
        name="an-indexer-dies",
        says="an indexer dies between any two requests; another goes on",
        ids=("office",),
        beginning=INDEXED,
        programs=(
            Program("updater", (call("update_memory", id="office", content=BERGEN),)),
            Program("indexer", (index(), index()), cold=True),
            Program("another", (late(index()),)),
        ),
        mishaps=(Mishap.DIES,),
        to=("indexer",),
        jumps=(61.0,),
    ),
)
