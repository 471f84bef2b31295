"""Values by number, so that a state is a few small integers.

Owns: `Table`. Guarantees: equal values have one number. Gives up: forgetting any.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


class Table(Generic[Value]):
    """Numbers from 0 on, in the order in which values come."""

    def __init__(self) -> None:
        self._numbers: dict[Value, int] = {}
        self._values: list[Value] = []

    def number(self, value: Value) -> int:
        found = self._numbers.setdefault(value, len(self._values))
        if found == len(self._values):
            self._values.append(value)
        return found

    def __getitem__(self, number: int) -> Value:
        return self._values[number]

    def __len__(self) -> int:
        return len(self._values)
