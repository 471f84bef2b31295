"""What a review finds while it goes on.

Owns: the tally of one run's answers. Guarantees: each answer is counted once, as a proposal, a failure or a refusal.
Gives up: threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from lodestore.domain.proposal import Proposal
from lodestore.ports.language_model import Failed
from lodestore.services.model_judge import Refused

# So many failures and nothing else: then it is the model, and not what it was asked.
FAILURES_MOST: Final = 3


@dataclass(slots=True)
class Findings:
    """failures, refusals: the reason, by the id of the newer memory or the proposal; `stopped`: why it ended early."""

    wanted: list[Proposal] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    asked: int = 0
    skipped: int = 0
    left: int = 0
    stopped: str | None = None

    def disappointed(self, about: str, answer: Failed | Refused) -> None:
        """Note an answer that can't be used."""
        self.asked += 1
        if isinstance(answer, Refused):
            self.refusals.append((about, answer.reason))
            return
        self.failures.append((about, answer.reason))
        if answer.lasting or (self.nothing_else and self.asked >= FAILURES_MOST):
            self.stopped = answer.reason

    @property
    def nothing_else(self) -> bool:
        """Whether every question ended in a failure, as with a model that can't do this at all."""
        return len(self.failures) == self.asked
