"""Held live rows are those that would be made anew; orders without a step for each row are those of sorting."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.caller import Caller, Role
from lodestore.domain.memory import Record
from lodestore.services import columns, held_rows
from lodestore.services.held_rows import HeldRows
from lodestore.services.row_order import chosen_rows
from lodestore.services.tenant_view import TenantView, ViewPart
from tests.unit.retrieval.random_records import CONVERSATIONS, corpora, cuts, moments, segment

CALLERS = [Caller("acme", conversation, Role.ADMIN) for conversation in CONVERSATIONS]
Asked = tuple[Caller, datetime, datetime | None, bool]
asked = st.tuples(st.sampled_from(CALLERS), moments, st.none() | moments, st.booleans())


@st.composite
def views(draw: st.DrawFn) -> TenantView:
    """A view of random records in several parts."""
    records: list[Record] = draw(corpora())
    made = [segment(part) for part in draw(cuts(records))]
    return TenantView(
        tuple(ViewPart(one, np.ones(len(one), np.bool_)) for one in made), {}, None, frozenset()
    )


def masks(held: HeldRows, view: TenantView, question: Asked) -> list[list[bool]]:
    caller, now, as_of, superseded = question
    rows = held.of(view, caller, now, as_of=as_of, superseded=superseded)
    return [mask.tolist() for mask in rows.masks]


@pytest.mark.promise("P-TENANT")
@settings(deadline=None, max_examples=60)
@given(st.lists(views(), min_size=1, max_size=2), st.lists(asked, min_size=2, max_size=8), st.data())
def test_whoever_asks_and_whenever_held_rows_are_those_made_anew(
    given_views: list[TenantView], questions: list[Asked], data: st.DataObject
) -> None:
    held = HeldRows()
    for question in questions:
        view = data.draw(st.sampled_from(given_views))
        assert masks(held, view, question) == masks(HeldRows(), view, question)


def test_held_rows_serve_the_very_same_view_until_the_first_of_them_expires() -> None:
    view = TenantView((), {}, None, frozenset())
    held, now = HeldRows(), datetime.fromisoformat("2026-03-09T00:00:00Z")
    first = held.of(view, CALLERS[0], now)
    assert held.of(view, CALLERS[0], now + timedelta(days=1)) is first
    # A clock that was set back asks for a time of which nothing is known.
    assert held.of(view, CALLERS[0], now - timedelta(days=1)) is not first


def test_held_rows_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_rows, "HELD_MOST", 2)
    view, held = TenantView((), {}, None, frozenset()), HeldRows()
    now = datetime.fromisoformat("2026-03-09T00:00:00Z")
    first = held.of(view, Caller("t0", None, Role.ADMIN), now)
    for tenant in ("t1", "t2"):
        held.of(view, Caller(tenant, None, Role.ADMIN), now)
    assert held.of(view, Caller("t0", None, Role.ADMIN), now) is not first


@settings(deadline=None, max_examples=60)
@given(views(), st.integers(1, 12))
def test_the_first_by_keys_are_those_that_sorting_all_by_key_and_id_puts_first(
    view: TenantView, most: int
) -> None:
    rows = chosen_rows(view, columns.memories(view))
    keys = (-rows.column("importance"), -rows.column("created"))
    by_id = sorted(range(len(rows)), key=rows.id, reverse=True)
    whole = sorted(by_id, key=lambda at: (keys[0][at], keys[1][at]))
    assert rows.first(keys, most) == whole[:most]
