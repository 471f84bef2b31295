"""What an index must show, and what it does show: the measure of every test of the index.

Owns: the comparison of an index with the truth, a world without an index to compare answers with, readers of an older
manifest. Guarantees: all of it reads behind the faults and the request log of a world.
Gives up: the order in which things come about.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from lodestore.domain.memory import Stub
from lodestore.format import keys
from lodestore.format.records import decode_record
from lodestore.ports.object_store import Found, ObjectStore
from lodestore.services.due import Due
from lodestore.services.held import HeldRecords
from lodestore.services.index_view import live_rows, resolve
from lodestore.services.manifests import LoadedManifest, Manifests
from lodestore.services.pending import Pending
from lodestore.services.segments import Segments
from lodestore.services.tenant_view import TenantView, TenantViews
from lodestore.services.truth import Truth
from tests.faults.hostile_store import FaultyStore
from tests.services.world import START, Answer, CountingMeter, Instance, SeededEntropy, World
from tests.stores.memory_store import Contents, MemoryStore

TENANT = "acme"
# Id to (revision, ETag, whether it is a stub).
Shown = dict[str, tuple[str, str, bool]]


def truth_of(world: World, tenant: str = TENANT) -> Shown:
    """What stands in the state bucket."""
    shown: Shown = {}
    for page in world.state.inner.list(keys.memories_of(tenant)):
        for entry in page.entries:
            found = world.state.inner.get(entry.key)
            name = keys.parse_memory(entry.key)
            assert isinstance(found, Found)
            assert name is not None
            record = decode_record(found.body, tenant, name.id)
            shown[name.id] = (record.revision, found.etag, isinstance(record, Stub))
    return shown


def manifest_of(world: World, tenant: str = TENANT) -> LoadedManifest:
    """The manifest as it stands."""
    return Manifests(world.index.inner, CountingMeter()).load(tenant)


def shown_by_index(world: World, tenant: str = TENANT) -> Shown:
    """What the index shows of each id. Every number in the manifest must be right, too."""
    manifest = manifest_of(world, tenant).manifest
    if manifest is None:
        return {}
    with ThreadPoolExecutor(4) as workers:
        segments = _segments(world.index.inner, workers, world).load(tenant, manifest.names)
    view = resolve(manifest, segments)
    assert view.missing == (), "the manifest lists a segment that is not there"
    shown: Shown = {}
    for listed in view.listed:
        segment, live = listed.segment, live_rows(listed.entry)
        assert listed.entry.documents == int((live & (segment["stub"] == 0)).sum())
        assert listed.entry.length == int(segment["length"][live].sum())
        assert listed.entry.vectors == segment.vectors
        # Of each id one row lives, or a later kill would let an older one show.
        assert (listed.counts == live).all()
        for row in listed.counts.nonzero()[0].tolist():
            memory_id = segment.text("id", row)
            assert memory_id not in shown, f"{memory_id} is shown twice"
            shown[memory_id] = (segment.revision(row), segment.text("etag", row), bool(segment["stub"][row]))
    return shown


def markers_of(world: World, tenant: str = TENANT) -> set[str]:
    """The markers that are there, as `<revision>~<id>`."""
    pages = world.index.inner.list(keys.pending_of(tenant))
    return {entry.key.rpartition("/")[2] for page in pages for entry in page.entries}


def segments_of(world: World, tenant: str = TENANT) -> set[str]:
    """The names of the segments that are there, listed or not."""
    pages = world.index.inner.list(keys.segments_of(tenant))
    return {name for page in pages for entry in page.entries if (name := keys.parse_segment(entry.key))}


def in_memory(world: World, state: Contents, index: Contents) -> World:
    """A world at the same time over buckets in memory, which can be looked at, kept and begun with again."""
    other = World(world.folder / "never-made")
    other.clock.advance(world.clock.now() - START)
    other.state.inner = MemoryStore(other.clock, state)
    other.index.inner = MemoryStore(other.clock, index)
    return other


def contents_of(store: FaultyStore) -> Contents:
    """What a bucket in memory holds."""
    assert isinstance(store.inner, MemoryStore)
    return store.inner.contents


def without_index(world: World, tenant: str = TENANT) -> World:
    """The same truth in a world whose index is all tail: a marker for each record, and nothing else."""
    bare = in_memory(world, Contents(versioned=True), Contents(versioned=False))
    for page in world.state.inner.list(""):
        for entry in page.entries:
            found = world.state.inner.get(entry.key)
            assert isinstance(found, Found)
            bare.state.inner.create(entry.key, found.body)
    for memory_id, (revision, _, _) in truth_of(world, tenant).items():
        bare.index.inner.create(keys.pending(tenant, revision, memory_id), b"")
    return bare


def answers_of(instance: Instance, *queries: str) -> dict[str, object]:
    """Every answer that an index could change, without what it says of the index itself."""
    given: dict[str, object] = {}
    for query in queries:
        answer = instance.call("recall", query=query, mode="exploratory", limit=50, explain=True)
        given[f"recall {query}"] = {k: v for k, v in answer.items() if k != "freshness"}
    for status in ("active", "all"):
        given[f"list {status}"] = instance.call("list_memories", status=status, limit=100)
    stats = instance.call("memory_stats")
    given["stats"] = {k: v for k, v in stats.items() if k not in ("index", "pending", "counters")}
    return given


def indexed(world: World, tenant: str = TENANT, *, times: int = 1) -> Answer:
    """Let a fresh process do its upkeep as after an event; the stats of the index then."""
    lodestore = world.instance(tenant).lodestore
    for _ in range(times):
        lodestore.upkeep.index(tenant)
    stats = world.instance(tenant).call("memory_stats")["index"]
    assert isinstance(stats, dict)
    return stats


class OlderManifest(Manifests):
    """Manifests as a reader has them that loaded one a while ago."""

    def __init__(self, world: World, loaded: LoadedManifest) -> None:
        super().__init__(world.index.inner, CountingMeter())
        self._loaded = loaded

    def load(self, tenant: str) -> LoadedManifest:
        assert self._loaded.manifest is None or self._loaded.manifest.tenant == tenant
        return self._loaded


def view_with(world: World, loaded: LoadedManifest, tenant: str = TENANT) -> TenantView:
    """What a reader sees that loaded this manifest earlier and lists the markers now."""
    meter, index = CountingMeter(), world.index.inner
    with ThreadPoolExecutor(4) as workers:
        views = TenantViews(
            OlderManifest(world, loaded),
            _segments(index, workers, world),
            Pending(index, workers=workers, meter=meter),
            Truth(world.state.inner, workers=workers, meter=meter),
            HeldRecords(),
            Due(index, world.clock, meter),
            workers=workers,
            meter=meter,
            model=None,
        )
        return views.load(tenant)


def shown_by_view(view: TenantView) -> Shown:
    """What a reader's view shows of each id."""
    shown: Shown = {}
    for part in view.parts:
        for row in part.counts.nonzero()[0].tolist():
            segment = part.segment
            memory_id = segment.text("id", row)
            assert memory_id not in shown, f"{memory_id} is shown twice"
            shown[memory_id] = (segment.revision(row), segment.text("etag", row), bool(segment["stub"][row]))
    return shown


def _segments(index: ObjectStore, workers: ThreadPoolExecutor, world: World) -> Segments:
    return Segments(
        index, clock=world.clock, entropy=SeededEntropy(1), workers=workers, meter=CountingMeter()
    )
