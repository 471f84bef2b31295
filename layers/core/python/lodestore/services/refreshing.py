"""Refreshing: levels of use as last folded become columns of the index, where recall reads them.

Owns: the protocol of it. Guarantees: only rows whose level reached another step of a week are written again, so the
cost goes with what was used and not with what is stored; text, terms and vectors of a row are copied as they are; a
lost swap begins again at the load (P-NO-LOST-UPDATE). Killed anywhere, the next run finds what is left by comparing
again (P-IDEMPOTENT), and a rebuild shows the same (P-TRUTH).
Gives up: levels closer than a week, which move a score by less than 0.001.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lodestore.domain.manifest import Manifest, SegmentEntry, next_manifest, settled
from lodestore.domain.use_levels import Levels, UseLevels
from lodestore.ports.clock import Clock, Entropy
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_merge import MergeInput, merge_segments
from lodestore.retrieval.segment_search import Mask
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.index_view import IndexView, ListedSegment, Shown, killed_rows, resolve
from lodestore.services.indexing import Contended, NeedsRebuild, usable
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.merging import model_of
from lodestore.services.rows import use_columns
from lodestore.services.segments import Segments

RUN_ROWS = 2_000
_TRIES = 10
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Refreshed:
    """How many rows were (with `dry_run`: would be) written again, and how many more there are than a run takes."""

    rows: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """The rows to write again, by listed segment."""

    rows: tuple[tuple[ListedSegment, tuple[int, ...]], ...]


class Refreshing:
    """The refreshing of all tenants' indexes. Safe beside everything else."""

    def __init__(
        self, manifests: Manifests, segments: Segments, *, clock: Clock, entropy: Entropy, model: str | None
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._clock = clock
        self._entropy = entropy
        self._model = model

    def run(
        self,
        tenant: str,
        levels: Levels,
        *,
        dry_run: bool = False,
        going: Callable[[], bool] = lambda: True,
    ) -> Refreshed:
        """Write up to 2,000 rows again. Raises StoreUnavailable, Contended, NeedsRebuild; then nothing changed."""
        for attempt in range(_TRIES):
            standing = self._manifests.load(tenant)
            moved = self._moved(tenant, usable(standing), levels)
            taken = moved[:RUN_ROWS]
            done = Refreshed(len(taken), len(moved) - len(taken))
            if dry_run or not taken:
                return done
            if not going():
                return Refreshed(left=len(moved))
            if self._swap(tenant, standing, _chosen(taken), levels):
                return done
            self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
        raise Contended

    def _moved(self, tenant: str, manifest: Manifest, levels: Levels) -> list[Shown]:
        """How the index shows those memories whose levels it does not show."""
        if not levels:
            return []
        view: IndexView = resolve(manifest, self._segments.load(tenant, manifest.names))
        if view.missing:
            raise NeedsRebuild
        shown = view.shown(levels)
        return [
            shown[memory_id]
            for memory_id in sorted(shown)
            if not shown[memory_id].stub and _has_moved(shown[memory_id], levels[memory_id])
        ]

    def _swap(self, tenant: str, standing: LoadedManifest, chosen: _Chosen, levels: Levels) -> bool:
        assert standing.manifest is not None
        assert standing.stored_at is not None
        entries = {entry.name: entry for entry in settled(standing.manifest, standing.stored_at).segments}
        added = self._write(tenant, chosen, levels)
        before = [entries[one.entry.name] for one, _ in chosen.rows]
        # Every manifest since then shows these very revisions, so markers can be deleted by it; and so does the engine.
        added = replace(
            added,
            listed_at=max(entry.listed_at for entry in before if entry.listed_at is not None),
            in_engine=all(entry.in_engine for entry in before),
        )
        following = next_manifest(
            standing.manifest,
            stored_at=standing.stored_at,
            now=self._clock.now(),
            added=[added],
            killed={one.entry.name: killed_rows(one.segment, rows) for one, rows in chosen.rows},
        )
        return self._manifests.swap(standing, following)

    def _write(self, tenant: str, chosen: _Chosen, levels: Levels) -> SegmentEntry:
        model = model_of(
            self._model, [one.entry for one, _ in chosen.rows], [one.segment for one, _ in chosen.rows]
        )
        kept = [MergeInput(one.segment, _mask(one.segment, rows)) for one, rows in chosen.rows]
        segment = merge_segments(kept, model=model, tokenizer=TOKENIZER_VERSION).segment
        for row in range(len(segment)):
            for name, days in use_columns(levels[segment.text("id", row)]).items():
                segment[name][row] = days
        return self._segments.write(tenant, segment).entry


def _chosen(moved: list[Shown]) -> _Chosen:
    rows: defaultdict[str, list[int]] = defaultdict(list)
    listed: dict[str, ListedSegment] = {}
    for one in moved:
        rows[one.listed.entry.name].append(one.row)
        listed[one.listed.entry.name] = one.listed
    return _Chosen(tuple((listed[name], tuple(sorted(found))) for name, found in rows.items()))


def _mask(segment: Segment, rows: tuple[int, ...]) -> Mask:
    mask = np.zeros(len(segment), np.bool_)
    mask[list(rows)] = True
    return mask


def _has_moved(shown: Shown, levels: UseLevels) -> bool:
    segment = shown.listed.segment
    return any(days != float(segment[name][shown.row]) for name, days in use_columns(levels).items())
