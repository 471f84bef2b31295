"""Reviewing: what a language model finds among memories, as proposals and as nothing else.

Owns: the step `review`: the questions of one sleep, their budget, and the mark of how far it came. Guarantees: nothing
is merged, superseded or summed up here (P-REVERSIBLE-SLEEP); an answer that failed or is not believed is counted and
named, and is never taken for "nothing to do"; where the service does not answer, the next sleep begins where this one
stopped; so many questions, and tokens, in one sleep, and the rest is said to be left. No write and no recall comes
here (P-NO-LLM-ON-WRITE).
Gives up: asking about one pair again, unless one of the two changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from lodestore.domain.proposal import Proposal
from lodestore.format.review_marks import ReviewMark
from lodestore.ports.language_model import LanguageModel
from lodestore.services import model_judge, model_summaries
from lodestore.services.asking import Asking, Tally
from lodestore.services.proposals import Proposals
from lodestore.services.review_findings import Findings
from lodestore.services.review_marks import ReviewMarks
from lodestore.services.review_pairs import ReviewPairs
from lodestore.services.review_summaries import ReviewSummaries, refused_ids
from lodestore.services.tenant_view import TenantViews

# Tokens in one sleep of a tenant, in and out.
BUDGET: Final = 50_000
NOT_STORED: Final = "a proposal could not be stored"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """The model, and what it may spend. `price`: US dollars for a million tokens in, and out; None: not known."""

    model: LanguageModel
    budget: int = BUDGET
    price: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What one run did; a dry run asks nothing, and `left` is what waits.

    made, known, left_over   proposals: new ones, those that stood, and those that were too many
    """

    pairs: Findings = field(default_factory=Findings)
    summaries: Findings = field(default_factory=Findings)
    tally: Tally = field(default_factory=Tally)
    made: tuple[Proposal, ...] = ()
    known: int = 0
    left_over: int = 0

    @property
    def left(self) -> int:
        """Memories, groups and proposals that were not come to."""
        return self.pairs.left + self.summaries.left + self.left_over

    @property
    def stopped(self) -> str | None:
        """Why the service's silence ended it."""
        return self.pairs.stopped or self.summaries.stopped


class Reviewing:
    """Reviews of all tenants."""

    def __init__(
        self,
        use: ModelUse,
        views: TenantViews,
        pairs: ReviewPairs,
        summaries: ReviewSummaries,
        marks: ReviewMarks,
        proposals: Proposals,
    ) -> None:
        self._use = use
        self._views = views
        self._pairs = pairs
        self._summaries = summaries
        self._marks = marks
        self._proposals = proposals

    def run(
        self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True
    ) -> Reviewed:
        """Review a tenant. Raises StoreUnavailable, Unavailable; then the same is asked again."""
        view = self._views.load(tenant)
        mark, etag = self._marks.get(tenant, self._asker)
        if dry_run:
            waiting = Findings(left=self._pairs.count(view, mark.revision))
            return Reviewed(pairs=waiting, summaries=Findings(left=self._summaries.count(view)))
        asking = Asking(self._use.model, self._use.budget, self._use.price)
        come_to, pairs = self._pairs.run(tenant, view, asking, mark.revision, going)
        summaries = Findings()
        if pairs.stopped is None:
            summaries = self._summaries.run(tenant, view, asking, mark.refused, going)
        wanted = [*pairs.wanted, *summaries.wanted]
        proposed = self._proposals.propose(tenant, wanted)
        after = ReviewMark(self._asker, come_to, (*mark.refused, *refused_ids(summaries)))
        if len(proposed.made) + proposed.known + proposed.left < len(wanted):
            # Else its pair would be asked about no more.
            pairs.stopped = NOT_STORED
        elif after != mark:
            self._marks.put(tenant, after, etag)
        return Reviewed(
            pairs=pairs,
            summaries=summaries,
            tally=asking.tally,
            made=proposed.made,
            known=proposed.known,
            left_over=proposed.left,
        )

    @property
    def _asker(self) -> str:
        return f"{self._use.model.name} {model_judge.PROMPT.label} {model_summaries.PROMPT.label}"
