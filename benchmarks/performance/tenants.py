"""A tenant of any size on a folder, the processes that serve it, and the log of their requests.

Owns: `Site`, `synthetic_segment`. Guarantees: rows, segments and manifest come from the builders and codecs that ship;
every request of every process is in the log; time moves only when a benchmark moves it.
Gives up: how a large tenant came to be. Its index is written as it would stand, not by a hundred thousand writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from hashlib import md5
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.performance.layouts import scattered
from benchmarks.performance.synthetic import MODEL, TENANT, SyntheticEmbedder, memories
from lodestore.adapters.folder_store import FolderStore
from lodestore.bootstrap import Lodestore, assemble
from lodestore.domain.caller import Caller, Role
from lodestore.domain.manifest import Manifest
from lodestore.format import keys
from lodestore.format.manifests import encode_manifest
from lodestore.format.records import encode_record
from lodestore.ports.object_store import Won
from lodestore.retrieval.segment import Segment
from lodestore.retrieval.segment_merge import MergeInput, merge_segments
from lodestore.retrieval.tokenizer import TOKENIZER_VERSION
from lodestore.services.rows import row_of, segment_of
from lodestore.services.segments import Segments
from lodestore.settings import parse_settings
from tests.faults.hostile_store import FaultyStore, Request
from tests.services.world import CountingMeter, FakeClock, SeededEntropy

CALLER = Caller(TENANT, None, Role.ADMIN)
# Old enough for a marker, a manifest or a segment to be settled.
SETTLED = timedelta(minutes=2)
_BUILT_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Requests of a call, and the bytes of their bodies."""

    requests: tuple[Request, ...]

    @property
    def sent(self) -> int:
        """Bytes of the bodies of writes."""
        return sum(request.sent for request in self.requests)

    @property
    def received(self) -> int:
        """Bytes of the bodies of answers to reads."""
        return sum(request.received for request in self.requests)

    def received_below(self, prefix: str) -> int:
        """Bytes read of the objects below this prefix."""
        return sum(request.received for request in self.requests if request.key.startswith(prefix))

    def described(self) -> str:
        """How many of which operation: `3 get, 1 list`."""
        kinds = sorted({request.operation for request in self.requests})
        counts = [(sum(one.operation == kind for one in self.requests), kind) for kind in kinds]
        return ", ".join(f"{count} {kind}" for count, kind in counts)


class Site:
    """Two stores on a folder, and any number of processes over them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.state = FaultyStore(FolderStore(folder / "state", self.clock, versioned=True))
        self.index = FaultyStore(FolderStore(folder / "index", self.clock, versioned=False))
        self._processes: list[Lodestore] = []

    def process(self) -> Lodestore:
        """A process that holds nothing in memory yet."""
        lodestore = assemble(
            parse_settings({}),
            self.state,
            self.index,
            clock=self.clock,
            entropy=SeededEntropy(len(self._processes)),
            meter=CountingMeter(),
            embedder=SyntheticEmbedder(),
        )
        self._processes.append(lodestore)
        return lodestore

    def indexed(self, sizes: Sequence[int], *, dead_bytes_most: int = 0) -> Manifest:
        """Memories from number 0 on are in the index, so many in each segment; their objects are not there.

        dead_bytes_most   so many bytes of dead rows are in the manifest, scattered over the first segment
        """
        indexer = self.process()
        writer = Segments(
            self.index,
            clock=self.clock,
            entropy=indexer.entropy,
            workers=indexer.workers,
            meter=indexer.meter,
        )
        entries = []
        first = 0
        for size in sizes:
            entries.append(writer.write(TENANT, synthetic_segment(first, first + size)).entry)
            first += size
        if dead_bytes_most:
            dead = scattered(entries[0].rows, dead_bytes_most)
            # Which of the counted are dead does not matter to any size here.
            entries[0] = replace(entries[0], dead=dead, documents=entries[0].documents - len(dead))
        manifest = Manifest(
            tenant=TENANT,
            generation=1,
            updated_at=self.clock.now(),
            tokenizer=TOKENIZER_VERSION,
            model=MODEL,
            segments=tuple(entries),
        )
        assert isinstance(self.index.create(keys.manifest(TENANT), encode_manifest(manifest)), Won)
        self.clock.advance(SETTLED)
        return manifest

    def stored(self, first: int, last: int) -> None:
        """The objects of these memories, put into the folder as they are."""
        folder = self.folder / "state" / keys.memories_of(TENANT)
        folder.mkdir(parents=True, exist_ok=True)
        for memory in memories(first, last):
            (folder / Path(keys.memory(TENANT, memory.id)).name).write_bytes(encode_record(memory))

    def begin(self) -> None:
        """Begin a new log."""
        self.state.reset()
        self.index.reset()

    def cost(self) -> Cost:
        """The log since it began."""
        return Cost((*self.state.requests, *self.index.requests))

    def close(self) -> None:
        """Stop the worker threads."""
        for lodestore in self._processes:
            lodestore.workers.shutdown()


def call(process: Lodestore, tool: str, **arguments: object) -> dict[str, object]:
    """The tool's answer. Raises LodestoreError."""
    return process.toolbox.call(CALLER, tool, arguments)


@cache
def synthetic_segment(first: int, last: int) -> Segment:
    """Memories number `first` to `last` (left out) as one segment."""
    blocks = range(first // _BUILT_AT_ONCE, -(-last // _BUILT_AT_ONCE))
    cuts = sorted(
        {first, last, *(block * _BUILT_AT_ONCE for block in blocks if block * _BUILT_AT_ONCE > first)}
    )
    built = [_block(cut) if end - cut == _BUILT_AT_ONCE else _built(cut, end) for cut, end in pairwise(cuts)]
    return merged(built) if len(built) > 1 else built[0]


def merged(segments: Iterable[Segment]) -> Segment:
    """All rows of the segments as one."""
    inputs = [MergeInput(segment, np.ones(len(segment), np.bool_)) for segment in segments]
    return merge_segments(inputs, model=MODEL, tokenizer=TOKENIZER_VERSION).segment


@cache
def _block(first: int) -> Segment:
    """A whole block: the layouts of one size share most of their rows."""
    return _built(first, first + _BUILT_AT_ONCE)


def _built(first: int, last: int) -> Segment:
    rows = []
    for memory in memories(first, last):
        # As S3 would give it: no benchmark reads the object behind it by its ETag.
        etag = f'"{md5(memory.id.encode(), usedforsecurity=False).hexdigest()}"'
        rows.append(row_of(memory, etag, model=MODEL))
    return segment_of(rows, model=MODEL)
