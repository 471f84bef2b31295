"""Terms of writing without spaces, and of emoji.

Owns: what the units of such writing are, and which units and pairs mean nothing in a query.
Guarantees: any run of one or more units of a text is found by itself; linear time; two terms a unit at most.
Gives up: words. A pair may straddle two of them, and traditional and simplified Chinese stay apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from lodestore.retrieval import scripts
from lodestore.retrieval.folding import fold
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.segmentation import Piece, PieceKind

# What of these alone is grammar in Chinese; then Japanese pairs and Korean particles and endings that are.
_FUNCTION_CHARACTERS: Final = frozenset(
    "的了是在有与與和及或也都而但被把从從到对對就这這那哪什么麼甚谁誰怎样樣多少几幾何时時候"
    "我你您他她它们們之其于於以为為因所会會吗嗎呢吧啊着著过過得地个個不"
)
_FUNCTION_TERMS: Final = frozenset(
    """
    です ます した して する れる られ ある いる ない たい から まで より など こと もの ため よう
    そう この その あの どの これ それ あれ どれ ここ そこ どこ いつ なに なぜ だれ って ては では
    には とは のは のが のを のに んで んだ った えば れば でし まし せん だっ かっ なっ
    은 는 이 가 을 를 의 에 도 로 와 과 한 하 다 고 지 서 니 요 까 니다 니까 습니
    합니 입니 하는 에서 으로 에게 했다 한다 이다
    """.split()
)

MAX_SYLLABLE_LENGTH: Final = 16
"""Characters of one unit of Thai-like writing; marks piled up beyond it begin another."""
MAX_EMOJI_LENGTH: Final = 32
"""Characters of an emoji that tell it from others; the longest in Unicode has 14."""

# Vowels written before their consonant; signs that put the next one below (Khmer coeng, Burmese virama).
_JOINS_NEXT: Final = frozenset("เแโใไເແໂໃໄ\u17d2\u1039")
_VOWELS_AFTER: Final = frozenset("ะาๅๆฯະາໆຽ")
# Burmese asat: the consonant before it closes the syllable before.
_CLOSER: Final = "\u103a"


def index_terms(piece: Piece) -> list[str]:
    """Every unit, then every pair of neighbours. An emoji: the whole, then what it is joined from."""
    if piece.kind is PieceKind.EMOJI:
        return _emoji_terms(piece)
    units = _units(piece)
    return [*units, *_pairs(units)]


def query_terms(piece: Piece) -> list[QueryTerm]:
    """Units and pairs alike, since words of one character are common. An emoji is one term of several forms."""
    if piece.kind is PieceKind.EMOJI:
        return [QueryTerm(tuple(dict.fromkeys(_emoji_terms(piece))))]
    return [QueryTerm((term,)) for term in index_terms(piece)]


def is_function_term(term: QueryTerm) -> bool:
    """Whether a term of `query_terms` is grammar rather than topic: so is any single kana."""
    text = term.forms[0]
    return (
        text in _FUNCTION_TERMS
        or _FUNCTION_CHARACTERS.issuperset(text)
        or (len(text) == 1 and _is_kana(text))
    )


def _is_kana(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff"


def _pairs(units: Sequence[str]) -> list[str]:
    return [first + second for first, second in pairwise(units)]


def _units(piece: Piece) -> Sequence[str]:
    text = fold(piece.text)
    return _syllables(text) if piece.kind is PieceKind.SPACELESS else text


def _syllables(text: str) -> list[str]:
    """Letters with the marks and vowels written around them: near to syllables, in any of these scripts."""
    syllables: list[str] = []
    previous = ""
    for character, role in zip(text, scripts.roles(text), strict=True):
        joins = role == scripts.MARK or character in _VOWELS_AFTER or previous in _JOINS_NEXT
        if joins and syllables and len(syllables[-1]) < MAX_SYLLABLE_LENGTH:
            syllables[-1] += character
        else:
            syllables.append(character)
        if character == _CLOSER and len(syllables) > 1:
            closing = syllables.pop()
            syllables[-1] += closing
        previous = character
    return syllables


def _emoji_terms(piece: Piece) -> list[str]:
    shown = [
        (character, role)
        for character, role in zip(piece.text, scripts.roles(piece.text), strict=True)
        if role != scripts.VARIATION_SELECTOR
    ]
    whole = "".join(character for character, _ in shown)[:MAX_EMOJI_LENGTH]
    joined_from = [character for character, role in shown if role == scripts.EMOJI]
    return [whole] if joined_from == [whole] else [whole, *joined_from]
