"""Corpora for `recall_work` on disk: ours as segments, theirs as a bm25s index and a float32 matrix.

Owns: the files of one size. Guarantees: both hold the same memories. Gives up: being small on disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from benchmarks.performance.synthetic import MODEL, TENANT, texts, vector_of
from benchmarks.performance.tenants import synthetic_segment
from lodestore.domain.manifest import Manifest, SegmentEntry
from lodestore.format.manifests import decode_manifest, encode_manifest
from lodestore.retrieval.bm25 import DEFAULT_PARAMETERS
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_format import decode_segment, encode_segment
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION

NOW = datetime(2026, 3, 9, tzinfo=UTC)


def write_corpus(folder: Path, layouts: Mapping[str, Sequence[int]]) -> None:
    """The memories from number 0 on, cut as each of the layouts says."""
    for name, layout in layouts.items():
        _write_segments(folder / name, layout)
    size = sum(next(iter(layouts.values())))
    said = list(texts(0, size))
    np.save(folder / "vectors.npy", np.stack([vector_of(text) for text in said]))
    index = bm25s.BM25(k1=DEFAULT_PARAMETERS.k1, b=DEFAULT_PARAMETERS.b)
    index.index(their_tokens(said), show_progress=False)
    index.save(str(folder / "bm25s"))


def read_segments(folder: Path) -> tuple[Manifest, dict[str, Segment]]:
    """The index of a layout."""
    manifest = decode_manifest((folder / "manifest.json").read_bytes(), TENANT)
    return manifest, {name: decode_segment((folder / name).read_bytes()) for name in manifest.names}


def read_theirs(folder: Path) -> tuple[bm25s.BM25, NDArray[np.float32]]:
    """The bm25s index and the matrix, both in memory."""
    return bm25s.BM25.load(str(folder / "bm25s")), np.load(folder / "vectors.npy")


def their_tokens(said: Sequence[str]) -> list[list[str]]:
    """Texts as bm25s takes them apart."""
    tokens: list[list[str]] = bm25s.tokenize(
        list(said), stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False, return_ids=False
    )
    return tokens


def _write_segments(folder: Path, layout: Sequence[int]) -> None:
    folder.mkdir()
    entries: list[SegmentEntry] = []
    first = 0
    for number, size in enumerate(layout):
        segment = synthetic_segment(first, first + size)
        body = encode_segment(segment)
        (folder / f"segment-{number}").write_bytes(body)
        entries.append(
            SegmentEntry(
                name=f"segment-{number}",
                rows=size,
                documents=size,
                length=int(segment["length"].sum()),
                size=len(body),
                vectors=segment.vectors,
            )
        )
        first += size
    manifest = Manifest(
        tenant=TENANT,
        generation=1,
        updated_at=NOW,
        tokenizer=TOKENIZER_VERSION,
        model=MODEL,
        segments=tuple(entries),
    )
    (folder / "manifest.json").write_bytes(encode_manifest(manifest))
