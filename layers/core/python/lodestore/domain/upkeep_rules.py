"""What maintenance may do, for all tenants and for one: policies of pruning, and steps that are switched off.

Owns: their form as settings (PRUNE, SLEEP_OFF, TENANT_UPKEEP). Guarantees: nothing is pruned and nothing is off by
default; an unknown field, step or tenant, a policy without a condition and a value out of range are refused by name
before anything starts; what a tenant has of its own takes the place of what all have.
Gives up: changing them at run time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lodestore.domain.memory import MemoryType
from lodestore.domain.pruning import Policy
from lodestore.errors import SettingsError
from lodestore.settings import TENANT_PATTERN, is_tenant

POLICIES_MOST: Final = 20
TENANTS_MOST: Final = 1_000
DAYS_MOST: Final = 36_500
NEWEST_MOST: Final = 10_000_000
_CONDITIONS: Final = (
    "types",
    "tags",
    "older_than_days",
    "importance_below",
    "value_below",
    "never_recalled",
    "unused_for_days",
    "beyond_newest",
)


@dataclass(frozen=True, slots=True)
class TenantRules:
    """The policies of one tenant, the first that admits a memory counts, and the steps that are off for it."""

    policies: tuple[Policy, ...] = ()
    off: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class UpkeepRules:
    """The rules of all tenants, and of those that have rules of their own."""

    common: TenantRules = TenantRules()
    own: Mapping[str, TenantRules] = field(default_factory=dict)

    def of(self, tenant: str) -> TenantRules:
        """The rules of one tenant."""
        return self.own.get(tenant, self.common)


def parse_rules(
    *, prune: str = "", off: str = "", tenants: str = "", switchable: Collection[str] = ()
) -> UpkeepRules:
    """Rules from the variables PRUNE, SLEEP_OFF and TENANT_UPKEEP; "": as by default. Raises SettingsError.

    switchable   names of the steps that can be off
    """
    common = TenantRules(parse_policies(prune), _off("SLEEP_OFF", off.split(), switchable))
    if not tenants.strip():
        return UpkeepRules(common)
    given = _json("TENANT_UPKEEP", tenants)
    if not isinstance(given, dict) or len(given) > TENANTS_MOST:
        raise SettingsError(
            f"TENANT_UPKEEP must be a JSON object of at most {TENANTS_MOST:,} tenants, each with prune or off"
        )
    return UpkeepRules(common, {name: _tenant(name, one, common, switchable) for name, one in given.items()})


def _tenant(name: str, given: object, common: TenantRules, switchable: Collection[str]) -> TenantRules:
    where = f"TENANT_UPKEEP.{name}"
    if not is_tenant(name):
        raise SettingsError(f"TENANT_UPKEEP: a tenant must match {TENANT_PATTERN}, not {name[:140]!r}")
    if not isinstance(given, dict):
        raise SettingsError(f"{where} must be an object with prune or off, not {type(given).__name__}")
    unknown = set(given) - {"prune", "off"}
    if unknown:
        raise SettingsError(f"{where} has an unknown field: {min(unknown)}; it may have prune and off")
    return TenantRules(
        _policies(f"{where}.prune", given["prune"]) if "prune" in given else common.policies,
        _off(f"{where}.off", given["off"], switchable) if "off" in given else common.off,
    )


def _off(where: str, given: object, switchable: Collection[str]) -> frozenset[str]:
    if not isinstance(given, list):
        raise SettingsError(f"{where} must be a list of steps")
    for step in given:
        if step not in switchable:
            raise SettingsError(f"{where} may name {' | '.join(sorted(switchable))}, not {step!r}")
    return frozenset(given)


def parse_policies(text: str) -> tuple[Policy, ...]:
    """Policies from the JSON of the variable PRUNE; "": none. Raises SettingsError naming policy and field."""
    return _policies("PRUNE", _json("PRUNE", text)) if text.strip() else ()


def _json(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where} must be JSON") from error


def _policies(where: str, given: object) -> tuple[Policy, ...]:
    if not isinstance(given, list) or len(given) > POLICIES_MOST:
        raise SettingsError(f"{where} must be a JSON list of at most {POLICIES_MOST} policies")
    policies = tuple(_policy(f"{where}[{number}]", number, item) for number, item in enumerate(given))
    if len({policy.name for policy in policies}) < len(policies):
        raise SettingsError(f"{where} names two policies alike")
    return policies


def _policy(where: str, number: int, given: object) -> Policy:
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
        value_below=_number(where, given, "value_below", 1),
        never_recalled=_flag(where, given, "never_recalled"),
        unused_for_days=_number(where, given, "unused_for_days", DAYS_MOST),
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
