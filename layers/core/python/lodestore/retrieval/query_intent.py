"""What kind of memory a query asks for, by how it is put.

Owns: the phrases that tell ("how do I" asks for an instruction, "prefers" for a preference). Guarantees: pure; linear;
a strength in [0, 1] for each type. Gives up: other languages than English, German, Spanish and French.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.memory import MemoryType
from lodestore.retrieval.segment import TYPES

Strengths = NDArray[np.float64]
# A name may stand in a memory of any type, though most are facts.
_WHO: Final = 0.6
_HOW: Final = r"""
    ^\W*how\ (?:do|can|should|would|to)\b | \bhow\ to\b | \b(?:command|steps)\b | \bwhat\ do\ i\ type\b
    | \bwhat\ is\ the\ line\b | \bwie\ (?:kann|muss|soll)\ (?:ich|man|wir)\b | \bc[oó]mo\ (?:se|puedo|hay\ que)\b
    | \bcomment\ (?:faire|puis-je|peut-on|fait-on)\b
"""
_LIKES: Final = r"""
    \b(?:prefers?|preferred|likes?|liked|loves?|loved|hates?|hated|wants?|wish|wishes|favou?rites?|style|rather)\b
    | \bshould\ i\b | \b(?:mag|möchte|möchten|bevorzugt|wünscht)\b | \b(?:prefiere|quiere|gusta)\b
    | \b(?:préfère|souhaite|aime)\b
"""
_NAMES: Final = r"\b(?:who|whom|whose|wer|wem|wen|qui[eé]n|quienes|qui)\b"
_HAPPENED: Final = r"""
    \b(?:happened|happens?|broke|incidents?|outages?|failed)\b | \bwent\ (?:down|wrong)\b
    | \bdid\ (?:we|you|they)\ (?:do|try)\b
    | \b(?:passiert|geschah|ausgefallen)\b | \b(?:pasó|ocurrió)\b | \bs'est\ passé\b
"""


def _phrases(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_ASKED_BY: Final = (
    (_phrases(_HOW), 1.0, (MemoryType.INSTRUCTION,)),
    (_phrases(_LIKES), 1.0, (MemoryType.PREFERENCE,)),
    (_phrases(_NAMES), _WHO, (MemoryType.FACT,)),
    (_phrases(_HAPPENED), 1.0, (MemoryType.EVENT, MemoryType.OBSERVATION)),
)


def intended(query: str) -> Strengths:
    """How much the query asks for each type, in the order of `segment.TYPES`."""
    strengths = np.zeros(len(TYPES))
    for phrases, strength, types in _ASKED_BY:
        if phrases.search(query):
            at = [TYPES.index(kind) for kind in types]
            strengths[at] = np.maximum(strengths[at], strength)
    return strengths
