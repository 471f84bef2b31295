"""Objects that someone else put into the buckets: whole, broken, absurd, or made to break their reader.

Owns: the hostile bodies, and how they come to lie under a key. Guarantees: every kind of key of both buckets is named
here, so that a new one is tried or fails the test; bodies are small where they lie and large where they are unpacked.
Gives up: what S3 itself would refuse.
"""

from __future__ import annotations

import base64
import gzip
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from lodestore.domain import limits
from lodestore.format import keys
from lodestore.ports.object_store import Found, ObjectStore
from lodestore.services.manifests import MANIFEST_BYTES
from tests.services.world import World

Json = dict[str, Any]

TENANT = "acme"
OWN = "The walrus of this house eats clams"
NEWER = "01KK83E8E1FFAX8ZJ4DZ7C44BK"
MEGABYTE = 1_048_576


def nested(levels: int, *, named: bool = False) -> object:
    """Lists or objects within each other."""
    value: object = 1
    for _ in range(levels):
        value = {"a": value} if named else [value]
    return value


# Values of a JSON field that its reader did not think of.
VALUES: tuple[object, ...] = (
    None,
    -1,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "\ud83d",
    "x\x00\u202e",
    "../../x",
    "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01",
    [],
    {},
    [None],
    [[float("inf"), 1]],
    ["x"] * 5_000,
    nested(500),
    {"a": nested(500, named=True)},
)


def _gzipped() -> bytes:
    return gzip.compress(b"0" * (20 * MEGABYTE), 9, mtime=0)


def _zipped() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"0" * (20 * MEGABYTE))
    return buffer.getvalue()


def _tensors(header: object, length: int | None = None, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


_META = {"lodestore": json.dumps({"schema": "1", "tokenizer": "1", "model": ""})}
BODIES: Mapping[str, bytes] = {
    "empty": b"",
    "zeros": bytes(4_096),
    "no UTF-8": b"\xff\xfe\x00",
    "UTF-16": '{"schema":1}'.encode("utf-16"),
    "null": b"null",
    "a list": b"[]",
    "an empty object": b"{}",
    "another schema": b'{"schema":2}',
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "a number of many digits": b'{"schema":' + b"9" * 100_000 + b"}",
    "no number": b'{"schema":NaN}',
    "a gzip bomb": _gzipped(),
    "a zip bomb": _zipped(),
    "over every limit": b'{"schema":1,"a":"' + b"x" * (MANIFEST_BYTES + 1) + b'"}',
    "tensors: a header of exabytes": _tensors({}, 2**63),
    "tensors: a header longer than the body": _tensors({}, 60_000),
    "tensors: arrays of exabytes": _tensors(
        {"__metadata__": _META, "id_hash": {"dtype": "U64", "shape": [2**60], "data_offsets": [0, 8]}}, data=bytes(8)
    ),
    "tensors: an array outside the body": _tensors(
        {"__metadata__": _META, "id_hash": {"dtype": "U64", "shape": [1], "data_offsets": [2**40, 2**40 + 8]}}
    ),
    "tensors: a shape below nothing": _tensors(
        {"__metadata__": _META, "id_hash": {"dtype": "U64", "shape": [-1], "data_offsets": [0, 8]}}, data=bytes(8)
    ),
    "tensors: of another type": _tensors({"__metadata__": {"lodestore": "[" * 5_000}}),
    "tensors: without arrays": _tensors({"__metadata__": _META}),
}  # fmt: skip


# An object that nobody opens is not broken by what it holds, but may be by how much.
_UNOPENED = ("empty", "zeros", "over every limit")


def bodies_of(kind: str) -> Iterator[str]:
    """The bodies that are tried at keys of this kind."""
    for name in BODIES:
        if kind in ("marker", "due", "receipt", "slept"):
            if name in _UNOPENED:
                yield name
        elif not name.startswith("tensors") or kind == "segment":
            yield name


@dataclass(frozen=True, slots=True)
class Place:
    """A key of one of the buckets."""

    store: ObjectStore
    key: str

    def put(self, body: bytes) -> None:
        """Whatever stands there gives way."""
        found = self.store.get(self.key)
        if isinstance(found, Found):
            self.store.replace(self.key, body, expected=found.etag)
        else:
            self.store.create(self.key, body)


def places(world: World) -> dict[str, list[Place]]:
    """Keys of every kind, those that stand there and one beside them."""
    state, index = world.state.inner, world.index.inner
    return {
        "memory": [Place(state, keys.memory(TENANT, "planted"))],
        "tombstone": [Place(state, keys.tombstone(TENANT, name)) for name in ("gone", "planted", "own")],
        "marker": [Place(index, keys.pending(TENANT, NEWER, name)) for name in ("planted", "own", "gone")],
        "manifest": [Place(index, keys.manifest(TENANT))],
        "segment": [Place(index, key) for key in _listed(index, keys.segments_of(TENANT))]
        + [Place(index, keys.segment(TENANT, NEWER))],
        "delta": [Place(index, keys.counts_delta(TENANT, "0" * 32, 1))],
        "snapshot": [Place(index, keys.counts_snapshot(TENANT))],
        "report": [Place(index, keys.report(TENANT, NEWER))],
        "receipt": [Place(index, keys.receipt("0" * 64))],
        "slept": [
            Place(index, key) for key in _listed(index, keys.reports_of(TENANT)) if keys.parse_slept(key)
        ]
        + [Place(index, keys.slept(TENANT, "0" * 64))],
        "proposal": [Place(index, keys.proposal(TENANT, "0" * 32))],
        "undo": [Place(index, keys.undo(TENANT, "0" * 32))],
        "reviewed": [Place(index, keys.reviewed(TENANT))],
        "due": [Place(index, keys.due("2026-03-09T01", TENANT))],
    }


def _listed(store: ObjectStore, prefix: str) -> Iterator[str]:
    for page in store.list(prefix):
        yield from (entry.key for entry in page.entries)


def stand_up(world: World) -> None:
    """A tenant with a memory, a forgotten one, counts, a report and an index."""
    house = world.instance(TENANT)
    house.stored(
        OWN, id="own", tags=["sea"], source="Nora", category="zoo", metadata={"a": 1}, valid_from="2026-01-01"
    )
    house.stored("A walrus that left", id="gone")
    house.call("forget", id="gone", reason="it left")
    house.call("memory_feedback", id="own", useful=True, note="it did")
    house.call("maintain")


def fields_of(world: World, memory_id: str) -> Json:
    """A record as it stands."""
    found = world.state.inner.get(keys.memory(TENANT, memory_id), max_bytes=limits.OBJECT_BYTES)
    assert isinstance(found, Found)
    fields: Json = json.loads(found.body)
    return fields


def variants(fields: Json) -> Iterator[tuple[str, bytes]]:
    """Records like this one, each with one field of a hostile value; the id says which."""
    for path in paths_in(fields):
        for number, value in enumerate(VALUES if path != "id" else ()):
            memory_id = f"{path}-{number}"
            yield memory_id, changed({**fields, "id": memory_id}, path, value)


def paths_in(fields: Json) -> Iterator[str]:
    """Every field, and as `embedding.dim` every field of a field."""
    for name, value in fields.items():
        yield name
        yield from (f"{name}.{own}" for own in value) if isinstance(value, dict) else ()


def changed(fields: Json, path: str, value: object) -> bytes:
    """The object with that value in the place of one of its fields."""
    made: Json = json.loads(json.dumps(fields))
    holder, _, own = path.rpartition(".")
    (made[holder] if holder else made)[own] = value
    return json.dumps(made).encode()


def spoilt_segments(body: bytes) -> Iterator[tuple[str, bytes]]:
    """A segment with one of its arrays at the end of its range, or without it; by the array's name."""
    described = json.loads(body[8 : 8 + int.from_bytes(body[:8], "little")])["__metadata__"]
    for name, array in load(body).items():
        kind = array.dtype
        ends = (np.nan, np.inf, -1e38) if kind.kind == "f" else (np.iinfo(kind).max, np.iinfo(kind).min)
        for end in ends:
            yield name, save({**load(body), name: np.full_like(array, end)}, metadata=described)
        yield name, save({n: a for n, a in load(body).items() if n != name}, metadata=described)
        yield name, save({**load(body), name: array[:-1]}, metadata=described)


def endless_vectors(fields: Json) -> bytes:
    """A record whose vector has components that are no numbers."""
    made: Json = json.loads(json.dumps(fields))
    size = made["embedding"]["dim"] * len(made["embedding"]["spans"])
    values = np.full(size, np.nan, np.float16)
    values[::2] = np.inf
    made["id"] = "planted"
    made["embedding"]["f16"] = base64.b64encode(values.tobytes()).decode()
    return json.dumps(made).encode()
