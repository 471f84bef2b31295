"""Which segments' vectors are in the vector engine: the pure changes to a manifest that say so.

Owns: beginning a use, leaving it, marking segments. Guarantees: each is a new generation; a use begins with no segment
marked, so nothing is taken for filled that another beginning filled; an index that is left is named till it is dropped.
Gives up: the engine itself; `services/vector_filling` and `services/vector_sweeping` work on it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from lodestore.domain.manifest import EngineUse, Manifest, Retired, next_manifest


def with_use(
    manifest: Manifest, use: EngineUse | None, *, stored_at: datetime | None, now: datetime
) -> Manifest:
    """The next generation with this use, and no segment marked. The index of the use before, if another, is left."""
    before = manifest.engine.index if manifest.engine is not None else None
    index = use.index if use is not None else None
    following = next_manifest(manifest, stored_at=stored_at, now=now)
    left = following.engine_left
    if before is not None and before != index:
        left = (*(item for item in left if item.name != before), Retired(before, None))
    return replace(
        following,
        engine=use,
        engine_left=left,
        segments=tuple(replace(entry, in_engine=False) for entry in following.segments),
    )


def with_marks(
    manifest: Manifest,
    names: Collection[str],
    *,
    filled: bool,
    stored_at: datetime | None,
    now: datetime,
) -> Manifest:
    """The next generation with the marks of these segments, of those that are still listed."""
    following = next_manifest(manifest, stored_at=stored_at, now=now)
    segments = tuple(
        replace(entry, in_engine=filled) if entry.name in names else entry for entry in following.segments
    )
    return replace(following, segments=segments)


def without_left(
    manifest: Manifest, dropped: Collection[str], *, stored_at: datetime | None, now: datetime
) -> Manifest:
    """The next generation, which no longer names these indexes as left."""
    following = next_manifest(manifest, stored_at=stored_at, now=now)
    left = tuple(item for item in following.engine_left if item.name not in dropped)
    return replace(following, engine_left=left)


def is_left(manifest: Manifest, index: str) -> bool:
    """Whether the index is named as left, and so may be dropped at any time."""
    return any(item.name == index for item in manifest.engine_left)


def marked(manifest: Manifest, index: str | None) -> frozenset[str]:
    """The segments whose vectors are in this index."""
    if manifest.engine is None or manifest.engine.index != index:
        return frozenset()
    return frozenset(entry.name for entry in manifest.segments if entry.in_engine)
