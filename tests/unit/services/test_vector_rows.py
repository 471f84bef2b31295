"""What the engine is told of a row, and what a recall asks of it, agree with the masks of the columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.caller import Caller
from lodestore.domain.filters import Filters
from lodestore.domain.memory import Record
from lodestore.format import keys
from lodestore.ports.vector_index import Filter, NewVector
from lodestore.services import columns
from lodestore.services.tenant_view import TenantView
from lodestore.services.vector_rows import admitting, keys_of, vectors_of, with_vectors
from tests.s3vectors.memory_index import admits
from tests.unit.retrieval.random_records import START
from tests.unit.services.test_columns import CALLERS, cut_corpora, filters

Corpus = tuple[list[Record], TenantView]


def rows_with_vectors(view: TenantView) -> Iterator[tuple[columns.Place, list[NewVector]]]:
    """Every row that has vectors, with them."""
    for number, part in enumerate(view.parts):
        for row in with_vectors(part.segment, part.counts).tolist():
            yield columns.Place(number, row), list(vectors_of(part.segment, [row], {}))


def agree(view: TenantView, asked: Filter, masks: columns.Masks) -> None:
    """The filter lets in the vectors of exactly the rows of the masks."""
    for place, own in rows_with_vectors(view):
        for vector in own:
            assert admits(asked, vector.attributes) is bool(masks[place.part][place.row])


@pytest.mark.promise("P-TENANT")
@settings(deadline=None, max_examples=60)
@given(cut_corpora(), st.sampled_from(CALLERS), filters)
def test_a_filter_lets_in_what_the_masks_do(corpus: Corpus, caller: Caller, chosen: Filters) -> None:
    view = corpus[1]
    masks = columns.both(columns.visible(view, caller), columns.admitted(view, chosen))
    agree(view, admitting(caller, chosen, now=None), masks)


@settings(deadline=None, max_examples=40)
@given(cut_corpora(), st.sampled_from(CALLERS))
def test_what_has_expired_or_notes_a_successor_is_left_out_where_only_the_present_is_asked_for(
    corpus: Corpus, caller: Caller
) -> None:
    view = corpus[1]
    live = columns.but(columns.visible(view, caller), columns.expired(view, START))
    noted = tuple(np.diff(part.segment["superseded_by_at"].astype(np.int64)) > 0 for part in view.parts)
    agree(view, admitting(caller, None, now=START), columns.but(live, noted))


@settings(deadline=None, max_examples=40)
@given(cut_corpora())
def test_a_rows_vectors_are_those_of_its_segment_under_keys_that_lead_back_to_it(corpus: Corpus) -> None:
    view = corpus[1]
    put = 0
    for place, own in rows_with_vectors(view):
        segment, row = view.parts[place.part].segment, place.row
        put += len(own)
        assert [vector.key for vector in own] == list(keys_of(segment, [row]))
        memory_id, revision = segment.text("id", row), segment.revision(row)
        names = [keys.parse_vector(vector.key) for vector in own]
        assert names == [keys.VectorName(memory_id, revision, number) for number in range(len(own))]
        at = np.flatnonzero(segment["vector_row"] == row)
        stored = segment["vector"][at] * segment["vector_scale"][at][:, None]
        assert np.allclose(np.stack([vector.vector for vector in own]), stored)
    assert put == sum(part.segment.vectors for part in view.parts)
