"""QueryVectors over one index: what is asked, checked and answered.

Owns: which hits come in which order, with which scores. Guarantees: the filter is applied before the best are taken, so
no match is lost to one that the filter leaves out; in CLASSIC mode alike, for the search is exact.
Gives up: being approximate, which the service may be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from moto.s3vectors.models import Vector

from tests.s3vectors import filters, limits, search
from tests.s3vectors.indexes import TEXTS_MOST, IndexState, values_of
from tests.s3vectors.limits import Refused

TEXT_CHARACTERS = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One hit. `distance` None: it was found by its text alone."""

    vector: Vector
    distance: float | None
    bm25: Mapping[str, float]
    fused: float | None

    def shown(self, asks: Callable[[str], bool]) -> dict[str, Any]:
        """The shape `QueryOutputVector`; `asks` says whether the request sets a flag."""
        hit: dict[str, Any] = {"key": self.vector.key}
        if asks("returnDistance") and self.distance is not None:
            hit["distance"] = self.distance
        if asks("returnMetadata"):
            hit["metadata"] = self.vector.metadata
        if asks("returnScores") and self.bm25:
            hit["scores"] = self._scores()
        return hit

    def _scores(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "bm25Scores": [{"metadataKey": key, "score": score} for key, score in self.bm25.items()]
        }
        if self.fused is not None:
            shown["fused"] = self.fused
        if self.fused is not None and self.distance is not None:
            shown["vectorDistance"] = self.distance
        return shown


def answer_query(state: IndexState, asked: Mapping[str, Any]) -> list[Found]:
    """The best topK of an index, best first. Raises Refused."""
    texts: dict[str, str] = _texts(state, asked.get("queryTexts"))
    limits.check_count("topK", asked.get("topK") or 0, limits.TOP_K_MOST)
    if asked.get("queryVector") is None and not texts:
        raise Refused("a request must include queryVector, queryTexts, or both")
    kept = _kept(state, asked.get("filter"), _mode(state, asked.get("queryMode"), texts))
    distances = _distances(state, kept, asked.get("queryVector"))
    scores = {key: search.bm25(text, _of(kept, key)) for key, text in texts.items()}
    rankings = [search.ranked(one, ascending=False) for one in scores.values()]
    if distances is not None:
        rankings.insert(0, search.ranked(distances, ascending=True))
    fused = search.fused(rankings) if len(rankings) > 1 else None
    order = rankings[0] if fused is None else search.ranked(fused, ascending=False)
    return [
        Found(
            vector=kept[key],
            distance=None if distances is None else distances[key],
            bm25={field: found.get(key, 0.0) for field, found in scores.items()},
            fused=None if fused is None else fused[key],
        )
        for key in order[: asked["topK"]]
    ]


def _texts(state: IndexState, given: Any) -> dict[str, str]:
    entries = given or []
    if given is not None:
        limits.check_count("queryTexts", len(entries), TEXTS_MOST)
    for entry in entries:
        if entry["metadataKey"] not in state.texts:
            raise Refused(f"{entry['metadataKey']} is no searchable metadata key")
        limits.check_count("text", len(entry["text"]), TEXT_CHARACTERS)
    if len({entry["metadataKey"] for entry in entries}) != len(entries):
        raise Refused("each entry must target a distinct searchable metadata key")
    return {entry["metadataKey"]: entry["text"] for entry in entries}


def _mode(state: IndexState, asked: str | None, texts: Mapping[str, str]) -> str:
    if asked == "CLASSIC" and state.mode == "ENHANCED":
        raise Refused("queryMode CLASSIC can't be used with an ENHANCED index")
    mode = asked or state.mode
    if texts and state.mode != "ENHANCED":
        raise Refused("full-text search requires an index in ENHANCED mode")
    return mode


def _kept(state: IndexState, document: Any, mode: str) -> dict[str, Vector]:
    vectors = state.index.vectors
    if document is None:
        return dict(vectors)
    try:
        filters.check(document, state.unfilterable, enhanced=mode == "ENHANCED")
    except filters.InvalidFilter as invalid:
        raise Refused(f"Invalid query filter: {invalid}") from None
    return {key: vector for key, vector in vectors.items() if filters.matches(document, vector.metadata)}


def _distances(state: IndexState, kept: Mapping[str, Vector], given: Any) -> dict[str, float] | None:
    if given is None:
        return None
    metric = state.index.distance_metric
    query = limits.read_vector(given, state.index.dimension, metric)
    if not kept:
        return {}
    found = search.distances(query, np.stack([values_of(vector) for vector in kept.values()]), metric)
    return dict(zip(kept, found.tolist(), strict=True))


def _of(kept: Mapping[str, Vector], field: str) -> dict[str, str]:
    return {key: text for key, vector in kept.items() if isinstance(text := vector.metadata.get(field), str)}
