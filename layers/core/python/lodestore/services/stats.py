"""Statistics: exact, and only of what the caller may see.

Owns: the tool `memory_stats`. Guarantees: counted over all that the index shows and the whole tail; nothing of other
tenants or of other conversations' notes is in any number (P-TENANT).
Gives up: cheapness where much is pending; it reads the whole tail.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from lodestore.domain.caller import Caller
from lodestore.domain.limits import limits_shown
from lodestore.ports.clock import Clock
from lodestore.retrieval.segment import TYPES
from lodestore.services import columns
from lodestore.services.arguments import Arguments
from lodestore.services.counts import Counts
from lodestore.services.shown import show_moment
from lodestore.services.tenant_view import TenantView, TenantViews


class Stats:
    """The tool `memory_stats`. `model`: whose vectors are missed where they are missing; None: nobody's."""

    def __init__(self, views: TenantViews, counts: Counts, clock: Clock, *, model: str | None) -> None:
        self._views = views
        self._counts = counts
        self._clock = clock
        self._model = model

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """The interface's answer. Raises InvalidArgument, Unavailable."""
        Arguments("memory_stats", given, ())
        view = self._views.load(caller.tenant)
        now = self._clock.now()
        visible = columns.visible(view, caller)
        expired, superseded = columns.expired(view, now), columns.superseded(view)
        standing = columns.but(visible, expired)
        active = columns.but(standing, superseded)
        totals = self._counts.totals(caller.tenant)
        tallies = [totals[memory_id] for memory_id in columns.ids_among(view, visible, totals)]
        return {
            "total": columns.count(active),
            "by_type": _by_type(view, active),
            "superseded": columns.count(columns.both(standing, superseded)),
            "expired": columns.count(columns.both(visible, expired)),
            "pending": len(columns.ids_among(view, visible, view.pending)),
            "embeddings_missing": self._missing(view, active),
            "index": _index(view, caller, now),
            "counters": {
                "recalls": sum(tally.recalls for tally in tallies),
                "feedback": sum(tally.useful + tally.not_useful for tally in tallies),
            },
            "invalid": view.invalid,
            "limits": limits_shown(),
        }

    def _missing(self, view: TenantView, active: columns.Masks) -> int:
        if self._model is None:
            return 0
        return columns.count(columns.both(active, columns.without_vectors(view, self._model)))


def _by_type(view: TenantView, active: columns.Masks) -> dict[str, int]:
    counted = np.zeros(len(TYPES), np.int64)
    for part, mask in zip(view.parts, active, strict=True):
        counted += np.bincount(part.segment["type"][mask], minlength=len(TYPES))
    return {str(kind): int(count) for kind, count in zip(TYPES, counted, strict=True) if count}


def _index(view: TenantView, caller: Caller, now: datetime) -> dict[str, object]:
    manifest = view.manifest
    if manifest is None:
        return {"generation": 0, "updated_at": None, "age_seconds": None, "documents": 0, "segments": 0}
    return {
        "generation": manifest.generation,
        "updated_at": show_moment(manifest.updated_at),
        "age_seconds": max(0, int((now - manifest.updated_at).total_seconds())),
        "documents": _documents(view, caller),
        "segments": len(manifest.segments),
    }


def _documents(view: TenantView, caller: Caller) -> int:
    """Memories that the index shows as they are and the caller may see."""
    tail = 1 if view.tail else 0
    return sum(int(mask.sum()) for mask in columns.visible(view, caller)[: len(view.parts) - tail])
