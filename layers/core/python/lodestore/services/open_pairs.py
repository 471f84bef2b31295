"""Which memories a model is asked about, by the index alone.

Owns: the candidates of the step `review`. Guarantees: never all pairs: a memory is looked at once for each of its
revisions, in their order, beside the few older ones that are nearest to it, so what is asked grows with what was
written; the older one's revision is always the lower, so no pair comes twice; superseded, expired and pinned memories,
events and summaries are in no pair. Nearest by vectors where both have those of one model, else by the words.
Gives up: a neighbour that the four best of one scope, type and category hide; a writer whose clock is behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lodestore.domain.memory import MemoryType
from lodestore.retrieval.segment import TYPES
from lodestore.retrieval.segment_search import Part, keyword_scores
from lodestore.retrieval.tokenizer import query_terms
from lodestore.retrieval.vectors import cosines
from lodestore.services import columns
from lodestore.services.columns import Masks, Place
from lodestore.services.tenant_view import TenantView

NEAR: Final = 4
# Below, two short statements have little more than their language in common.
LEAST_COSINE: Final = 0.6
LEAST_SHARE: Final = 0.5
_TERMS_MOST: Final = 64
_NEVER: Final = tuple(TYPES.index(kind) for kind in (MemoryType.EVENT, MemoryType.SUMMARY))


@dataclass(frozen=True, slots=True)
class Seed:
    """A memory to compare with older ones, as the index shows it."""

    id: str
    revision: str
    place: Place


class OpenPairs:
    """The candidates of one view."""

    def __init__(self, view: TenantView, now: datetime) -> None:
        self._view = view
        live = columns.but(columns.memories(view), columns.superseded(view))
        live = columns.but(live, columns.expired(view, now))
        self._live: Masks = tuple(
            mask & (part.segment["pinned"] == 0) & ~np.isin(part.segment["type"], _NEVER)
            for part, mask in zip(view.parts, live, strict=True)
        )

    def seeds(self, after: str) -> list[Seed]:
        """Memories whose revision lies behind this one, in the order of revisions; "" is before all."""
        found = [
            Seed(columns.id_of(self._view, place), self._revision(place), place)
            for place in columns.places(self._behind(after))
        ]
        return sorted(found, key=lambda seed: seed.revision)

    def near(self, seed: Seed, content: str) -> list[str]:
        """The ids of at most NEAR older memories of its scope, type and category, nearest first."""
        chosen = self._older_and_alike(seed)
        found = self._by_vectors(seed, chosen) or self._by_words(content, chosen)
        found.sort(key=lambda one: (-one[0], one[1]))
        return [memory_id for _, memory_id in found[:NEAR]]

    def _behind(self, after: str) -> Masks:
        floor = np.frombuffer(after.encode(), "S26")[0] if after else b""
        return tuple(
            mask & (_revisions(part.segment["revision"]) > floor)
            for part, mask in zip(self._view.parts, self._live, strict=True)
        )

    def _older_and_alike(self, seed: Seed) -> Masks:
        own, row = self._view.parts[seed.place.part].segment, seed.place.row
        floor = np.frombuffer(seed.revision.encode(), "S26")[0]
        masks = []
        for part, mask in zip(self._view.parts, self._live, strict=True):
            segment = part.segment
            alike = mask & (_revisions(segment["revision"]) < floor)
            for column in ("scoped", "type", "category"):
                alike &= segment[column] == own[column][row]
            if own["scoped"][row]:
                alike &= segment["conversation"] == own["conversation"][row]
            masks.append(alike)
        return tuple(masks)

    def _by_vectors(self, seed: Seed, chosen: Masks) -> list[tuple[float, str]]:
        own = self._view.parts[seed.place.part].segment
        vectors = own["vector"][own["vector_row"] == seed.place.row]
        # A long text has several vectors, and no one of them says what it says.
        if own.model is None or len(vectors) != 1:
            return []
        scores = []
        for part, mask in zip(self._view.parts, chosen, strict=True):
            segment = part.segment
            best = np.full(len(segment), -1.0, np.float32)
            if segment.model == own.model and segment["vector"].shape[1] == vectors.shape[1]:
                np.fmax.at(best, segment["vector_row"], cosines(vectors[0], segment["vector"]))
            scores.append(np.where(mask, best, -1.0))
        return self._best(scores, LEAST_COSINE)

    def _by_words(self, content: str, chosen: Masks) -> list[tuple[float, str]]:
        terms = query_terms(content)[:_TERMS_MOST]
        parts = [Part(part.segment, mask) for part, mask in zip(self._view.parts, chosen, strict=True)]
        if not terms:
            return []
        scored = keyword_scores(terms, parts)
        return self._best(np.split(scored.covered(), scored.starts[1:-1]), LEAST_SHARE)

    def _best(self, scores: list[NDArray[np.floating]], least: float) -> list[tuple[float, str]]:
        found: list[tuple[float, str]] = []
        for number, values in enumerate(scores):
            best = np.argsort(values, kind="stable")[::-1][:NEAR]
            found += [
                (float(values[row]), columns.id_of(self._view, Place(number, int(row))))
                for row in best
                if values[row] >= least
            ]
        return found

    def _revision(self, place: Place) -> str:
        return self._view.parts[place.part].segment.revision(place.row)


def _revisions(letters: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """(rows, 26) letters as one comparable value a row."""
    return np.ascontiguousarray(letters).view("S26").reshape(-1)
