"""Whether two statements say the same thing, judged without a model.

Owns: `Reading` (a text as it is judged) and the verdicts. Guarantees: pure; SAME is an equality of forms, so it is
transitive, and no chain of near ones can join two that differ (`same_form` equal, and only then); every number, date,
unit, negation, quantifier, name, quote, identifier and path counts, in its place, since every token does; where the
language is not known, or its script has no words apart, only the same text counts.
Gives up: other words for the same thing. WORDING is for a person to decide: the same words in the same order but for
their inflection, articles and capitals.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lodestore.retrieval.known_language import language_of
from lodestore.retrieval.stemming import stem
from lodestore.retrieval.verbatim import exact_form, is_capitalised, is_quote, tokens, typed_form

# A text with a word only this long at most has no inflection to look for.
_SHORT = 3
# Articles that tell no role; German ones do, and their languages are not here.
_ARTICLES = {
    "english": frozenset({"a", "an", "the"}),
    "french": frozenset({"le", "la", "les", "un", "une"}),
    "spanish": frozenset({"el", "la", "los", "las", "un", "una"}),
    "portuguese": frozenset({"o", "a", "os", "as", "um", "uma"}),
    "italian": frozenset({"il", "lo", "la", "i", "gli", "le", "un", "una"}),
    "dutch": frozenset({"de", "het", "een"}),
}
# `a few` is not `few`.
_NOT_BEFORE = frozenset({"few", "little", "lot", "couple"})


class Sameness(StrEnum):
    """same: in the same words. wording: perhaps, in other forms of the words. different: not to be taken for one."""

    SAME = "same"
    WORDING = "wording"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as it is judged.

    same_form   equal where two texts say the same in the same words, and only there
    language    None where it is not known; then the two forms are the text's own
    wording     equal where they may say the same in other forms of the words
    words       its tokens; none where the language is not known
    """

    same_form: str
    language: str | None
    wording: tuple[str, ...]
    words: tuple[str, ...] = ()


def read(text: str) -> Reading:
    """Read a text once; it is then compared with any number of others."""
    language = language_of(text)
    if language is None:
        form = exact_form(text)
        return Reading(f"text\n{form}", None, (form,))
    words = tokens(text)
    return Reading(f"words\n{typed_form(text)}", language, _wording(words, language), words)


def judge(one: Reading, other: Reading) -> Sameness:
    """The verdict on two readings; the order makes no difference."""
    if one.same_form == other.same_form:
        return Sameness.SAME
    if one.language is None or one.language != other.language or one.wording != other.wording:
        return Sameness.DIFFERENT
    return Sameness.WORDING


def _wording(words: tuple[str, ...], language: str) -> tuple[str, ...]:
    articles = _ARTICLES.get(language, frozenset())
    following = (*words[1:], "")
    return tuple(
        _stemmed(word, language)
        for word, after in zip(words, following, strict=True)
        if not (word in articles and after not in _NOT_BEFORE)
    )


def _stemmed(word: str, language: str) -> str:
    if is_quote(word) or not word.isalpha() or len(word) <= _SHORT:
        return word
    return stem(word.lower(), language) if word.islower() or is_capitalised(word) else word
