"""What scenarios have in common: the memories, the beginnings, the calls.

Owns: those names. Guarantees: nothing runs here. Gives up: being more than a table.
"""

from __future__ import annotations

from lodestore.domain.identity import id_from_content, id_from_key
from tests.interleavings.scenario import Before, Mishap, Wait
from tests.interleavings.steps import call, index

OSLO, BERGEN = "The office is in Oslo", "The office is in Bergen"
OFFICE = id_from_content(OSLO, None, 0)
KEYED = id_from_key("k", None)
MOVED = "moved"
REMEMBER = call("remember", content=OSLO)
STORE_OFFICE = call("remember", content=OSLO, id="office")
RECALL = call("recall", query="office")
# Reads as a recall does, and counts nothing.
LIST = call("list_memories", limit=100)
OTHERS = (Before(call("remember", content="Lunch is at noon", id="lunch")), Before(index()), Wait(61))
INDEXED = (Before(STORE_OFFICE), Before(index()), Wait(61))
TWO_SEGMENTS = (*OTHERS, Before(STORE_OFFICE), Before(index()), Wait(61))
# Longer than MARKER_GRACE, RETIRED_FOR and UNLISTED_FOR.
HOUR = 4_261.0
UNKNOWNS = (Mishap.UNKNOWN_BEFORE, Mishap.UNKNOWN_AFTER, Mishap.UNKNOWN_LATE, Mishap.CONTENDED)
