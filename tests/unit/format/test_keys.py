"""Keys name what they name, and nothing else is a key."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lodestore.format import keys

NAMES = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


@given(tenant=NAMES, memory_id=NAMES)
def test_a_memorys_key_leads_back_to_it(tenant: str, memory_id: str) -> None:
    assert keys.parse_memory(keys.memory(tenant, memory_id)) == keys.MemoryName(tenant, memory_id)
    revision = "0" * 26
    marker = keys.pending(tenant, revision, memory_id)
    assert keys.parse_pending(marker) == keys.Marker(tenant, revision, memory_id)


@pytest.mark.case("B21", "B26", "B86")
@pytest.mark.parametrize(
    "key",
    [
        "memories/acme/x",
        "memories/acme/.json",
        "memories/acme/x/y.json",
        "memories//x.json",
        "memories/../x.json",
        "memories/acme/../x.json",
        "memories/acme/%2e.json",
        "memories/acme/a b.json",
        "memories/acme/é.json",
        "memories/acme/x.json\n",
        "memories/acme/x.json/",
        "/memories/acme/x.json",
        "tombstones/acme/x.json",
        "",
    ],
)
def test_a_key_that_no_memory_can_have_names_nothing(key: str) -> None:
    assert keys.parse_memory(key) is None


@pytest.mark.case("B21")
def test_one_tenants_prefix_never_starts_anothers() -> None:
    assert not keys.memory("acme-corp", "x").startswith(keys.memories_of("acme"))
    assert not keys.pending("acme-corp", "0" * 26, "x").startswith(keys.pending_of("acme"))


def test_deltas_of_an_instance_are_in_order_and_lead_back() -> None:
    first, tenth = keys.counts_delta("acme", "0a", 2), keys.counts_delta("acme", "0a", 10)
    assert first < tenth
    assert keys.parse_delta(tenth) == ("0a", 10)
    assert keys.parse_delta("counts/acme/deltas/x.json") is None


def test_a_vector_index_is_named_by_tenant_and_model_and_by_nothing_else() -> None:
    names = {
        keys.vector_index(tenant, model) for tenant in ("acme", "acme-corp") for model in ("m/384", "m/768")
    }
    assert len(names) == 4
    assert all(re.fullmatch(r"m[a-z2-7]{39}", name) for name in names)
    assert keys.vector_index("acme", "m/384") == keys.vector_index("acme", "m/384")


def test_the_key_of_a_vector_is_read_as_it_was_written() -> None:
    revision = "01JNX2A5X0AAAAAAAAAAAAAAAA"
    named = keys.parse_vector(keys.vector("a.b_c-D", revision, 12))
    assert named == keys.VectorName("a.b_c-D", revision, 12)
    for other in (f"a~{revision}#01", f"a~{revision}#", f"a~{revision}", f"~{revision}#1", "a~X#1", "", "#~"):
        assert keys.parse_vector(other) is None
