"""The pairs that a model is asked about, and the proposals that follow.

Owns: from a memory to its open pairs, and from an opinion to a proposal. Guarantees: what the rules judge is not asked
again; events, pinned and merged memories are in no merge; both memories are read from the truth before they are sent.
Gives up: pairs over PAIR_BYTES.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from lodestore.domain.consolidation import merged
from lodestore.domain.memory import Memory, Scope
from lodestore.domain.proposal import PER_SLEEP, Evidence, Proposal, ProposalKind, propose
from lodestore.ports.clock import Clock
from lodestore.ports.judge import Judge, Verdict
from lodestore.services.asking import Asking, OverBudget
from lodestore.services.model_judge import PROMPT, Opinion, judge
from lodestore.services.open_pairs import OpenPairs, Seed
from lodestore.services.review_findings import Findings
from lodestore.services.tenant_view import TenantView
from lodestore.services.truth import Truth

# One sleep may propose so many of a kind, so more questions would be in vain.
RUN_PAIRS: Final = PER_SLEEP
PAIR_BYTES: Final = 4_000
# Each is read from the truth, and scored against all.
RUN_SEEDS: Final = 500
SAYS_THE_SAME: Final = "says the same in other words, says the model"
CONTRADICTS: Final = "can't be true beside the other, says the model"


class ReviewPairs:
    """Pairs of all tenants. `rules`: the judge without a model."""

    def __init__(self, truth: Truth, rules: Judge, clock: Clock) -> None:
        self._truth = truth
        self._rules = rules
        self._clock = clock

    def count(self, view: TenantView, after: str) -> int:
        """How many memories wait to be compared."""
        return len(OpenPairs(view, self._clock.now()).seeds(after))

    def run(
        self, tenant: str, view: TenantView, asking: Asking, after: str, going: Callable[[], bool]
    ) -> tuple[str, Findings]:
        """Ask about what lies behind this revision; how far it came. Raises StoreUnavailable."""
        pairs = OpenPairs(view, self._clock.now())
        found, begun = Findings(), after
        seeds = pairs.seeds(after)
        for number, seed in enumerate(seeds):
            room = number < RUN_SEEDS and found.asked < RUN_PAIRS
            if not (room and going() and self._compare(tenant, pairs, seed, asking, found)):
                found.left = len(seeds) - number
                break
            after = seed.revision
        return begun if found.stopped is not None and found.nothing_else else after, found

    def _compare(self, tenant: str, pairs: OpenPairs, seed: Seed, asking: Asking, found: Findings) -> bool:
        """Compare one memory with those near it; False where it has to be begun again."""
        now = self._clock.now()
        newest = self._truth.read(tenant, seed.id).record
        if not isinstance(newest, Memory) or newest.expired_at(now):
            return True
        near = pairs.near(seed, newest.content)
        records = self._truth.read_many(tenant, near)
        for record in (records[memory_id].record for memory_id in near):
            if not isinstance(record, Memory) or record.expired_at(now) or not _one_scope(newest, record):
                continue
            if not self._ask(_in_order(newest, record), asking, found, now):
                return False
        return True

    def _ask(self, pair: tuple[Memory, Memory], asking: Asking, found: Findings, now: datetime) -> bool:
        newer, older = pair
        if sum(len(memory.content.encode()) for memory in pair) > PAIR_BYTES:
            found.skipped += 1
            return True
        (ruled,) = self._rules.judge([pair])
        if ruled.verdict is not Verdict.DIFFERENT or newer.content == older.content:
            return True
        opinion = judge(asking, newer, older)
        if isinstance(opinion, OverBudget):
            return False
        if not isinstance(opinion, Opinion):
            found.disappointed(newer.id, opinion)
            return found.stopped is None
        found.asked += 1
        proposal = _proposal(opinion, newer, older, asking.name, now)
        found.wanted += [proposal] if proposal is not None else []
        return True


def _proposal(opinion: Opinion, newer: Memory, older: Memory, name: str, now: datetime) -> Proposal | None:
    evidence: Evidence = {
        "verdict": str(opinion.verdict),
        "judge": name[:200],
        "prompt": PROMPT.label,
        "days between": (newer.holds_from - older.holds_from).days,
    }
    if opinion.verdict is Verdict.CONTRADICTS:
        said = {**evidence, "why": CONTRADICTS, "pinned": older.pinned}
        return propose(ProposalKind.SUPERSEDE, [newer, older], at=now, keeps=newer.id, evidence=said)
    if opinion.verdict is Verdict.SAME and _may_be_one(newer, older):
        said = {**evidence, "why": SAYS_THE_SAME}
        return propose(ProposalKind.MERGE, [newer, older], at=now, text=opinion.text, evidence=said)
    return None


def _may_be_one(newer: Memory, older: Memory) -> bool:
    """Whether no filter would find the one and not the other, and nothing of either would be lost."""
    alike = all(
        getattr(newer, field) == getattr(older, field)
        for field in ("type", "category", "metadata", "valid_from", "expires_at")
    )
    pair = (newer, older)
    free = not any(memory.pinned or memory.consolidated_reads for memory in pair)
    return alike and free and merged(pair) is not None


def _one_scope(one: Memory, other: Memory) -> bool:
    same = one.scope is Scope.PROJECT or one.conversation == other.conversation
    return one.tenant == other.tenant and one.scope is other.scope and same


def _in_order(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """The newer first, as the rules compare them."""
    older, newer = sorted((one, other), key=lambda memory: (memory.holds_from, memory.updated_at, memory.id))
    return newer, older
