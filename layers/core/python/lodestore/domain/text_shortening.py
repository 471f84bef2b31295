"""Shortening a text to a number of bytes or characters without breaking what a reader sees as one character.

Owns: where a text may be cut.
Guarantees: never more than the budget; never inside an encoded character, a letter with its marks, an emoji
sequence, a flag, a Hangul syllable in parts or an Indic conjunct, as far as WALK_BACK characters show it.
Gives up: full UAX #29 segmentation; a cluster longer than WALK_BACK (stacked marks without end) is cut inside.
"""

from __future__ import annotations

import unicodedata

from lodestore.domain import text_characters as characters

ELLIPSIS = "\u2026"
ELLIPSIS_BYTES = len(ELLIPSIS.encode())
WALK_BACK = 64


def shorten(text: str, max_bytes: int) -> tuple[str, bool]:
    """At most `max_bytes` bytes of UTF-8 of the text, and whether it was cut.

    A cut text ends in an ellipsis, which counts; with no room for one (fewer than 3 bytes) it is "". White space
    before the ellipsis goes. Raises ValueError for a negative budget.
    """
    if max_bytes < 0:
        raise ValueError(f"max_bytes must be 0 or more, not {max_bytes}")
    # A character is at least one byte, so no more of the text than this has to be encoded.
    encoded = text[: max_bytes + 1].encode()
    if len(encoded) <= max_bytes:
        return text, False
    if max_bytes < ELLIPSIS_BYTES:
        return "", True
    whole = encoded[: max_bytes - ELLIPSIS_BYTES].decode(errors="ignore")
    return _cut(text, len(whole)), True


def shorten_to_characters(text: str, max_characters: int) -> tuple[str, bool]:
    """As `shorten`, with the budget in code points, the ellipsis counted as one. Raises ValueError below 1."""
    if max_characters < 1:
        raise ValueError(f"max_characters must be 1 or more, not {max_characters}")
    if len(text) <= max_characters:
        return text, False
    return _cut(text, max_characters - 1), True


def _cut(text: str, at: int) -> str:
    return text[: _boundary_before(text, at)].rstrip() + ELLIPSIS


def _boundary_before(text: str, at: int) -> int:
    """The nearest place at or before `at` that is not inside a cluster; `at` itself if none is near."""
    for place in range(at, max(at - WALK_BACK, 0), -1):
        if not _is_inside_cluster(text, place):
            return place
    return 0 if at <= WALK_BACK else at


def _is_inside_cluster(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if unicodedata.category(after).startswith("M") or characters.CLUSTER_EXTENDERS.match(after):
        return True
    if before == characters.ZWJ or unicodedata.combining(before) == characters.VIRAMA_CLASS:
        return not after.isspace()
    if characters.REGIONAL_INDICATORS.match(after):
        return _indicators_before(text, at) % 2 == 1
    return characters.JAMO_AFTER_FIRST.match(after) is not None and "\u1100" <= before <= "\ud7ff"


def _indicators_before(text: str, at: int) -> int:
    start = at
    while start > 0 and characters.REGIONAL_INDICATORS.match(text[start - 1]):
        start -= 1
    return at - start
