"""A Markdown text as the pieces that can stand alone.

Owns: where a piece begins and ends: an item of a list with what is nested in it, or what stands between two headings or
lists. Guarantees: text in a code block is never taken for a heading or an item (CommonMark, by markdown-it); each piece
knows the headings above it and its line. Gives up: HTML comments, rules and link definitions.

Source: CommonMark 0.31.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise, takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LISTS = ("bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece. `line`: its first, from 1; `path`: the headings above it; `item`: whether it is an item of a list."""

    line: int
    path: tuple[str, ...]
    text: str
    item: bool


def blocks(text: str) -> Iterator[Block]:
    """The pieces in their order."""
    # Line ends as markdown-it counts them.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    tokens = _parser().parse(text)
    path: dict[int, str] = {}
    prose: list[Token] = []
    for at, (token, following) in enumerate(pairwise([*tokens, Token("end", "", 0)]), 1):
        if token.level or token.map is None:
            continue
        if token.type == "heading_open":
            yield from _prose(prose, path, lines)
            depth = int(token.tag[1:])
            path = {level: name for level, name in path.items() if level < depth} | {depth: following.content}
        elif token.type in _LISTS:
            lead = _lead(prose, lines)
            yield from _prose(prose[:-1] if lead else prose, path, lines)
            yield from _items(islice(tokens, at, None), (*path.values(), *lead), lines)
        elif token.type != "hr" and not (
            token.type == "html_block" and token.content.lstrip().startswith("<!--")
        ):
            prose.append(token)
            continue
        else:
            continue
        prose = []
    yield from _prose(prose, path, lines)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark")
    # What a line holds is not looked into, and can't cost time.
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _lead(prose: list[Token], lines: list[str]) -> tuple[str, ...]:
    """`Commands:` before a list belongs to each of its items."""
    text = _source(prose[-1], lines) if prose and prose[-1].type == "paragraph_open" else ""
    return (text[:-1].strip(),) if text.endswith(":") and "\n" not in text else ()


def _prose(tokens: list[Token], path: dict[int, str], lines: list[str]) -> Iterator[Block]:
    text = "\n\n".join(filter(None, (_source(token, lines) for token in tokens)))
    if text:
        yield Block(_line(tokens[0]), tuple(path.values()), text, item=False)


def _items(behind: Iterator[Token], path: tuple[str, ...], lines: list[str]) -> Iterator[Block]:
    """The items of the list that `behind` is the inside of."""
    for token in takewhile(lambda token: token.level, behind):
        if token.type == "list_item_open" and token.level == 1:
            body = _source(token, lines).removeprefix(token.info + token.markup).strip()
            if body:
                yield Block(_line(token), path, body, item=True)


def _source(token: Token, lines: list[str]) -> str:
    start, end = token.map or (0, 0)
    return "\n".join(lines[start:end]).strip()


def _line(token: Token) -> int:
    return (token.map or (0, 0))[0] + 1
