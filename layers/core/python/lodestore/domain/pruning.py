"""Policies of pruning: which memories may go, and whether they are forgotten or only named.

Owns: `Policy`, its form as a setting and its verdict on one memory. Guarantees: none is set by default; all conditions
of a policy must hold; a pinned memory and an instruction are never pruned (P-REVERSIBLE-SLEEP); a policy without a
condition, an unknown field or a value out of range is refused by name.
Gives up: judging by content.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from lodestore.domain.memory import Memory, MemoryType
from lodestore.errors import SettingsError

POLICIES_MOST: Final = 20
DAYS_MOST: Final = 36_500
NEWEST_MOST: Final = 10_000_000
_CONDITIONS: Final = (
    "types",
    "tags",
    "older_than_days",
    "importance_below",
    "never_recalled",
    "beyond_newest",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One policy; a condition that is None or empty is not asked.

    types, tags        any of these types, all of these tags
    older_than_days    since it was last stated
    importance_below   0 to 1, exclusive
    never_recalled     no recall and no useful feedback was counted
    beyond_newest      it is not among so many newest that the other conditions admit
    forget             True: its memories are forgotten; False: a report names them
    """

    name: str
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    older_than_days: float | None = None
    importance_below: float | None = None
    never_recalled: bool = False
    beyond_newest: int | None = None
    forget: bool = False

    def admits(self, memory: Memory, now: datetime) -> bool:
        """Whether it may go, as far as the memory alone says."""
        if memory.pinned or memory.type is MemoryType.INSTRUCTION:
            return False
        if self.types and memory.type not in self.types:
            return False
        if not set(self.tags) <= set(memory.tags):
            return False
        if self.importance_below is not None and memory.importance >= self.importance_below:
            return False
        return self.older_than_days is None or now - memory.updated_at > timedelta(days=self.older_than_days)


def parse_policies(text: str) -> tuple[Policy, ...]:
    """Policies from the JSON of the variable PRUNE; "": none. Raises SettingsError naming policy and field."""
    if not text.strip():
        return ()
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError("PRUNE must be a JSON list of policies") from error
    if not isinstance(given, list) or len(given) > POLICIES_MOST:
        raise SettingsError(f"PRUNE must be a JSON list of at most {POLICIES_MOST} policies")
    policies = tuple(_policy(number, item) for number, item in enumerate(given))
    if len({policy.name for policy in policies}) < len(policies):
        raise SettingsError("PRUNE names two policies alike")
    return policies


def _policy(number: int, given: object) -> Policy:
    where = f"PRUNE[{number}]"
    if not isinstance(given, dict):
        raise SettingsError(f"{where} must be an object, not {type(given).__name__}")
    unknown = set(given) - {"name", "forget", *_CONDITIONS}
    if unknown:
        raise SettingsError(f"{where} has an unknown field: {min(unknown)}")
    if not any(given.get(name) for name in _CONDITIONS):
        raise SettingsError(f"{where} has no condition; one of {', '.join(_CONDITIONS)}")
    name = given.get("name", f"policy-{number}")
    if not isinstance(name, str) or not 0 < len(name) <= 128:
        raise SettingsError(f"{where}.name must be text of 1 to 128 characters")
    beyond = _number(where, given, "beyond_newest", NEWEST_MOST)
    return Policy(
        name=name,
        types=_types(where, given),
        tags=_texts(where, given, "tags"),
        older_than_days=_number(where, given, "older_than_days", DAYS_MOST),
        importance_below=_number(where, given, "importance_below", 1),
        never_recalled=_flag(where, given, "never_recalled"),
        beyond_newest=None if beyond is None else int(beyond),
        forget=_flag(where, given, "forget"),
    )


def _types(where: str, given: Mapping[str, Any]) -> tuple[MemoryType, ...]:
    names = _texts(where, given, "types")
    allowed = [kind for kind in MemoryType if kind is not MemoryType.INSTRUCTION]
    for name in names:
        if name not in allowed:
            raise SettingsError(f"{where}.types must be of {' | '.join(allowed)}, not {name!r}")
    return tuple(MemoryType(name) for name in names)


def _texts(where: str, given: Mapping[str, Any], field: str) -> tuple[str, ...]:
    values = given.get(field) or []
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise SettingsError(f"{where}.{field} must be a list of texts")
    return tuple(values)


def _number(where: str, given: Mapping[str, Any], field: str, most: float) -> float | None:
    value = given.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        raise SettingsError(f"{where}.{field} must be a number above 0 and at most {most:g}, not {value!r}")
    return float(value)


def _flag(where: str, given: Mapping[str, Any], field: str) -> bool:
    value = given.get(field, False)
    if not isinstance(value, bool):
        raise SettingsError(f"{where}.{field} must be true or false, not {value!r}")
    return value
