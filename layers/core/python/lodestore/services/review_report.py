"""A review in the words of a sleep's report.

Owns: the names of its counts and actions. Guarantees: ids, figures and fixed words; never a word of a memory or of a
model. Gives up: the texts; `list_proposals` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable

from lodestore.domain.proposal import ProposalKind
from lodestore.domain.sleep_report import Action
from lodestore.services.reviewing import Reviewed


def review_counts(done: Reviewed) -> dict[str, int]:
    """Counts; the cost in millionths of a US dollar, where a price is set."""
    kinds = [proposal.kind for proposal in done.made]
    both = (done.pairs, done.summaries)
    counts = {
        "pairs": done.pairs.asked,
        "groups": done.summaries.asked,
        "merges_proposed": kinds.count(ProposalKind.MERGE),
        "contradictions_proposed": kinds.count(ProposalKind.SUPERSEDE),
        "summaries_proposed": kinds.count(ProposalKind.SUMMARY),
        "proposed_before": done.known,
        "refused": sum(len(found.refusals) for found in both),
        "failed": sum(len(found.failures) for found in both),
        "too_long": done.pairs.skipped,
        "questions": done.tally.questions,
        "repairs": done.tally.repairs,
        "tokens_in": done.tally.tokens_in,
        "tokens_out": done.tally.tokens_out,
        "left": done.left,
    }
    return counts if done.tally.micro_usd is None else counts | {"micro_usd": done.tally.micro_usd}


def review_actions(done: Reviewed) -> Iterable[Action]:
    """What was proposed, and what of the model could not be used."""
    yield from (
        Action(f"propose to {_DOES[one.kind]}", one.id, str(one.evidence["why"])) for one in done.made
    )
    for found in (done.pairs, done.summaries):
        yield from (Action("refuse", about, reason) for about, reason in found.refusals)
        yield from (Action("fail", about, reason) for about, reason in found.failures)


_DOES = {
    ProposalKind.MERGE: "merge",
    ProposalKind.SUMMARY: "sum up",
    ProposalKind.SUPERSEDE: "supersede",
    ProposalKind.PRUNE: "forget",
}
