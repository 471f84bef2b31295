"""Masks over columns say of each row what the rules say of the record itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.caller import Caller, Role
from lodestore.domain.filters import Filters
from lodestore.domain.lineage import Lineage
from lodestore.domain.memory import Memory, MemoryType, Record
from lodestore.services import columns
from lodestore.services.tenant_view import TenantView, ViewPart
from tests.unit.retrieval.random_records import CONVERSATIONS, NAMES, corpora, cuts, moments, segment

CALLERS = [Caller("acme", conversation, Role.ADMIN) for conversation in CONVERSATIONS]
filters = st.builds(
    Filters,
    types=st.none() | st.lists(st.sampled_from(MemoryType), min_size=1, max_size=3).map(tuple),
    category=st.sampled_from(NAMES),
    tags=st.none() | st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple),
    since=st.none() | moments,
    until=st.none() | moments,
)


@st.composite
def cut_corpora(draw: st.DrawFn) -> tuple[list[Record], TenantView]:
    """Records, and a view over them in several parts."""
    records = draw(corpora())
    made = [segment(part) for part in draw(cuts(records))]
    parts = tuple(ViewPart(one, np.ones(len(one), np.bool_)) for one in made)
    return records, TenantView(parts, {}, None, frozenset())


def chosen(view: TenantView, masks: columns.Masks) -> set[str]:
    return {columns.id_of(view, place) for place in columns.places(masks)}


def those(records: Sequence[Record], rule: Callable[[Memory], bool]) -> set[str]:
    return {record.id for record in records if isinstance(record, Memory) and rule(record)}


def of_memories(view: TenantView, masks: columns.Masks) -> set[str]:
    """The chosen rows that are no stubs."""
    memories = tuple(part.segment["stub"] == 0 for part in view.parts)
    return chosen(view, columns.both(masks, memories))


@pytest.mark.promise("P-TENANT")
@settings(deadline=None, max_examples=40)
@given(cut_corpora(), st.sampled_from(CALLERS))
def test_a_caller_sees_the_rows_of_the_memories_that_are_visible_to_them(
    corpus: tuple[list[Record], TenantView], caller: Caller
) -> None:
    records, view = corpus
    assert chosen(view, columns.visible(view, caller)) == those(records, lambda m: m.visible_to(caller))


@pytest.mark.case("B46")
@settings(deadline=None, max_examples=40)
@given(cut_corpora(), moments)
def test_a_row_expires_when_its_memory_does(
    corpus: tuple[list[Record], TenantView], moment: datetime
) -> None:
    records, view = corpus
    expected = those(records, lambda m: m.expired_at(moment))
    assert of_memories(view, columns.expired(view, moment)) == expected
    expected = those(records, lambda m: m.holds_from <= moment)
    assert of_memories(view, columns.held_from(view, moment)) == expected


@pytest.mark.case("B72")
@settings(deadline=None, max_examples=40)
@given(cut_corpora())
def test_a_row_is_superseded_when_a_record_or_its_memory_says_so(
    corpus: tuple[list[Record], TenantView],
) -> None:
    records, view = corpus
    lineage = Lineage.of(records)
    expected = those(records, lambda m: bool(lineage.successors(m)))
    assert of_memories(view, columns.superseded(view)) == expected


@settings(deadline=None, max_examples=40)
@given(cut_corpora(), moments)
def test_at_a_time_only_what_held_by_then_supersedes(
    corpus: tuple[list[Record], TenantView], moment: datetime
) -> None:
    records, view = corpus
    expected = those(
        records,
        lambda m: any(
            m.id in record.supersedes and (not isinstance(record, Memory) or record.holds_from <= moment)
            for record in records
        ),
    )
    assert of_memories(view, columns.superseded(view, moment)) == expected


@pytest.mark.case("B30", "B35")
@settings(deadline=None, max_examples=40)
@given(cut_corpora(), filters)
def test_a_filter_admits_the_rows_of_the_memories_that_it_admits(
    corpus: tuple[list[Record], TenantView], wanted: Filters
) -> None:
    records, view = corpus
    assert of_memories(view, columns.admitted(view, wanted)) == those(records, wanted.admits)


@settings(deadline=None, max_examples=40)
@given(cut_corpora())
def test_the_successors_of_a_row_are_the_records_that_name_it_lowest_revision_first(
    corpus: tuple[list[Record], TenantView],
) -> None:
    records, view = corpus
    everything = tuple(np.ones(len(part.segment), np.bool_) for part in view.parts)
    for place in columns.places(everything):
        own = columns.id_of(view, place)
        naming = {record.id: record.revision for record in records if own in record.supersedes}
        found = [columns.id_of(view, one) for one in columns.successors(view, place)]
        assert sorted(found) == sorted(naming)
        assert [naming[one] for one in found] == sorted(naming.values())
