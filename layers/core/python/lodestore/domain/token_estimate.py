"""How many tokens a text is to a language model, estimated without its vocabulary.

Owns: the estimate that `memory_context` keeps its budget by. Guarantees: deterministic, linear, no data files.
Gives up: exactness; words, digits, marks and scripts are weighed by rounded averages of byte-pair vocabularies.
"""

from __future__ import annotations

import math
import re

_PIECES = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<space>\s+)|(?P<mark>[!-/:-@\[-`{-~]+)|(?P<other>\S)"
)
_WORD_LETTERS = 7
_DIGITS = 3
_MARKS = 2
_WIDE_FROM = 0x2E80
_LETTERS_A_TOKEN = 2.6


def estimate_tokens(text: str) -> int:
    """A count of tokens, rounded up; 0 for the empty text."""
    total = 0.0
    for piece in _PIECES.finditer(text):
        kind, found = piece.lastgroup, piece.group()
        if kind == "word":
            total += math.ceil(len(found) / _WORD_LETTERS)
        elif kind == "digits":
            total += math.ceil(len(found) / _DIGITS)
        elif kind == "mark":
            total += math.ceil(len(found) / _MARKS)
        elif kind == "space":
            # A single blank belongs to the word that follows it.
            total += found.count("\n") + (len(found) > 2)
        else:
            total += 1 if ord(found) >= _WIDE_FROM else 1 / _LETTERS_A_TOKEN
    return math.ceil(total)
