"""Sweeping the vector engine: vectors of what is no longer shown go, those that are missing come back.

Owns: deletes of stale vectors and of indexes that were left. Guarantees: a vector is deleted only where a manifest
that was loaded after the vector was listed shows its memory otherwise, and has done so for MARKER_LAG, so that no
reader of an older manifest misses it; of what is forgotten at once (P-FORGOTTEN). A segment whose vectors are not all
there is unmarked, and so scored from the shards until it is filled again.
Gives up: more than SWEEP_MOST stale vectors in a run; what is left is said and goes the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from lodestore.domain.engine_marks import marked, with_marks, with_use, without_left
from lodestore.domain.manifest import Manifest
from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import StoreUnavailable
from lodestore.ports.vector_index import Done, Failure, KeyPage, NoIndex, Shape, VectorIndex
from lodestore.retrieval.hashing import Hashes, hashes64
from lodestore.services.due import Due
from lodestore.services.index_view import IndexView, Shown, resolve
from lodestore.services.indexing import MARKER_LAG
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.segments import Segments
from lodestore.services.vector_filling import EngineFailed, VectorFilling
from lodestore.services.vector_rows import keys_of, with_vectors

SWEEP_MOST = 100_000
_TRIES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsSwept:
    """What one run found; with `dry_run`, what it would do.

    listed    vectors in the index; `deleted` of them were stale, `waiting` are, and were shown until a moment ago
    unmarked  segments of which vectors were missing
    dropped   indexes that were left
    failed    the engine refused or did not answer, and the run ended there
    """

    listed: int = 0
    deleted: int = 0
    waiting: int = 0
    unmarked: int = 0
    dropped: int = 0
    left: int = 0
    failed: bool = False


class VectorSweeping:
    """The sweep of all tenants' vector indexes."""

    def __init__(
        self,
        engine: VectorIndex,
        filling: VectorFilling,
        manifests: Manifests,
        segments: Segments,
        due: Due,
        *,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._engine = engine
        self._filling = filling
        self._manifests = manifests
        self._segments = segments
        self._due = due
        self._clock = clock
        self._meter = meter

    def run(
        self, tenant: str, *, dry_run: bool = False, going: Callable[[], bool] = lambda: True
    ) -> VectorsSwept:
        """Sweep a tenant. Raises StoreUnavailable."""
        manifest = self._manifests.load(tenant).manifest
        if manifest is None or (manifest.engine is None and not manifest.engine_left):
            return VectorsSwept()
        swept = VectorsSwept()
        try:
            if not dry_run:
                swept = replace(swept, dropped=self._drop_left(tenant))
            if manifest.engine is not None and manifest.engine.index == self._filling.index_of(tenant):
                swept = self._sweep(tenant, swept, dry_run, going)
        except EngineFailed:
            self._meter.count("vector_sweep_failed")
            swept = replace(swept, failed=True)
        if not dry_run:
            self._after(tenant, swept, going)
        return swept

    def vectors_of(self, tenant: str, memory_id: str) -> int:
        """How many vectors of a memory are in the index in use. Raises StoreUnavailable, EngineFailed."""
        manifest = self._manifests.load(tenant).manifest
        if manifest is None or manifest.engine is None:
            return 0
        names = (keys.parse_vector(key) for page in self._pages(manifest.engine.index) for key in page)
        return sum(name is not None and name.id == memory_id for name in names)

    def _after(self, tenant: str, swept: VectorsSwept, going: Callable[[], bool]) -> None:
        if swept.unmarked or swept.failed:
            self._filling.run(tenant, going=going)
        if swept.waiting or swept.left or swept.failed:
            self._due.note(tenant, self._clock.now())

    def _drop_left(self, tenant: str) -> int:
        """Drop the indexes that no manifest of the last minute uses, and then stop naming them."""
        for _ in range(_TRIES):
            standing = self._manifests.load(tenant)
            manifest = standing.manifest
            if manifest is None or not manifest.engine_left:
                return 0
            names = _long_left(standing, manifest)
            if len(names) < len(manifest.engine_left):
                self._due.note(tenant, self._clock.now())
            if not names:
                return 0
            for name in names:
                _checked(self._engine.drop(name))
            following = without_left(manifest, names, stored_at=standing.stored_at, now=self._clock.now())
            if self._manifests.swap(standing, following):
                return len(names)
        return 0

    def _sweep(
        self, tenant: str, swept: VectorsSwept, dry_run: bool, going: Callable[[], bool]
    ) -> VectorsSwept:
        index = self._filling.index_of(tenant)
        if not self._is_there(tenant, index, dry_run):
            return replace(swept, unmarked=swept.unmarked + 1)
        before, view = self._view(tenant)
        doubted, hashes = self._listed(index, view)
        standing, view = self._view(tenant)
        stale, waiting = self._stale(standing, view, doubted)
        if not dry_run and stale and going():
            _checked(self._engine.delete(index, stale))
        # What was put after the listing isn't in it, so only what was marked before it can lack.
        names = _marked_in_both(before.manifest, standing.manifest)
        lacking = self._lacking(names, view, np.concatenate(hashes))
        if lacking and not dry_run:
            self._unmark(tenant, lacking)
        return replace(
            swept,
            listed=sum(map(len, hashes)),
            deleted=len(stale),
            waiting=waiting,
            unmarked=len(lacking),
            left=max(0, len(doubted) - SWEEP_MOST),
        )

    def _is_there(self, tenant: str, index: str, dry_run: bool) -> bool:
        """Whether the index is there and as it has to be; where not, what it held is no longer taken for there."""
        shape = self._engine.describe(index)
        if isinstance(shape, Shape) and self._filling.fits(shape):
            return True
        if not isinstance(shape, Shape | NoIndex):
            raise EngineFailed
        self._meter.count("vector_index_missing" if isinstance(shape, NoIndex) else "vector_index_misshapen")
        if not dry_run and isinstance(shape, NoIndex):
            self._filling.begin_again(tenant)
        elif not dry_run:
            self._leave(tenant)
        return False

    def _leave(self, tenant: str) -> None:
        standing = self._manifests.load(tenant)
        if standing.manifest is not None:
            now = self._clock.now()
            following = with_use(standing.manifest, None, stored_at=standing.stored_at, now=now)
            self._manifests.swap(standing, following)

    def _view(self, tenant: str) -> tuple[LoadedManifest, IndexView]:
        standing = self._manifests.load(tenant)
        if standing.manifest is None:
            raise StoreUnavailable("the manifest went away")
        view = resolve(standing.manifest, self._segments.load(tenant, standing.manifest.names))
        if view.missing:
            raise StoreUnavailable("a listed segment is missing")
        return standing, view

    def _pages(self, index: str) -> Iterator[Sequence[str]]:
        following: str | None = None
        while True:
            page = _checked_page(self._engine.list(index, following))
            yield page.keys
            following = page.following
            if following is None:
                return

    def _listed(self, index: str, view: IndexView) -> tuple[list[str], list[Hashes]]:
        """Keys that the view does not show, and the hashes of all keys, page by page."""
        doubted: list[str] = []
        hashes = [np.zeros(0, np.uint64)]
        for page in self._pages(index):
            hashes.append(hashes64(page))
            doubted.extend(_not_shown(view, page))
        return doubted, hashes

    def _stale(
        self, standing: LoadedManifest, view: IndexView, doubted: Sequence[str]
    ) -> tuple[list[str], int]:
        stale: list[str] = []
        waiting = 0
        shown = view.shown({name.id for key in doubted if (name := keys.parse_vector(key)) is not None})
        for key in _not_shown(view, doubted[:SWEEP_MOST]):
            name = keys.parse_vector(key)
            if name is None or _is_over(standing, shown.get(name.id)):
                stale.append(key)
            else:
                waiting += 1
        return stale, waiting

    def _lacking(self, names: frozenset[str], view: IndexView, listed: Hashes) -> list[str]:
        """Those of the segments of which a counted row's vectors are not all there."""
        lacking: list[str] = []
        for one in view.listed:
            if one.entry.name not in names or not self._filling.fills(one.segment):
                continue
            wanted = hashes64(keys_of(one.segment, with_vectors(one.segment, one.counts).tolist()))
            if not np.isin(wanted, listed).all():
                lacking.append(one.entry.name)
        return lacking

    def _unmark(self, tenant: str, names: Sequence[str]) -> None:
        for _ in range(_TRIES):
            standing = self._manifests.load(tenant)
            if standing.manifest is None:
                return
            now = self._clock.now()
            following = with_marks(
                standing.manifest, names, filled=False, stored_at=standing.stored_at, now=now
            )
            if self._manifests.swap(standing, following):
                self._meter.count("vectors_missing")
                return


def _long_left(standing: LoadedManifest, manifest: Manifest) -> list[str]:
    """The indexes that were left so long ago that no recall can still be asking them."""
    return [
        item.name
        for item in manifest.engine_left
        if (since := item.at or standing.stored_at) is not None and standing.at - since >= MARKER_LAG
    ]


def _marked_in_both(before: Manifest | None, now: Manifest | None) -> frozenset[str]:
    if before is None or now is None or before.engine is None or before.engine != now.engine:
        return frozenset()
    return marked(before, before.engine.index) & marked(now, before.engine.index)


def _checked(outcome: Done | Failure) -> None:
    if not isinstance(outcome, Done):
        raise EngineFailed


def _checked_page(page: KeyPage | Failure) -> KeyPage:
    if not isinstance(page, KeyPage):
        raise EngineFailed
    return page


def _not_shown(view: IndexView, page: Sequence[str]) -> list[str]:
    names = {key: keys.parse_vector(key) for key in page}
    shown = view.shown({name.id for name in names.values() if name is not None})
    return [
        key
        for key, name in names.items()
        if name is None
        or (found := shown.get(name.id)) is None
        or found.stub
        or found.revision != name.revision
    ]


def _is_over(standing: LoadedManifest, shown: Shown | None) -> bool:
    """Whether every reader's manifest shows the memory otherwise. A forgotten one is missed by nobody."""
    if shown is not None and shown.stub:
        return True
    since: datetime | None = shown.listed.entry.listed_at if shown is not None else None
    since = since if since is not None else standing.stored_at
    return since is not None and standing.at - since >= MARKER_LAG
