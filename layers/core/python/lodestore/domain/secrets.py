"""Secrets in what a caller wants stored: finding them, and putting a marker in their place.

Owns: the scan of one text and of structured data (`metadata`), by form, frame, name and randomness together.
Guarantees: linear time; `redact(redact(x)) == redact(x)`; a marker says what kind stood there and nothing of it;
sentences about keys, and references to where one is kept, stay as they are (cases B27).
Order: `text.clean` comes first, so a zero-width character can't split a secret; the id is made after
(`design.md`, section 2), so a secret is in no hash. Gives up: certainty. What has neither form nor name nor
randomness passes; `SECRETS=refuse` refuses on the same findings.
"""

from __future__ import annotations

from lodestore.domain.secret_assignments import find_assignments
from lodestore.domain.secret_blocks import find_blocks
from lodestore.domain.secret_entropy import find_random
from lodestore.domain.secret_finding import Finding, merged
from lodestore.domain.secret_formats import find_formats

__all__ = ["MAX_PASSES", "Finding", "marker", "redact", "scan"]

# A marker can bring to light what its secret had hidden (the bound of a word). Four passes do for samples that are cut
# and glued at random.
MAX_PASSES = 6


def marker(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[redacted:{kind}]"


def scan(text: str) -> tuple[Finding, ...]:
    """Every secret in a cleaned text, in order of place, none overlapping. The most specific kind wins."""
    return merged((*find_formats(text), *find_blocks(text), *find_assignments(text), *find_random(text)))


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with each secret replaced by its marker, and the kinds found, sorted, each once.

    A text that still yields secrets after MAX_PASSES was made to; it is replaced by one marker as a whole.
    """
    kinds: set[str] = set()
    for _ in range(MAX_PASSES):
        findings = scan(text)
        if not findings:
            return text, tuple(sorted(kinds))
        kinds.update(finding.kind for finding in findings)
        text = _replaced(text, findings)
    if scan(text):
        kinds.add("secrets")
        text = marker("secrets")
    return text, tuple(sorted(kinds))


def _replaced(text: str, findings: tuple[Finding, ...]) -> str:
    pieces: list[str] = []
    at = 0
    for finding in findings:
        pieces += (text[at : finding.start], marker(finding.kind))
        at = finding.end
    return "".join((*pieces, text[at:]))
