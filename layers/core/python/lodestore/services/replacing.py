"""Putting a rebuilt index in the place of the old one, while indexers and merges go on.

Owns: the swap at the end of a rebuild. Guarantees: every segment that was added since the rebuild began stays listed,
and of each id one row counts; the old ones are retired, not deleted; nothing is listed that collection may be
deleting.
Gives up: what a process of another version adds meanwhile; the rebuild is then to be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lodestore.domain.manifest import Manifest, SegmentEntry, next_manifest, without_segments
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.ports.clock import Clock, Entropy
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.doubled_rows import doubled_rows
from lodestore.services.index_view import ListedSegment, live_rows
from lodestore.services.indexing import Contended
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.segments import LISTABLE_FOR, Segments, Written

_TRIES = 10
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Replaced:
    """How many segments of others stay listed and how many are retired, and the ids to index again.

    touched   ids whose rows in the old segments died meanwhile: what the rebuild read of them may be from before
    """

    generation: int
    kept: int
    retired: int
    touched: frozenset[str]


class Replacing:
    """The last step of rebuilds."""

    def __init__(
        self, manifests: Manifests, segments: Segments, *, clock: Clock, entropy: Entropy, model: str | None
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._clock = clock
        self._entropy = entropy
        self._model = model

    def renewed(self, tenant: str, written: Iterable[Written]) -> list[Written]:
        """The segments; one that waits for long is written again, for what nobody lists is collected."""
        now = self._manifests.load(tenant).at
        return [one if now - one.at < LISTABLE_FOR / 2 else self._again(tenant, one.entry) for one in written]

    def run(self, tenant: str, begun: LoadedManifest, written: Sequence[Written]) -> Replaced:
        """List what was written, and what was added since `begun` was loaded. Raises StoreUnavailable, Contended."""
        name = next_revision(self._clock.now(), None, self._entropy.token(RANDOM_BYTES))
        planned: Replaced | None = None
        for attempt in range(_TRIES):
            written = self.renewed(tenant, written)
            standing = self._manifests.load(tenant)
            now = standing.manifest
            if now is not None and now.rebuilt == name and planned is not None:
                # A swap of ours whose answer was lost.
                return replace(planned, generation=now.generation)
            if begun.manifest is None and now is not None and now.rebuilt is not None:
                # Another rebuild began from the same nothing, and was faster.
                return Replaced(now.generation, len(now.segments), 0, frozenset())
            following = self._following(tenant, begun, standing, [one.entry for one in written])
            planned = self._planned(tenant, begun, now, following, planned)
            if self._manifests.swap(standing, replace(following, rebuilt=name)):
                return planned
            self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
        raise Contended

    def _again(self, tenant: str, entry: SegmentEntry) -> Written:
        (listed,) = self._resolved(tenant, [entry])
        return self._segments.write(tenant, listed.segment)

    def _following(
        self, tenant: str, begun: LoadedManifest, standing: LoadedManifest, entries: Sequence[SegmentEntry]
    ) -> Manifest:
        base = standing.manifest or Manifest(
            tenant=tenant, generation=0, updated_at=self._clock.now(), tokenizer=TOKENIZER_VERSION
        )
        old = begun.manifest.names if begun.manifest is not None else ()
        kept = [entry for entry in base.segments if entry.name not in old]
        if kept and base.tokenizer != TOKENIZER_VERSION:
            # What a process of another version adds can't be listed beside what was built here.
            raise Contended
        killed = doubled_rows(self._resolved(tenant, entries), self._resolved(tenant, kept)) if kept else {}
        following = next_manifest(
            replace(base, tokenizer=TOKENIZER_VERSION, model=self._model),
            stored_at=standing.stored_at if standing.manifest is not None else None,
            now=self._clock.now(),
            added=entries,
            killed=killed,
        )
        return without_segments(following, set(base.names).intersection(old), standing.at)

    def _planned(
        self,
        tenant: str,
        begun: LoadedManifest,
        now: Manifest | None,
        following: Manifest,
        before: Replaced | None,
    ) -> Replaced:
        listed = set(now.names) if now is not None else set()
        kept = listed.intersection(following.names)
        touched = self._touched(tenant, begun.manifest, now)
        return Replaced(
            following.generation,
            len(kept),
            len(listed - kept),
            touched | before.touched if before is not None else touched,
        )

    def _touched(self, tenant: str, begun: Manifest | None, now: Manifest | None) -> frozenset[str]:
        if begun is None or now is None:
            return frozenset()
        before = {entry.name: entry for entry in begun.segments}
        died = {
            entry.name: rows
            for entry in now.segments
            if entry.name in before and (rows := set(entry.dead).difference(before[entry.name].dead))
        }
        return frozenset(
            segment.text("id", row)
            for name, segment in self._segments.load(tenant, died).items()
            if segment is not None and len(segment) == before[name].rows
            for row in died[name]
        )

    def _resolved(self, tenant: str, entries: Sequence[SegmentEntry]) -> list[ListedSegment]:
        segments = self._segments.load(tenant, [entry.name for entry in entries])
        found: list[ListedSegment] = []
        for entry in entries:
            segment = segments[entry.name]
            if segment is None or len(segment) != entry.rows:
                raise Contended
            found.append(ListedSegment(entry, segment, live_rows(entry)))
        return found
