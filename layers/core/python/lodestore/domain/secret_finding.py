"""What the secret scan says it found.

Owns: `Finding` and how overlapping ones become one. Guarantees: a finding never holds the secret itself, so it may be
logged and counted. Gives up: how sure it is; a finding is one or it is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret of `kind` at `text[start:end]` (code points)."""

    kind: str
    start: int
    end: int


def merged(by_priority: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in order of place, none overlapping; of those that overlap, the whole span and the first one's kind."""
    ranked = sorted(enumerate(by_priority), key=lambda entry: (entry[1].start, entry[0]))
    result: list[Finding] = []
    best = 0
    for rank, finding in ranked:
        if not result or finding.start >= result[-1].end:
            result.append(finding)
            best = rank
            continue
        last = result[-1]
        kind = last.kind if best <= rank else finding.kind
        best = min(best, rank)
        result[-1] = Finding(kind, last.start, max(last.end, finding.end))
    return tuple(result)
