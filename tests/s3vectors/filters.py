"""Metadata filters of S3 Vectors, evaluated exactly.

Owns: which filters are well-formed, and which metadata they match. Guarantees: what the documentation calls invalid is
`InvalidFilter` with a reason, before anything is matched. Source: Amazon S3 User Guide, "Metadata filtering".
Gives up: what that page leaves open. `$ne` and `$nin` match a vector without the key, as their negations do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

Metadata = Mapping[str, Any]


class InvalidFilter(Exception):
    """The service answers 400; the text says why."""


def check(document: object, unfilterable: Collection[str], *, enhanced: bool) -> None:
    """Raises InvalidFilter. `unfilterable`: keys that the index declares non-filterable."""
    if not isinstance(document, dict) or not document:
        raise InvalidFilter("a filter is an object with at least one key")
    for key, value in document.items():
        if key in ("$and", "$or"):
            if not isinstance(value, list) or not value:
                raise InvalidFilter(f"{key} takes a non-empty array of filters")
            for part in value:
                check(part, unfilterable, enhanced=enhanced)
        elif key.startswith("$"):
            raise InvalidFilter(f"{key} is no logical operator")
        elif key in unfilterable:
            raise InvalidFilter(f"{key} is a non-filterable metadata key")
        else:
            _check_field(value, enhanced=enhanced)


def matches(document: Metadata, metadata: Metadata) -> bool:
    """Whether the metadata matches a checked filter."""
    return all(_matches(key, value, metadata) for key, value in document.items())


def _matches(key: str, value: Any, metadata: Metadata) -> bool:
    if key == "$and":
        return all(matches(part, metadata) for part in value)
    if key == "$or":
        return any(matches(part, metadata) for part in value)
    wanted = value if isinstance(value, dict) else {"$eq": value}
    return all(
        (key in metadata) is operand
        if name == "$exists"
        else _OPERATORS[name][1](_values(metadata, key), operand)
        for name, operand in wanted.items()
    )


def _values(metadata: Metadata, key: str) -> list[Any]:
    """What stands at the key: an array as its elements, nothing as none."""
    if key not in metadata:
        return []
    value = metadata[key]
    return list(value) if isinstance(value, list) else [value]


def _check_field(value: object, *, enhanced: bool) -> None:
    if not isinstance(value, dict):
        if not _is_primitive(value):
            raise InvalidFilter("equality takes a string, a number or a boolean")
        return
    if not value:
        raise InvalidFilter("a condition holds at least one operator")
    for name, operand in value.items():
        if name not in _OPERATORS or (name == "$startsWith" and not enhanced):
            raise InvalidFilter(f"{name} is no operator here")
        if not _OPERATORS[name][0](operand):
            raise InvalidFilter(f"{name} does not take {operand!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_primitive(value: object) -> bool:
    return isinstance(value, str | bool) or _is_number(value)


def _are_primitives(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_primitive, value))


def _same(one: object, other: object) -> bool:
    """Equal and of one kind: in JSON, true is not 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _equal(values: list[Any], operand: Any) -> bool:
    return any(_same(value, operand) for value in values)


def _among(values: list[Any], operand: Any) -> bool:
    return any(_equal(values, one) for one in operand)


def _compared(holds: Callable[[float, float], bool]) -> Callable[[list[Any], Any], bool]:
    return lambda values, operand: any(_is_number(value) and holds(value, operand) for value in values)


# Operator: what its operand must be, and whether any of a key's values satisfies it.
_OPERATORS: Mapping[str, tuple[Callable[[object], bool], Callable[[list[Any], Any], bool]]] = {
    "$eq": (_is_primitive, _equal),
    "$ne": (_is_primitive, lambda values, operand: not _equal(values, operand)),
    "$gt": (_is_number, _compared(lambda value, operand: value > operand)),
    "$gte": (_is_number, _compared(lambda value, operand: value >= operand)),
    "$lt": (_is_number, _compared(lambda value, operand: value < operand)),
    "$lte": (_is_number, _compared(lambda value, operand: value <= operand)),
    "$in": (_are_primitives, _among),
    "$nin": (_are_primitives, lambda values, operand: not _among(values, operand)),
    "$exists": (lambda value: isinstance(value, bool), lambda values, operand: bool(values) is operand),
    "$startsWith": (
        lambda value: isinstance(value, str),
        lambda values, operand: any(isinstance(value, str) and value.startswith(operand) for value in values),
    ),
}
