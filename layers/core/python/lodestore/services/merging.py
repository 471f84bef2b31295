"""Merging: several segments become one, while readers and writers go on.

Owns: the protocol of a merge. Guarantees: the output is written before the manifest lists it, and inputs are retired,
not deleted; rows of the inputs that die while the merge is under way are dead in the output (P-NO-LOST-UPDATE);
nothing that a reader finds changes. An output counts as listed since the youngest of its inputs was: every manifest
since then shows all that is in it, so markers can be deleted by it (design, section 4).
Gives up: a merge whose inputs are gone by the time it is done. Its output is listed by nobody and collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lodestore.domain.manifest import (
    Manifest,
    SegmentEntry,
    next_manifest,
    settled,
    with_dead,
    without_segments,
)
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.meter import Meter
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_merge import MergeInput, Rows, merge_segments
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.index_view import killed_rows, live_rows
from lodestore.services.indexing import Contended, NeedsRebuild, usable
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.merge_plan import plan_merge
from lodestore.services.segments import LISTABLE_FOR, Segments, Written

_TRIES = 10
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class MergeDone:
    """One merge: `name` takes the place of the `retired` segments; None where none of their rows lives.

    listed   False: another run took an input away first, and nothing changed
    """

    retired: tuple[str, ...]
    name: str | None
    rows: int
    listed: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """What was merged: the inputs as the plan saw them, their rows' rows in the output, the output as written.

    written   None: no row of the inputs lives, so nothing was written
    """

    inputs: tuple[SegmentEntry, ...]
    rows: tuple[Rows, ...]
    segment: Segment
    written: Written | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(entry.name for entry in self.inputs)


class Merging:
    """Merges in the indexes of all tenants. Safe beside everything else."""

    def __init__(
        self,
        manifests: Manifests,
        segments: Segments,
        *,
        clock: Clock,
        entropy: Entropy,
        meter: Meter,
        model: str | None,
    ) -> None:
        self._manifests = manifests
        self._segments = segments
        self._clock = clock
        self._entropy = entropy
        self._meter = meter
        self._model = model

    def step(self, tenant: str, most_rows: int) -> MergeDone | None:
        """The next merge that gives at most `most_rows` rows; None: there is none to make.

        Raises StoreUnavailable, Contended, NeedsRebuild; then nothing changed, or the whole merge did.
        """
        manifest = usable(self._manifests.load(tenant))
        names = plan_merge(manifest, most_rows)
        return self._carry_out(tenant, manifest, names) if names else None

    def renew(self, tenant: str, name: str) -> MergeDone | None:
        """Write one segment anew without its dead rows; None: it is no longer listed, or has none. Raises as `step`."""
        manifest = usable(self._manifests.load(tenant))
        has_dead = any(entry.name == name and entry.dead for entry in manifest.segments)
        return self._carry_out(tenant, manifest, (name,)) if has_dead else None

    def _carry_out(self, tenant: str, manifest: Manifest, names: Sequence[str]) -> MergeDone:
        output = self._merge(tenant, [entry for entry in manifest.segments if entry.name in names])
        for attempt in range(_TRIES):
            done = self._list(tenant, output)
            if done is not None:
                self._meter.count("merge_listed" if done.listed else "merge_given_up")
                return done
            self._clock.pause(_PAUSE_SECONDS * 2**attempt * (0.5 + self._entropy.fraction()))
        raise Contended

    def _merge(self, tenant: str, inputs: Sequence[SegmentEntry]) -> _Output:
        segments = _whole(inputs, self._segments.load(tenant, [entry.name for entry in inputs]))
        kept = [
            MergeInput(segment, live_rows(entry)) for entry, segment in zip(inputs, segments, strict=True)
        ]
        merged = merge_segments(
            kept, model=model_of(self._model, inputs, segments), tokenizer=TOKENIZER_VERSION
        )
        written = self._segments.write(tenant, merged.segment) if len(merged.segment) else None
        return _Output(tuple(inputs), merged.rows, merged.segment, written)

    def _list(self, tenant: str, output: _Output) -> MergeDone | None:
        """Swap the manifest; None: another run swapped it first."""
        standing = self._manifests.load(tenant)
        manifest = usable(standing)
        name = output.written.entry.name if output.written is not None else None
        done = MergeDone(output.names, name, len(output.segment), listed=True)
        if name in manifest.names:
            # A swap of ours whose answer was lost.
            return done
        if not set(output.names) <= set(manifest.names) or _is_old(output, standing):
            return replace(done, listed=False)
        return done if self._manifests.swap(standing, self._next(standing, manifest, output)) else None

    def _next(self, standing: LoadedManifest, manifest: Manifest, output: _Output) -> Manifest:
        assert standing.stored_at is not None
        entries = {entry.name: entry for entry in settled(manifest, standing.stored_at).segments}
        added = [] if output.written is None else [_entry(output.written.entry, output, entries)]
        following = next_manifest(manifest, stored_at=standing.stored_at, now=self._clock.now(), added=added)
        return without_segments(following, output.names, standing.at)


def model_of(own: str | None, inputs: Sequence[SegmentEntry], segments: Sequence[Segment]) -> str | None:
    """This process's model; without one, that of the newest vectors, which a process without a model must keep."""
    if own is not None:
        return own
    models = {entry.name: segment.model for entry, segment in zip(inputs, segments, strict=True)}
    return next((model for _, model in sorted(models.items(), reverse=True) if model is not None), None)


def _whole(entries: Sequence[SegmentEntry], segments: Mapping[str, Segment | None]) -> list[Segment]:
    """The segments of these entries. Raises NeedsRebuild where one is missing, or not what the manifest says."""
    found = [segments.get(entry.name) for entry in entries]
    fitting = [
        segment
        for entry, segment in zip(entries, found, strict=True)
        if segment is not None and len(segment) == entry.rows
    ]
    if len(fitting) != len(entries):
        raise NeedsRebuild
    return fitting


def _is_old(output: _Output, standing: LoadedManifest) -> bool:
    return output.written is not None and standing.at - output.written.at > LISTABLE_FOR


def _entry(written: SegmentEntry, output: _Output, now: Mapping[str, SegmentEntry]) -> SegmentEntry:
    """The output's entry: rows that died in the inputs since the plan are dead in it."""
    dead: list[int] = []
    for before, rows in zip(output.inputs, output.rows, strict=True):
        died = sorted(set(now[before.name].dead) - set(before.dead))
        dead.extend(rows[died].tolist())
    listed = [moment for name in output.names if (moment := now[name].listed_at) is not None]
    # Its rows are rows of the inputs, so their vectors are in the engine where those of all inputs are.
    in_engine = all(now[name].in_engine for name in output.names)
    entry = replace(written, listed_at=max(listed), in_engine=in_engine)
    return with_dead(entry, killed_rows(output.segment, dead)) if dead else entry
