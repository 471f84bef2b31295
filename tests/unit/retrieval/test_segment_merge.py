"""Merging works on arrays, and nobody can tell its output from a segment that was built at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lodestore.domain.memory import Record
from lodestore.retrieval import segment_build
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_format import decode_segment, encode_segment
from lodestore.retrieval.segment_merge import GONE, Merged, MergeInput, merge_segments
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from tests.unit.retrieval.random_records import IDS, MEMORY, MODEL, corpora, cuts, revisions, segment


def merge(segments: list[Segment], kept: list[list[bool]] | None = None, model: str | None = MODEL) -> Merged:
    masks = kept if kept is not None else [[True] * len(one) for one in segments]
    inputs = [MergeInput(one, np.array(mask, np.bool_)) for one, mask in zip(segments, masks, strict=True)]
    return merge_segments(inputs, model=model, tokenizer=TOKENIZER_VERSION)


@st.composite
def cut_corpora(draw: st.DrawFn) -> list[list[Record]]:
    return draw(cuts(draw(corpora())))


@settings(deadline=None, max_examples=50)
@given(cut_corpora())
def test_however_a_corpus_is_cut_its_merge_has_the_bytes_of_a_segment_built_at_once(
    parts: list[list[Record]],
) -> None:
    merged = merge([segment(part) for part in parts])
    at_once = segment([record for part in parts for record in part])
    assert encode_segment(merged.segment) == encode_segment(at_once)


@settings(deadline=None, max_examples=50)
@given(cut_corpora(), st.data())
def test_only_kept_rows_are_in_the_output_and_each_is_found_through_its_map(
    parts: list[list[Record]], data: st.DataObject
) -> None:
    inputs = [decode_segment(encode_segment(segment(part))) for part in parts]
    kept = [data.draw(st.lists(st.booleans(), min_size=len(one), max_size=len(one))) for one in inputs]
    merged = merge(inputs, kept)
    by_id = {record.id: record for part in parts for record in part}
    survivors = [
        by_id[one.text("id", row)]
        for one, mask in zip(inputs, kept, strict=True)
        for row in np.flatnonzero(mask).tolist()
    ]
    assert encode_segment(merged.segment) == encode_segment(segment(survivors))
    for one, mask, rows in zip(inputs, kept, merged.rows, strict=True):
        for row, is_kept in enumerate(mask):
            if is_kept:
                assert merged.segment.text("id", int(rows[row])) == one.text("id", row)
                assert merged.segment.revision(int(rows[row])) == one.revision(row)
            else:
                assert rows[row] == GONE


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from(IDS[:3]), revisions), min_size=2, max_size=8, unique=True), st.data()
)
def test_rows_of_one_id_and_ids_of_one_hash_keep_the_order_of_a_build(
    named: list[tuple[str, str]], data: st.DataObject
) -> None:
    records: list[Record] = [
        replace(MEMORY, id=one, revision=revision, importance=number / 10)
        for number, (one, revision) in enumerate(named)
    ]
    with pytest.MonkeyPatch.context() as patch:
        # All ids share one hash here, as two of many millions might.
        patch.setattr(segment_build, "hash64", lambda _: 7)
        parts = data.draw(cuts(records))
        merged = merge([segment(part) for part in parts])
        assert encode_segment(merged.segment) == encode_segment(segment(records))


def test_nothing_merged_is_an_empty_segment() -> None:
    empty = encode_segment(segment([]))
    assert encode_segment(merge([]).segment) == encode_segment(merge([segment([])]).segment)
    assert len(decode_segment(empty)) == len(merge([]).segment) == 0
    assert merge([]).rows == ()


@settings(deadline=None, max_examples=50)
@given(cut_corpora())
def test_vectors_of_another_model_are_left_out_and_rows_stay(parts: list[list[Record]]) -> None:
    inputs = [segment(part, model=MODEL if number else "model-old") for number, part in enumerate(parts)]
    merged = merge(inputs).segment
    having = {merged.text("id", int(row)) for row in merged["vector_row"]}
    old = {record.id for record in parts[0]}
    assert not having & old
    assert len(merged) == sum(map(len, parts))
    assert merged.vectors == sum(one.vectors for one in inputs[1:])
    assert merge(inputs, model=None).segment.vectors == 0


def test_rows_inside_one_posting_list_are_in_order_over_all_inputs() -> None:
    parts: list[list[Record]] = [
        [replace(MEMORY, id=f"{part}-{number}", content="oslo bergen oslo") for number in range(50)]
        for part in range(9)
    ]
    merged = merge([segment(part, model=None) for part in parts], model=None).segment
    at_once = segment([record for part in parts for record in part], model=None)
    assert encode_segment(merged) == encode_segment(at_once)
    rows, counts = merged.postings(int(merged["term"][0]))
    assert rows.tolist() == list(range(450))
    assert set(counts.tolist()) <= {1, 2}
