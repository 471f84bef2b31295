"""A text as written, without what only typing varies: the forms by which two statements are found to be the same words.

Owns: `exact_form`, which holds in any language; `typed_form`, whose further equalities hold in a language that is
known; and `tokens`, the words and signs for those who compare and propose. Guarantees: pure and linear. What may carry
a value stays in both forms: case, digits, raised and circled figures (10² is not 102), every blank and line end inside,
the kind of quotes, brackets and dashes, question marks, inner punctuation.
Gives up: spellings of one number or one date; a different spelling is a different text.
Source: Unicode Standard Annex 15 (NFKC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

# Compatibility forms that are another value than their plain form, or may be one.
_TELLING = ("<super>", "<sub>", "<fraction>", "<circle>", "<font>")
_QUOTED = re.compile(
    r"`[^`]*`|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\S)'[^'\n]+'(?=[\s.,;:!?)]|\Z)"
)
_LINE_END = re.compile(r"\s*\n\s*")
_BLANKS = re.compile(r"[^\S\n]+")
_STYLES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-", "\u2013": "-", "\u2212": "-"}
)
_OPENING, _CLOSING = "([{", ".,;:!?)]}"
_CHUNK = re.compile(r"\n|\S+")
# Said of an end, a full stop says nothing; after anything but a letter, digit, quote or bracket it may be a path.
_FULL_STOP = re.compile(r"(?<=[\w\"”“»`)\]}])\.+\Z")
# After a word of letters alone; `main..` and `v2.` may be names.
_LAST_STOP = re.compile(r"((?:\A|\s)[^\W\d_]+)\.\Z")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])[\u2019\u02bc](?=[^\W\d_])")
# A word between blanks, with what may close it.
_WORD = re.compile(r"(?<!\S)[^\W\d_]+(?:'[^\W\d_]+)?(?=[.,;:!?)]*(?:\s|\Z))")
_FIRST = re.compile(r"[^\W\d_]+(?!\S)")
_CONTRACTIONS = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "i'm": ("I", "am"),
} | {
    f"{word}n't": (word, "not")
    for word in (
        "do does did is are was were has have had could should would must need might".split()
    )
} | {f"{word}'re": (word, "are") for word in ("you", "we", "they")} | {
    f"{word}'ll": (word, "will") for word in ("i", "you", "he", "she", "it", "we", "they")
}  # fmt: skip
CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july september october "
    "november december".split()
)
_OPENERS = re.compile(
    r"\A(?:(?:please )?(?:note|remember|reminder|fyi|nb|hinweis|merke|nota|recuerda|rappel|remarque|важно|"
    r"примечание|напоминание)(?: that|:| :) )",
    re.IGNORECASE,
)


def exact_form(text: str) -> str:
    """NFKC, but for forms that are another value, without the white space around the text."""
    return plain(text).strip()


def typed_form(text: str) -> str:
    """The text in a language that is known; equal ones say the same in the same words.

    Left out: one full stop after a word of letters at the very end, the capital of the first word, a bent apostrophe
    inside a word, English contractions, the capital of a day or month, and openers such as `Note:`.
    """
    form = _OPENERS.sub("", _LAST_STOP.sub(r"\1", exact_form(text)))
    parts: list[str] = []
    at = 0
    for match in _QUOTED.finditer(form):
        parts += [_typed(form[at : match.start()]), match.group()]
        at = match.end()
    form = "".join([*parts, _typed(form[at:])])
    first = _FIRST.match(form)
    return form if first is None or not is_capitalised(first.group()) else form[0].lower() + form[1:]


def _typed(text: str) -> str:
    text = _APOSTROPHE.sub("'", text)
    return _WORD.sub(lambda match: " ".join(_expanded(match.group())), text)


def _spaced_form(text: str) -> str:
    """With runs of blanks outside quotes as one blank."""
    text = exact_form(text)
    parts: list[str] = []
    at = 0
    for match in _QUOTED.finditer(text):
        parts += [_spaced(text[at : match.start()]), match.group()]
        at = match.end()
    return "".join([*parts, _spaced(text[at:])])


def tokens(text: str) -> tuple[str, ...]:
    """The words and signs of a text in a language that is known, for who compares two and does not merge them.

    Left out: what `typed_form` leaves out, blanks, and how quotes, apostrophes and dashes are drawn.
    """
    form = _FULL_STOP.sub("", _spaced_form(text))
    form = _OPENERS.sub("", form)
    found: list[str] = []
    at = 0
    for match in _QUOTED.finditer(form):
        found.extend(_words(form[at : match.start()]))
        found.append(_quote(match.group()))
        at = match.end()
    found.extend(_words(form[at:]))
    if found and is_capitalised(found[0]):
        found[0] = found[0].lower()
    return tuple(found)


def is_capitalised(token: str) -> bool:
    """Whether it is a word of at least two letters of which the first alone is a capital."""
    return len(token) > 1 and token.isalpha() and token[0].isupper() and token[1:] == token[1:].lower()


def is_quote(token: str) -> bool:
    """Whether the token is what stood between quotes."""
    return token[:1] == '"'


def plain(text: str) -> str:
    """NFKC without the mappings that change a value."""
    if text.isascii():
        return text
    return "".join(
        "".join(run) if telling else unicodedata.normalize("NFKC", "".join(run))
        for telling, run in groupby(text, key=_is_telling)
    )


def _is_telling(character: str) -> bool:
    return unicodedata.decomposition(character).startswith(_TELLING)


def _spaced(text: str) -> str:
    return _BLANKS.sub(" ", _LINE_END.sub("\n", text))


def _quote(text: str) -> str:
    return text if text[0] == "`" else f'"{text[1:-1]}"'


def _words(text: str) -> Iterator[str]:
    for chunk in _CHUNK.findall(text.translate(_STYLES)):
        start, end = 0, len(chunk)
        while start < end and chunk[start] in _OPENING:
            start += 1
        while end > start and chunk[end - 1] in _CLOSING:
            end -= 1
        if start == end:
            yield chunk
            continue
        yield from chunk[:start]
        yield from _expanded(chunk[start:end])
        yield from chunk[end:]


def _expanded(word: str) -> tuple[str, ...]:
    if word.lower() in CALENDAR and (is_capitalised(word) or word.islower()):
        return (word.lower(),)
    found = _CONTRACTIONS.get(word.lower())
    if found is None or not (word.islower() or word[0].isupper()):
        return (word,)
    first = found[0].capitalize() if word[0].isupper() else found[0]
    return (first, *found[1:])
