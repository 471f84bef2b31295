"""Whether one merged memory holds, by the truth of its members.

Owns: the rule of `services/founded` for who reads a single memory and no view. Guarantees: other memories cost no
request. Gives up: nothing; at most MEMBERS_MOST are read, side by side.
"""

from __future__ import annotations

from lodestore.domain.member import Standing, standing_of
from lodestore.domain.memory import Memory
from lodestore.services.ledger import Ledger


def is_founded(ledger: Ledger, memory: Memory) -> bool:
    """Whether every member still says what was read. Raises Unavailable."""
    if not memory.consolidated_reads:
        return True
    found = ledger.read_many(memory.tenant, tuple(member.id for member in memory.consolidated_reads))
    return all(
        standing_of(member, None if (stands := found[member.id]) is None else stands.record)
        is Standing.AS_READ
        for member in memory.consolidated_reads
    )
