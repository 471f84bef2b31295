"""Makes the filter of the token estimate from the vocabulary, and judges the estimate on texts.

Owns: reading the vocabulary's tokens, the texts, the report. Guarantees: the same filter, byte for byte, from the same
vocabulary; nothing is fitted to a text, so that every text may judge. Gives up: pieces of more than
`CHARACTERS_MOST` characters.

Run: `python -m benchmarks.token_pieces` (needs XQuAD and LoCoMo beside the checkout, npm for the vocabulary).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from benchmarks.locomo import read_conversations
from benchmarks.xquad import LANGUAGES, read_language
from lodestore.domain.token_estimate import estimate_tokens
from lodestore.domain.token_pieces import CHARACTERS_MOST, FILE, made_of
from tests.system.processes import ROOT
from tests.unit.domain.vocabulary import count_tokens, tokens

CHARACTERS_LEAST = 200
CODE_CHARACTERS = 900
CODE = ("functions", "tests/services", "benchmarks", "layers/core/python/lodestore/services")
KINDS = (*LANGUAGES, *(f"{language} questions" for language in LANGUAGES), "code", "json")
TURNS_A_TEXT = 5
TEXTS_OF_CONVERSATION = 300


def filter_of_the_vocabulary() -> bytes:
    """What the file holds. Raises NotInstallable."""
    return made_of(token for token in tokens() if len(token.decode(errors="replace")) <= CHARACTERS_MOST)


def judging_texts() -> dict[str, list[str]]:
    """Texts of 200 characters or more by kind: XQuAD's paragraphs, each one's questions, code, JSON."""
    paragraphs = {language: list(read_language(language).paragraphs) for language in LANGUAGES}
    asked = {f"{language} questions": _questions(language) for language in LANGUAGES}
    texts = {**paragraphs, **asked, "code": _code(), "json": _json()}
    return {kind: [text for text in held if len(text) >= CHARACTERS_LEAST] for kind, held in texts.items()}


def ratios(texts: Sequence[str]) -> list[float]:
    """Estimate by count, the lowest first. Raises NotInstallable."""
    return sorted(
        estimate_tokens(text) / count for text, count in zip(texts, count_tokens(texts), strict=True)
    )


def main() -> None:
    """Write the filter, then print for every kind the lowest, middle and highest ratio."""
    Path(str(FILE)).write_bytes(filter_of_the_vocabulary())
    for kind, texts in judging_texts().items():
        found = ratios(texts)
        print(f"{kind:16} {len(found):5} {found[0]:.2f} {found[len(found) // 2]:.2f} {found[-1]:.2f}")


def _questions(language: str) -> list[str]:
    joined: dict[int, str] = {}
    for question in read_language(language).questions:
        joined[question.paragraph] = f"{joined.get(question.paragraph, '')}{question.text}\n"
    return list(joined.values())


def _code() -> list[str]:
    files = [file for folder in CODE for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file.read_text(encoding="utf-8")[:CODE_CHARACTERS] for file in files]


def _json() -> list[str]:
    turns = [turn for one in read_conversations() for session in one.sessions for turn in session.turns]
    texts = []
    for first in range(0, TEXTS_OF_CONVERSATION * TURNS_A_TEXT, TURNS_A_TEXT):
        some = turns[first : first + TURNS_A_TEXT]
        rows = [
            {
                "id": sha256(turn.text.encode()).hexdigest()[:32],
                "source": turn.speaker,
                "content": turn.text,
                "pinned": False,
            }
            for turn in some
        ]
        texts.append(json.dumps(rows, indent=2 if first % 2 else None))
    return texts


if __name__ == "__main__":
    main()
