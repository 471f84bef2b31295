"""What a policy admits by columns is what it admits of the memory itself, and a tenant's rules are its own."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.counters import KnownUse
from lodestore.domain.memory import Memory, MemoryType, Record
from lodestore.domain.moments import milliseconds
from lodestore.domain.pruning import UNUSED, Policy, memory_value
from lodestore.domain.upkeep_rules import TenantRules, parse_rules
from lodestore.domain.use_levels import DAY_MILLISECONDS, UseLevels
from lodestore.errors import SettingsError
from lodestore.services.prunable import prunable
from lodestore.services.tenant_view import TenantView
from lodestore.services.upkeep_steps import EMBED, FOLD, SWITCHABLE
from tests.unit.retrieval.random_records import IDS, MEMORY, START
from tests.unit.services.test_columns import cut_corpora

NOW = START + timedelta(days=40)
days = st.sampled_from([0.001, 10.0, 33.0, 36.0, 39.0, 60.0])
shares = st.sampled_from([0.01, 0.1, 0.25, 0.3, 0.5, 0.7, 1.0])
levels = st.integers(0, 60).map(
    lambda day: 0 if day == 0 else milliseconds(START) + (day - 10) * DAY_MILLISECONDS
)
uses = st.builds(UseLevels, recalls=levels, useful=levels, not_useful=levels, last_used=levels)
policies = st.builds(
    Policy,
    name=st.just("drawn"),
    types=st.lists(st.sampled_from(MemoryType), max_size=3).map(tuple),
    tags=st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    older_than_days=st.none() | days,
    importance_below=st.none() | shares,
    value_below=st.none() | shares,
    never_recalled=st.booleans(),
    unused_for_days=st.none() | days,
    beyond_newest=st.none() | st.integers(1, 3),
    # A policy that only proposes leaves out what no longer holds, which no memory says of itself.
    forget=st.just(True),
)


@pytest.mark.promise("P-REVERSIBLE-SLEEP")
@settings(deadline=None, max_examples=200)
@given(cut_corpora(), policies, st.dictionaries(st.sampled_from(IDS), uses, max_size=8))
def test_the_columns_admit_what_the_policy_admits_of_the_memory(
    corpus: tuple[list[Record], TenantView], policy: Policy, used: dict[str, UseLevels]
) -> None:
    records, view = corpus
    admitted = [
        record
        for record in records
        if isinstance(record, Memory) and policy.admits(record, NOW, used.get(record.id, UNUSED))
    ]
    admitted.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
    expected = [memory.id for memory in admitted[policy.beyond_newest or 0 :]]
    assert prunable(view, policy, KnownUse(levels=used), NOW) == expected
    assert not any(memory.pinned or memory.type is MemoryType.INSTRUCTION for memory in admitted)


def _value(at: datetime = START, **use: int) -> float:
    return memory_value(MEMORY, UseLevels(**use), at)


def test_a_memory_is_worth_its_importance_by_use_by_recency_by_feedback() -> None:
    now = milliseconds(START)
    assert _value() == pytest.approx(0.5 * 0.5 * 1 * 0.5)
    assert _value(START + timedelta(days=180)) == pytest.approx(0.5 * 0.5 * 0.5 * 0.5)
    assert _value(recalls=now) == pytest.approx(0.5 * 0.8 * 0.5)
    assert _value(useful=now + 120 * DAY_MILLISECONDS) == pytest.approx(0.5 * 0.5 * 1)
    assert _value(not_useful=now + 120 * DAY_MILLISECONDS) == 0


def test_a_tenant_has_rules_of_its_own_in_the_place_of_those_of_all() -> None:
    rules = parse_rules(
        prune='[{"name": "old", "older_than_days": 90}]',
        off="embed",
        tenants='{"acme": {"prune": []}, "globex": {"off": ["fold_counts"]}}',
        switchable=SWITCHABLE,
    )
    old = Policy(name="old", older_than_days=90.0)
    assert rules.of("initech") == TenantRules((old,), frozenset({EMBED}))
    assert rules.of("acme") == TenantRules((), frozenset({EMBED}))
    assert rules.of("globex") == TenantRules((old,), frozenset({FOLD}))
    assert rules.of("acme-corp") == rules.of("Acme") == rules.common
    assert parse_rules() == parse_rules(prune=" ", off=" ", tenants=" ")


@pytest.mark.promise("P-SILENT-NEVER", "P-BOUNDED")
@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"off": "sweep"}, "SLEEP_OFF may name .*not 'sweep'"),
        ({"off": "purge"}, "SLEEP_OFF"),
        ({"off": "tidy"}, "SLEEP_OFF"),
        ({"tenants": "{"}, "TENANT_UPKEEP must be JSON"),
        ({"tenants": "[]"}, "TENANT_UPKEEP must be a JSON object"),
        ({"tenants": json.dumps({f"t{n}": {} for n in range(1_001)})}, "at most 1,000 tenants"),
        ({"tenants": '{"../other": {}}'}, "a tenant must match"),
        ({"tenants": '{"acme": []}'}, "TENANT_UPKEEP.acme must be an object"),
        ({"tenants": '{"acme": {"purge": false}}'}, "TENANT_UPKEEP.acme has an unknown field: purge"),
        ({"tenants": '{"acme": {"off": "embed"}}'}, "TENANT_UPKEEP.acme.off must be a list"),
        ({"tenants": '{"acme": {"off": ["collect_garbage"]}}'}, "TENANT_UPKEEP.acme.off may name"),
        (
            {"tenants": '{"acme": {"prune": [{"value_below": 2}]}}'},
            r"TENANT_UPKEEP.acme.prune\[0\].value_below",
        ),
        ({"tenants": '{"acme": {"prune": [{}]}}'}, r"TENANT_UPKEEP.acme.prune\[0\] has no condition"),
    ],
)
def test_rules_that_are_none_are_refused_by_name(variables: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        parse_rules(**variables, switchable=SWITCHABLE)
