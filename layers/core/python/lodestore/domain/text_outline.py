"""The short forms of a long memory: its abstract and its outline, by rule and without a model.

Owns: where a sentence ends and which lines of a text carry its structure.
Guarantees: the same text gives the same form everywhere; within the budget; every word is the text's own, in order.
Gives up: meaning. The first sentence need not be the main one; a table, a quotation or code shows its beginning
only; an unlisted abbreviation before a capital ("Univ. Press") ends a sentence; Thai and Lao, which mark none, end
at the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lodestore.domain.text_shortening import ELLIPSIS, shorten, shorten_to_characters

LIST_ITEM_CHARACTERS = 120
PARAGRAPH_CHARACTERS = 240

# Full-width and Indic, Urdu, Ethiopic, Armenian, Khmer, Myanmar and Tibetan stops need no space after them.
_STOP_ALONE = (
    "\u3002\uff01\uff1f\uff61\u0964\u0965\u06d4\u061f\u1362\u1367"
    "\u1368\u0589\u17d4\u104b\u0f0d\u203c\u2047-\u2049"
)
_CLOSING = "\"'`)\\]}\u00bb\u2019\u201d\u300d\u300f\uff09"
_SENTENCE_END = re.compile(
    f"[{_STOP_ALONE}][{_CLOSING}]{{0,3}}|[.!?\u2026][.!?]{{0,3}}[{_CLOSING}]{{0,3}}(?=\\s|$)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"']{1,16}$")
_ABBREVIATIONS = frozenset(
    "approx bzw ca cf cp dr e.g ed eds eq etc evtl fig ggf i.e incl inkl jr max min mme mr mrs ms no nr op p.ej pp"
    " prof pr resp sec sr st usw vgl vol vs z.b".split()
)
_HEADING = re.compile(r"#{1,6}[ \t]+")
_LIST_ITEM = re.compile(r"(?:[-*+\u2022]|\d{1,4}[.)])[ \t]+")
_FENCE = re.compile(r"`{3,}|~{3,}")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})$")
_QUOTE = re.compile(r"(?:>[ \t]?)+")


def first_sentence(text: str, max_chars: int) -> str:
    """The abstract: the first sentence of the first line that has words, without its heading, list or quote mark.

    At most `max_chars` code points, ending in an ellipsis where cut by length. "" for a text without words.
    """
    for line in text.split("\n"):
        plain = _without_mark(line.strip())
        if any(character.isalnum() for character in plain):
            return shorten_to_characters(plain[: _sentence_end(plain)], max_chars)[0]
    return shorten_to_characters(text.strip().partition("\n")[0], max_chars)[0]


def outline(text: str, max_bytes: int) -> str:
    """One line for each heading (whole), list item (its first sentence, 120 characters), paragraph (the same, 240)
    and code block (its opening line), at most `max_bytes` bytes; the last is an ellipsis where lines were left out.
    """
    lines = list(_outline_lines(text))
    whole = "\n".join(lines)
    if len(whole.encode()) <= max_bytes:
        return whole
    kept: list[str] = []
    left = max_bytes - len(ELLIPSIS.encode())
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join((*kept, ELLIPSIS)) if kept else shorten(lines[0], max_bytes)[0]


def _outline_lines(text: str) -> Iterator[str]:
    lines = text.split("\n")
    fence = ""
    in_paragraph = False
    for at, raw in enumerate(lines):
        line = raw.strip()
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[0].startswith(fence) and line == mark[0] else fence
            continue
        if mark:
            fence, in_paragraph = mark[0], False
            yield f"{line} {ELLIPSIS}"
        elif not line or _UNDERLINE.match(line):
            in_paragraph = False
        elif _HEADING.match(line) or _is_underlined(lines, at, in_paragraph):
            in_paragraph = False
            yield line
        elif item := _LIST_ITEM.match(line):
            in_paragraph = True
            yield item[0] + _beginning(line[item.end() :], LIST_ITEM_CHARACTERS)
        elif not in_paragraph:
            in_paragraph = True
            yield _beginning(_without_mark(line), PARAGRAPH_CHARACTERS)


def _is_underlined(lines: list[str], at: int, in_paragraph: bool) -> bool:
    return not in_paragraph and at + 1 < len(lines) and _UNDERLINE.match(lines[at + 1].strip()) is not None


def _beginning(line: str, max_chars: int) -> str:
    return shorten_to_characters(line[: _sentence_end(line)], max_chars)[0]


def _without_mark(line: str) -> str:
    for pattern in (_QUOTE, _HEADING, _LIST_ITEM):
        if mark := pattern.match(line):
            line = line[mark.end() :]
    return line


def _sentence_end(line: str) -> int:
    for end in _SENTENCE_END.finditer(line):
        if not _continues(line, end.start(), end.end()):
            return end.end()
    return len(line)


def _continues(line: str, stop: int, end: int) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or a number, so that the sentence goes on."""
    if line[stop] != "." or end == len(line):
        return False
    word = _LAST_WORD.search(line, max(stop - 16, 0), stop)
    last = word[0].lower() if word else ""
    following = line[end:].lstrip()[:1]
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()) or following.islower()
