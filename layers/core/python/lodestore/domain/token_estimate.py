"""How many tokens a text is to a language model, estimated without its vocabulary.

Owns: the estimate that `memory_context` keeps its budget by. Guarantees: deterministic, linear, no data files; on
texts of 200 characters or more in the scripts of the test (Latin, Cyrillic, Devanagari, Han, code, JSON) between
10 % under and 35 % over the o200k vocabulary.
Gives up: exactness (it leans to the high side, by a ninth in the middle; lists of short questions full of foreign
names were seen 16 % under and 45 % over); fitted weights for other scripts and symbols, which cost a bound instead.

The weights are a least-squares fit of relative errors, made by `python -m benchmarks.fit_token_estimate` on the even
paragraphs of XQuAD, on their questions, and on code and JSON; the test judges them on the odd ones and on other code,
which the fit never saw (what the parts are was chosen with an eye on the errors of both halves).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

# The one part whose weight may be under 0; a word has at most one for every four of its letters.
CYRILLIC_CLUSTER: Final = "cyrillic cluster"
# A text is the sum of its pieces' parts, each with its weight in tokens.
FITTED: Final[Mapping[str, float]] = MappingProxyType(
    {
        "cyrillic capitals": 0.393,
        "cyrillic cluster": -0.648,
        "cyrillic letters from 11": 0.0,
        "cyrillic letters from 5": 0.184,
        "cyrillic letters from 8": 0.0,
        "cyrillic letters of long names": 0.248,
        "cyrillic name": 0.776,
        "cyrillic rare letter": 0.657,
        "cyrillic short word": 1.244,
        "cyrillic word": 1.194,
        "cyrillic word with ending": 0.211,
        "devanagari from 5": 0.0,
        "devanagari inner vowel": 0.522,
        "devanagari letter": 0.392,
        "devanagari loaned": 0.467,
        "devanagari mark": 0.308,
        "devanagari nukta": 1.046,
        "devanagari short word": 0.146,
        "devanagari virama": 0.0,
        "devanagari word": 0.0,
        "digits": 1.661,
        "greek": 0.493,
        "han": 1.21,
        "han more": 0.923,
        "hexadecimal": 0.593,
        "latin accent": 0.796,
        "latin capitals": 0.317,
        "latin letters from 11": 0.001,
        "latin letters from 5": 0.12,
        "latin letters from 8": 0.044,
        "latin letters of long names": 0.118,
        "latin name": 0.0,
        "latin short word": 1.023,
        "latin word": 1.01,
        "latin word with ending": 0.0,
        "line": 0.354,
        "mark": 0.99,
        "punctuation": 0.389,
        "space": 0.0,
    }
)
# Too few of these in the tuning texts: a token a letter, as the vocabulary's rarest scripts cost, three a symbol, and
# for what has no end (words and runs of marks) enough that no text is cheap by its length.
BOUNDS: Final[Mapping[str, float]] = MappingProxyType(
    {"letter": 1.0, "syllable": 1.0, "symbol": 3.0, "letters from 21": 0.4, "mark more": 0.3}
)

_PIECES = re.compile(
    r"(?P<hexadecimal>(?<![0-9A-Za-z])(?:[a-z]_?)?(?=[0-9a-f]*[0-9])[0-9a-f]{16,})"
    r"|(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)|(?P<digits>[0-9]+)|(?P<line>\s*\n\s*)|(?P<space>\s+)"
    r"|(?P<mark>[!-/:-@\[-`{-~]+\n*)|(?P<greek>[\u0370-\u03ff\u1f00-\u1fff])|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<devanagari>[\u0900-\u097f]+)|(?P<han>[\u4e00-\u9fff]+)|(?P<syllable>[\u3040-\u30ff\uac00-\ud7af])"
    r"|(?P<other>\S)"
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z\u00df-\u024f])|[A-Z]?[^A-Z]+")
# Endings that vocabularies hold with much of the word before them: long words with one are rarely cut in many.
_ENDINGS = (
    *(
        "able",
        "ciones",
        "ción",
        "dad",
        "ible",
        "ing",
        "ity",
        "lich",
        "ment",
        "mente",
        "ments",
        "sion",
        "sión",
    ),
    *("sions", "tion", "tions", "ung", "ungen"),
    *("ение", "ения", "ний", "ния", "ного", "ных", "ости", "ость", "ский", "ского", "ться"),
)
_ENDED_LETTERS_LEAST = 8
_SHORT_LETTERS_MOST = 3
_CYRILLIC_RARE = frozenset("фхцшщэюъжё")
# Three consonants in a row stand mostly in stems and endings that are one piece (ств, стр).
_CYRILLIC_CLUSTER = re.compile("[^аеёиоуыэюяіїє]{3,}", re.IGNORECASE)
# Letters and vowel signs that Hindi has mostly in borrowed words and names, where vocabularies know few pieces.
_DEVANAGARI_LOANED = frozenset("ऑॉऐऔघङझञटठडढणथधफभषऋृः")
_NUKTA = frozenset("\u093c\u0958\u0959\u095a\u095b\u095c\u095d\u095e")
_VIRAMA = "\u094d"
_DEVANAGARI_VOWELS = frozenset("अआइईउऊऋएऐऑओऔ")


def estimate_tokens(text: str) -> int:
    """A count of tokens, rounded up; 0 for the empty text."""
    if not (found := parts(text)):
        return 0
    return max(1, math.ceil(sum(count * _weight(part) for part, count in found.items())))


def parts(text: str) -> Counter[str]:
    """What a text is made of: how much of each part that has a weight in `FITTED` or `BOUNDS`."""
    found: Counter[str] = Counter()
    for piece in _PIECES.finditer(text):
        _add(found, str(piece.lastgroup), piece.group())
    return found


def _add(found: Counter[str], kind: str, piece: str) -> None:
    match kind:
        case "latin":
            found["latin accent"] += sum(not character.isascii() for character in piece)
            for hump in _HUMPS.findall(piece):
                _add_word(found, kind, hump)
        case "cyrillic":
            _add_word(found, kind, piece)
            found["cyrillic rare letter"] += sum(letter in _CYRILLIC_RARE for letter in piece.lower())
            found[CYRILLIC_CLUSTER] += len(_CYRILLIC_CLUSTER.findall(piece))
        case "devanagari":
            _add_devanagari(found, piece)
        case "mark" | "han":
            found[kind] += 1
            found[f"{kind} more"] += len(piece.rstrip()) - 1
        case _:
            found[_other(piece) if kind == "other" else kind] += _LENGTHS.get(kind, _once)(piece)


def _once(_: str) -> int:
    return 1


_LENGTHS: Final[Mapping[str, Callable[[str], int]]] = MappingProxyType(
    {
        "digits": lambda piece: math.ceil(len(piece) / 3),
        # A single blank belongs to the word that follows it.
        "space": lambda piece: len(piece) > 1,
        "hexadecimal": len,
    }
)


def _add_word(found: Counter[str], script: str, word: str) -> None:
    letters = len(word)
    if len(word) > 1 and word.isupper():
        found[f"{script} capitals"] += len(word)
        return
    found[_word(script, word)] += 1
    found[f"{script} name"] += word[0].isupper()
    for least in (4, 7, 10):
        found[f"{script} letters from {least + 1}"] += max(0, letters - least)
    found["letters from 21"] += max(0, letters - 20)
    found[f"{script} letters of long names"] += word[0].isupper() * max(0, letters - 4)


def _word(script: str, word: str) -> str:
    if len(word) <= _SHORT_LETTERS_MOST:
        return f"{script} short word"
    ended = len(word) >= _ENDED_LETTERS_LEAST and word.lower().endswith(_ENDINGS)
    return f"{script} word with ending" if ended else f"{script} word"


def _add_devanagari(found: Counter[str], word: str) -> None:
    marks = sum(unicodedata.category(character).startswith("M") for character in word)
    found["devanagari short word" if len(word) <= _SHORT_LETTERS_MOST else "devanagari word"] += 1
    found["devanagari letter"] += len(word) - marks
    found["devanagari mark"] += marks
    found["devanagari from 5"] += max(0, len(word) - 4)
    found["devanagari loaned"] += sum(character in _DEVANAGARI_LOANED for character in word)
    found["devanagari nukta"] += sum(character in _NUKTA for character in word)
    found["devanagari virama"] += word.count(_VIRAMA)
    found["devanagari inner vowel"] += sum(character in _DEVANAGARI_VOWELS for character in word[1:])


def _other(character: str) -> str:
    category = unicodedata.category(character)
    if category.startswith(("L", "M", "N")):
        return "letter"
    return "punctuation" if category.startswith("P") else "symbol"


def _weight(part: str) -> float:
    return FITTED[part] if part in FITTED else BOUNDS[part]
