"""What a statement says of what: so that two that say different things of the same are found, without a model.

Owns: `topic_of`. Guarantees: pure; two statements contradict each other where their topics have one key and different
values, and only then. The rules are narrow, since most pairs that look alike are both true: a definite subject, a
verb that sets it equal, and a value of a kind that a thing has one of (a number, a time, a place or person by name,
or anything for attributes such as a password or a favourite); or the same words, once with a negation.
Gives up: languages other than those of the tables, and what only knowledge of the world tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lodestore.retrieval.sameness import Reading, read
from lodestore.retrieval.verbatim import CALENDAR, is_capitalised, is_quote

_EQUAL: Final = frozenset(
    "is are = ist sind beträgt lautet heißt est sont es está son é è jest равен равна равно составляет".split()
)
_DEFINITE: Final = frozenset(
    "the my our your his her their its this der die das mein meine unser unsere le la les l' mon ma notre el los las "
    "mi nuestro nuestra o a il lo nosso nossa".split()
)
_AT: Final = frozenset(
    "in at on by from until before after since under over below above um am im bis vor nach à en le dans de a el para "
    "em в на до после с".split()
)
# A thing has one of these, whatever it is.
_ONE_OF: Final = frozenset(
    "colour color name password passcode code pin address email phone birthday owner lead leader manager "
    "capital deadline port url branch timezone language editor version status budget limit timeout "
    "salary age price size".split()
)
_FAVOURITE: Final = frozenset(("favourite", "favorite"))
_NEGATIONS: Final = {
    "english": frozenset({"not", "never"}),
    "german": frozenset({"nicht", "nie"}),
    "french": frozenset({"pas", "jamais"}),
    "spanish": frozenset({"no", "nunca"}),
    "portuguese": frozenset({"não", "nunca"}),
    "italian": frozenset({"non", "mai"}),
    "russian": frozenset({"не", "никогда"}),
}
# What comes or goes with a negation.
_BESIDE: Final = frozenset({"do", "doe", "did", "ne", "n'", "longer"})
_MOST_VALUE: Final = 6
_MOST_TOKENS: Final = 40


@dataclass(frozen=True, slots=True)
class Topic:
    """key: equal where two statements are about the same; value: what this one says; kind: which rule found it."""

    key: str
    value: str
    kind: str


def topic_of(text: str, reading: Reading | None = None) -> Topic | None:
    """The topic of a statement; None where no rule applies. `reading`, if it was read before, saves the work."""
    reading = reading or read(text)
    if reading.language is None:
        return None
    words = reading.words
    if not 2 < len(words) <= _MOST_TOKENS:
        return None
    return _attribute(words) or _polarity(reading, reading.language)


def contradict(one: Topic | None, other: Topic | None) -> bool:
    """Whether two statements say different things of the same."""
    return one is not None and other is not None and one.key == other.key and one.value != other.value


def _attribute(words: tuple[str, ...]) -> Topic | None:
    at = next((n for n, word in enumerate(words) if word.lower() in _EQUAL and n), None)
    if at is None or not _is_definite(words[:at]):
        return None
    subject, value = words[:at], words[at + 1 :]
    if not 0 < len(value) <= _MOST_VALUE:
        return None
    if value[0].lower() in _AT and len(value) > 1:
        kind, rest = _kind(value[1:])
        return _topic(subject, value[0], kind, value[1:], rest) if kind else None
    kind, rest = _kind(value)
    if not kind and _has_one(subject) and value[0] not in ("not", "a", "an"):
        kind = "attribute"
    return _topic(subject, "", kind, value, rest) if kind else None


def _topic(
    subject: tuple[str, ...], preposition: str, kind: str, value: tuple[str, ...], rest: tuple[str, ...]
) -> Topic:
    said = value[: len(value) - len(rest)] if rest else value
    key = "\x1f".join(["is", *subject, preposition, kind, *rest])
    return Topic(key, " ".join(said), kind)


def _is_definite(subject: tuple[str, ...]) -> bool:
    return subject[0].lower() in _DEFINITE or any("'s" in word for word in subject) or _has_one(subject)


def _has_one(subject: tuple[str, ...]) -> bool:
    return bool(_FAVOURITE.intersection(subject)) or subject[-1] in _ONE_OF


def _kind(value: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The kind of a value that a thing has one of, and what follows it, which both have to say; "": no such value."""
    if any(character.isdigit() for character in value[0]):
        return "number", value[1:]
    if is_quote(value[0]) and len(value) == 1:
        return "quote", ()
    if value[0] in CALENDAR:
        return "day", value[1:]
    named = next((n for n, word in enumerate(value) if not is_capitalised(word)), len(value))
    return ("name", value[named:]) if named else ("", ())


def _polarity(reading: Reading, language: str) -> Topic | None:
    negations = _NEGATIONS.get(language)
    if negations is None:
        return None
    gone = _BESIDE | {"no"} if "longer" in reading.wording else _BESIDE
    said = [word for word in reading.wording if word in negations or word == "longer"]
    bare = tuple(word for word in reading.wording if word not in negations and word not in gone)
    # Of two negations, or a text of nothing else, nobody can say what it denies.
    if len(said) > 1 or len(bare) < 2:
        return None
    return Topic("\x1f".join(["says", language, *bare]), "no" if said else "yes", "negation")
