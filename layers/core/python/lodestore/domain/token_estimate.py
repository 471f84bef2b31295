"""How many tokens a text is to a language model, estimated without its vocabulary.

Owns: the estimate that `memory_context` keeps its budget by. Guarantees: deterministic, linear, no data files; on
texts of 200 characters or more not over 10 % under the o200k vocabulary in the scripts that a test holds it to.
Gives up: exactness; it leans to the high side, by a sixth in the middle and by two thirds at worst.

The weights are a least-squares fit of relative errors on XQuAD paragraphs and on code, then raised per script until
the lowest estimate met the bound.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping

_PIECES = re.compile(
    r"(?P<hexadecimal>\b[a-z]?[0-9a-f]{24,}\b)|(?P<word>[A-Za-z]+)|(?P<accented>[\u00c0-\u024f\u1e00-\u1eff])|(?P<digits>[0-9]+)|(?P<line>\s*\n\s*)"
    r"|(?P<space>\s+)|(?P<mark>[!-/:-@\[-`{-~]+)|(?P<alphabetic>[\u0370-\u052f]+)|(?P<indic>[\u0900-\u0dff])"
    r"|(?P<wide>[\u2e80-\uffef])|(?P<other>\S)"
)


def estimate_tokens(text: str) -> int:
    """A count of tokens, rounded up; 0 for the empty text."""
    return math.ceil(sum(_WEIGHTS[str(piece.lastgroup)](piece.group()) for piece in _PIECES.finditer(text)))


def _word(found: str) -> float:
    return 1.01 + 0.108 * max(0, len(found) - 4) + 0.213 * max(0, len(found) - 8)


def _space(found: str) -> float:
    # A single blank belongs to the word that follows it.
    return 1.0 if len(found) > 2 else 0.0


def _alphabetic(found: str) -> float:
    return 2.09 + 0.085 * max(0, len(found) - 4)


def _indic(found: str) -> float:
    return 0.46 if unicodedata.category(found).startswith("M") else 0.48


def _wide(found: str) -> float:
    # Han are often joined in twos; kana and what else is wide less so.
    return 0.92 if "\u4e00" <= found <= "\u9fff" else 1.0


_WEIGHTS: Mapping[str, Callable[[str], float]] = {
    "hexadecimal": lambda found: 0.58 * len(found),
    "word": _word,
    "accented": lambda _: 1.15,
    "digits": lambda found: 1.2 * math.ceil(len(found) / 3),
    "line": lambda _: 1.0,
    "space": _space,
    "mark": lambda found: 0.96 * math.ceil(len(found) / 2),
    "alphabetic": _alphabetic,
    "indic": _indic,
    "wide": _wide,
    "other": lambda _: 2.4,
}
