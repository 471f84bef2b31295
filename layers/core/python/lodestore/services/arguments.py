"""Arguments of a tool call: forgiving in form, strict in meaning (`interface.md`, "Tools").

Owns: reading one named argument as text, number, list and so on, and every error a bad one gets.
Guarantees: an unknown argument, an unknown value and one out of range are refused by name, with limit and size;
"", {}, [] and null mean absent; JSON strings stand for lists and objects, strings for numbers and truth values, one
string for a list of one (B31, B32). Text comes out cleaned.
Gives up: rules that span arguments; each tool has those.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from lodestore.domain import limits
from lodestore.domain.identity import is_memory_id
from lodestore.domain.moments import parse_moment
from lodestore.domain.text import LoneSurrogate, byte_length, clean
from lodestore.errors import InvalidArgument, TooLarge

Choice = TypeVar("Choice", bound=StrEnum)
_ECHO = 60
_CLEANING_SHORTENS = 4
# Texts in which every word means itself.
VERBATIM = frozenset({"content", "query"})


class Arguments:
    """The arguments of one call. `allowed` are the names that the tool knows."""

    def __init__(self, tool: str, given: Mapping[str, object], allowed: Sequence[str]) -> None:
        for name in given:
            if name not in allowed:
                raise InvalidArgument(
                    f"{tool} has no argument {_echo(name)!r}.",
                    field=_echo(name),
                    limit=", ".join(allowed) or "no arguments",
                    got=_echo(name),
                    next_step=f"Leave it out, or use one of: {', '.join(allowed)}."
                    if allowed
                    else "Leave it out.",
                )
        self._tool = tool
        self._given = {name: value for name, value in given.items() if not _is_absent(name, value)}

    def has(self, name: str) -> bool:
        """Whether the argument is there and not empty."""
        return name in self._given

    def text(self, name: str, *, most_bytes: int) -> str | None:
        """Cleaned text of at most `most_bytes` UTF-8 bytes; None where absent or empty after cleaning."""
        text = self._cleaned(name, most_bytes)
        if text is not None:
            _check_bytes(name, text, most_bytes)
        return text

    def required_text(self, name: str, *, most_bytes: int) -> str:
        """As `text`, and there. A text that is empty after cleaning is refused like a missing one."""
        text = self.text(name, most_bytes=most_bytes)
        if text is None:
            came = "nothing" if not self.has(name) else "only characters that are removed (blanks, controls)"
            raise InvalidArgument(
                f"{name} is required and was {came}.",
                field=name,
                limit=f"1 to {most_bytes} bytes",
                got=0,
                next_step=f"Call {self._tool} again with {name}.",
            )
        return text

    def query(self, name: str = "query") -> str | None:
        """Cleaned text of at most 2,000 characters; None where absent or blank."""
        text = self._raw_text(name)
        text = (
            text
            if text is None or len(text) > limits.QUERY_CHARACTERS * _CLEANING_SHORTENS
            else _clean(name, text)
        )
        if not text:
            return None
        if len(text) > limits.QUERY_CHARACTERS:
            raise TooLarge(
                f"{name} has {len(text):,} characters; at most {limits.QUERY_CHARACTERS:,}.",
                field=name,
                limit=limits.QUERY_CHARACTERS,
                got=len(text),
                next_step="Ask for the few words that matter.",
            )
        return text

    def identifier(self, name: str) -> str | None:
        """A well-formed memory id or None where absent."""
        value = self._given.get(name)
        return None if value is None else self._one_id(name, value)

    def required_identifier(self, name: str = "id") -> str:
        value = self.identifier(name)
        if value is None:
            raise InvalidArgument(
                f"{name} is required.",
                field=name,
                limit="an id as shown by recall or list_memories",
                next_step="Call recall or list_memories to get a current id.",
            )
        return value

    def identifiers(self, name: str, *, most: int) -> tuple[str, ...] | None:
        """Distinct well-formed ids in the order given."""
        values = self._list(name, most)
        return None if values is None else tuple(dict.fromkeys(self._one_id(name, value) for value in values))

    def key(self, name: str) -> str | None:
        """An idempotency key: 1 to 128 characters of any kind."""
        text = self._cleaned(name, limits.ID_CHARACTERS)
        if text is not None and len(text) > limits.ID_CHARACTERS:
            raise _too_long(name, len(text), limits.ID_CHARACTERS, "characters")
        return text

    def texts(self, name: str, *, most: int, most_bytes: int) -> tuple[str, ...] | None:
        """Distinct cleaned texts in the order given, each bounded; None where absent."""
        values = self._list(name, most)
        if values is None:
            return None
        cleaned: dict[str, None] = {}
        for value in values:
            if not isinstance(value, str):
                raise self._wrong(name, "a list of texts", value)
            text = self._clean_bounded(name, value, most_bytes)
            _check_bytes(name, text, most_bytes)
            if not text:
                raise self._wrong(name, "texts of characters that stay (no lone controls or blanks)", value)
            cleaned[text] = None
        return tuple(cleaned) or None

    def choice(self, name: str, kind: type[Choice]) -> Choice | None:
        """One of the values of `kind`."""
        value = self._given.get(name)
        return None if value is None else self._one_of(name, value, kind)

    def choices(self, name: str, kind: type[Choice]) -> tuple[Choice, ...] | None:
        """One or several of the values of `kind`."""
        values = self._list(name, len(kind))
        return (
            None
            if values is None
            else tuple(dict.fromkeys(self._one_of(name, value, kind) for value in values))
        )

    def number(self, name: str, *, least: float, most: float, above: bool = False) -> float | None:
        """A finite number in the range; `above`: `least` itself is not allowed."""
        value = self._given.get(name)
        if value is None:
            return None
        number = _as_number(value)
        if number is None or not (least < number if above else least <= number) or number > most:
            bound = f"more than {least:g}, at most {most:g}" if above else f"{least:g} to {most:g}"
            raise self._wrong(name, f"a number, {bound}", value)
        return number

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        """A whole number in the range."""
        value = self._given.get(name)
        if value is None:
            return None
        number = _as_number(value)
        if number is None or number != int(number) or not least <= number <= most:
            raise self._wrong(name, f"a whole number, {least:,} to {most:,}", value)
        return int(number)

    def flag(self, name: str) -> bool | None:
        """true or false, also as text."""
        value = self._given.get(name)
        if value is None or isinstance(value, bool):
            return value
        word = value.strip().lower() if isinstance(value, str) else value
        if word in ("true", "1", 1):
            return True
        if word in ("false", "0", 0):
            return False
        raise self._wrong(name, "true or false", value)

    def moment(self, name: str) -> datetime | None:
        """An RFC 3339 time; a naive time or a bare date is UTC."""
        value = self._given.get(name)
        if value is None:
            return None
        try:
            if not isinstance(value, str):
                raise ValueError
            return parse_moment(value)
        except ValueError:
            raise self._wrong(
                name, "a time such as 2026-03-09T01:30:00Z or a date such as 2026-03-09", value
            ) from None

    def mapping(self, name: str, *, most_bytes: int, most_depth: int) -> Mapping[str, object] | None:
        """A JSON object, cleaned throughout, bounded in bytes (as compact JSON) and depth."""
        value = _decoded(self._given.get(name))
        if value is None or value == {}:
            return None
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        if _depth(value, most_depth + 1) > most_depth:
            raise _too_long(name, f"more than {most_depth}", most_depth, "levels")
        cleaned = _clean_json(name, value)
        assert isinstance(cleaned, dict)
        size = len(json.dumps(cleaned, ensure_ascii=False, separators=(",", ":")).encode())
        if size > most_bytes:
            raise _too_long(name, size, most_bytes, "bytes as JSON")
        return cleaned

    def names(self, name: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """Field names out of `allowed`; empty where absent."""
        values = self._list(name, len(allowed)) or []
        for value in values:
            if value not in allowed:
                raise self._wrong(name, " | ".join(allowed), value)
        return tuple(dict.fromkeys(str(value) for value in values))

    def _raw_text(self, name: str) -> str | None:
        value = self._given.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "text", value)
        return value

    def _cleaned(self, name: str, most_bytes: int) -> str | None:
        value = self._raw_text(name)
        if value is None:
            return None
        text = self._clean_bounded(name, value, most_bytes)
        if not text:
            raise self._wrong(name, "text of characters that stay (no lone controls or blanks)", value)
        return text

    def _clean_bounded(self, name: str, text: str, most_bytes: int) -> str:
        """Cleaning makes a text shorter, but not what is four times too long; that is not worth the work."""
        if len(text) > most_bytes * _CLEANING_SHORTENS:
            raise _too_long(name, len(text), most_bytes, "bytes")
        return _clean(name, text)

    def _list(self, name: str, most: int) -> list[object] | None:
        value = self._given.get(name)
        if value is None:
            return None
        decoded = _decoded(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
        values = decoded if isinstance(decoded, list) else [value]
        values = [item for item in values if not _is_absent(name, item)]
        if len(values) > most:
            raise _too_long(name, len(values), most, "items")
        if any(not isinstance(item, str) for item in values):
            raise self._wrong(
                name, "a text or a list of texts", next(i for i in values if not isinstance(i, str))
            )
        return values or None

    def _one_id(self, name: str, value: object) -> str:
        text = value.strip() if isinstance(value, str) else ""
        if not is_memory_id(text):
            raise self._wrong(
                name, "1 to 128 characters A-Z a-z 0-9 . _ - and a letter or digit first", value
            )
        return text

    def _one_of(self, name: str, value: object, kind: type[Choice]) -> Choice:
        word = value.strip().lower() if isinstance(value, str) else value
        for member in kind:
            if word == member.value:
                return member
        raise self._wrong(name, " | ".join(member.value for member in kind), value)

    def _wrong(self, name: str, allowed: str, value: object) -> InvalidArgument:
        return InvalidArgument(
            f"{name} must be {allowed}.",
            field=name,
            limit=allowed,
            got=_echo(value),
            next_step=f"Call {self._tool} again with {name} in that form, or without it if it is optional.",
        )


def _is_absent(name: str, value: object) -> bool:
    if isinstance(value, str):
        # Models write null for an argument that they leave out; only what is stored or searched may be that word.
        return not value.strip() or (name not in VERBATIM and value.strip() in ("[]", "{}", "null"))
    return value is None or (isinstance(value, list | dict) and not value)


def _echo(value: object) -> str:
    """What came, short and printable: a type and a size for anything long or structured."""
    if isinstance(value, bool | int | float):
        return str(value)[:_ECHO]
    if isinstance(value, str):
        shown = value.encode("ascii", "backslashreplace").decode() if not value.isprintable() else value
        return shown if len(shown) <= _ECHO else f"text of {len(value):,} characters"
    if isinstance(value, list | dict):
        return f"{'list' if isinstance(value, list) else 'object'} of {len(value):,}"
    return type(value).__name__


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _as_number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _clean(name: str, text: str) -> str:
    try:
        return clean(text)
    except LoneSurrogate:
        raise InvalidArgument(
            f"{name} holds a lone surrogate, half of a character.",
            field=name,
            limit="well-formed Unicode",
            got=f"text of {len(text):,} characters",
            next_step="Send both halves of the character, or leave it out.",
        ) from None


def _clean_json(name: str, value: object) -> object:
    if isinstance(value, str):
        return _clean(name, value)
    if isinstance(value, list):
        return [_clean_json(name, item) for item in value]
    if isinstance(value, dict):
        return {_clean(name, str(key)): _clean_json(name, item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidArgument(
            f"{name} holds a number that is not finite.", field=name, limit="finite numbers"
        )
    return value


def _depth(value: object, enough: int) -> int:
    if enough == 0 or not isinstance(value, dict | list) or not value:
        return 1 if isinstance(value, dict | list) else 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max(_depth(item, enough - 1) for item in items)


def _check_bytes(name: str, text: str, most: int) -> None:
    size = byte_length(text)
    if size > most:
        raise _too_long(name, size, most, "bytes")


def _too_long(name: str, size: int | str, most: int, unit: str) -> TooLarge:
    shown = f"{size:,}" if isinstance(size, int) else size
    return TooLarge(
        f"{name} has {shown} {unit}; at most {most:,}.",
        field=name,
        limit=most,
        got=size,
        next_step=f"Shorten {name}.",
    )
