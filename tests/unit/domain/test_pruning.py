"""Policies of pruning: what is refused, and by which name."""

from __future__ import annotations

import json

import pytest

from lodestore.domain.memory import MemoryType
from lodestore.domain.pruning import Policy
from lodestore.domain.upkeep_rules import parse_policies
from lodestore.errors import SettingsError


def test_none_is_set_by_default() -> None:
    assert parse_policies("") == ()


def test_a_policy_has_a_name_and_does_not_forget_unless_it_says_so() -> None:
    (policy,) = parse_policies('[{"types": ["event"], "older_than_days": 90}]')
    assert policy == Policy(name="policy-0", types=(MemoryType.EVENT,), older_than_days=90.0)
    assert policy.forget is False


@pytest.mark.promise("P-SILENT-NEVER", "P-BOUNDED")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("{", "PRUNE must be JSON"),
        ("{}", "JSON list"),
        ([{"older_than_days": 1}] * 21, "at most 20"),
        (["old"], r"PRUNE\[0\] must be an object"),
        ([{"forget": True}], "no condition"),
        ([{"older_than_days": 1, "type": "event"}], "unknown field: type"),
        ([{"types": ["instruction"]}], "instruction"),
        ([{"types": "event"}], "types must be a list"),
        ([{"older_than_days": -1}], "older_than_days"),
        ([{"older_than_days": True}], "older_than_days"),
        ([{"importance_below": 2}], "importance_below"),
        ([{"beyond_newest": "9"}], "beyond_newest"),
        ([{"older_than_days": 1, "forget": "yes"}], "forget"),
        ([{"older_than_days": 1, "name": ""}], "name"),
        ([{"older_than_days": 1, "name": "a"}, {"older_than_days": 2, "name": "a"}], "alike"),
    ],
)
def test_what_is_no_policy_is_refused_by_name(given: object, named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        parse_policies(given if isinstance(given, str) else json.dumps(given))
