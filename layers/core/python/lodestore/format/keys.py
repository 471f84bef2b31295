"""Every key of both buckets, and the way back from a key to what it names.

Owns: all key literals (no other module holds one; `tests/structure` checks it).
Guarantees: keys have a fixed depth and hold only tenants and ids that are well-formed, so no tenant's prefix
starts another's and no name can climb out of its place (B21, B26).
Gives up: a place for any other name. An object under a key that no memory can have is not ours.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from dataclasses import dataclass

from lodestore.domain.identity import is_memory_id
from lodestore.domain.revision import is_revision
from lodestore.settings import is_tenant

MEMORIES = "memories/"
TOMBSTONES = "tombstones/"
PENDING = "pending/"
ACCESS = "access/"
COUNTS = "counts/"
INDEX = "index/"
DUE = "due/"
REPORTS = "reports/"
RECEIPTS = "receipts/"
PROPOSALS = "proposals/"
UNDO = "undo/"
# Where both buckets share one (`STORE=s3://…` and a folder), each has its own part of it.
STATE_PREFIX = "state/"
INDEX_PREFIX = "index/"
_SUFFIX = ".json"
_SEGMENT_SUFFIX = ".safetensors"
_REVISION_LENGTH = 26
# Of S3 Vectors' 63 characters for an index's name.
_VECTOR_INDEX_LENGTH = 40


@dataclass(frozen=True, slots=True)
class MemoryName:
    """What a memory's key names."""

    tenant: str
    id: str


@dataclass(frozen=True, slots=True)
class VectorName:
    """What the key of a vector names: the `number`th vector of this revision of this memory."""

    id: str
    revision: str
    number: int


@dataclass(frozen=True, slots=True)
class Marker:
    """What a pending marker says: this id changed to this revision (or to one above it)."""

    tenant: str
    revision: str
    id: str


def memory(tenant: str, memory_id: str) -> str:
    """The key of a memory, or of the stub of a forgotten one."""
    return f"{MEMORIES}{tenant}/{memory_id}{_SUFFIX}"


def memories_of(tenant: str) -> str:
    """The prefix of a tenant's memories; it ends in `/`, so `acme` never lists `acme-corp`."""
    return f"{MEMORIES}{tenant}/"


def tombstone(tenant: str, memory_id: str) -> str:
    """The key of the copy of a stub."""
    return f"{TOMBSTONES}{tenant}/{memory_id}{_SUFFIX}"


def tombstones_of(tenant: str) -> str:
    """The prefix of a tenant's tombstones."""
    return f"{TOMBSTONES}{tenant}/"


def pending(tenant: str, revision: str, memory_id: str) -> str:
    """The key of the marker that says that `memory_id` changed to `revision`."""
    return f"{PENDING}{tenant}/{revision}~{memory_id}"


def pending_of(tenant: str) -> str:
    """The prefix of a tenant's markers."""
    return f"{PENDING}{tenant}/"


def access(key_digest: str) -> str:
    """The key of what an API key allows; `key_digest` is the SHA-256 of the key in hex."""
    return f"{ACCESS}{key_digest}{_SUFFIX}"


def counts_delta(tenant: str, instance: str, sequence: int) -> str:
    """The key of one flush of counts by one instance; zero-padded, so that a listing is in order."""
    return f"{deltas_of(tenant)}{instance}-{sequence:010d}{_SUFFIX}"


def deltas_of(tenant: str) -> str:
    """The prefix of a tenant's count deltas."""
    return f"{COUNTS}{tenant}/deltas/"


def counts_snapshot(tenant: str) -> str:
    """The key of a tenant's folded counts."""
    return f"{COUNTS}{tenant}/snapshot{_SUFFIX}"


def index_of(tenant: str) -> str:
    """The prefix of a tenant's index."""
    return f"{INDEX}{tenant}/"


def manifest(tenant: str) -> str:
    """The key of a tenant's manifest."""
    return f"{index_of(tenant)}manifest{_SUFFIX}"


def segment(tenant: str, name: str) -> str:
    """The key of a segment; `name` is a ULID."""
    return f"{segments_of(tenant)}{name}{_SEGMENT_SUFFIX}"


def segments_of(tenant: str) -> str:
    """The prefix of a tenant's segments."""
    return f"{index_of(tenant)}segments/"


def report(tenant: str, name: str) -> str:
    """The key of the report of one sleep; `name` is a ULID, so that a listing is in order of time."""
    return f"{reports_of(tenant)}{name}{_SUFFIX}"


def reports_of(tenant: str) -> str:
    """The prefix of a tenant's reports."""
    return f"{REPORTS}{tenant}/"


def proposals_of(tenant: str) -> str:
    """The prefix of a tenant's proposals."""
    return f"{PROPOSALS}{tenant}/"


def undo_of(tenant: str) -> str:
    """The prefix of a tenant's undo records."""
    return f"{UNDO}{tenant}/"


def proposal(tenant: str, proposal_id: str) -> str:
    """The key of a proposal; its id has the form of a memory's."""
    return f"{proposals_of(tenant)}{proposal_id}{_SUFFIX}"


def undo(tenant: str, undo_id: str) -> str:
    """The key of an undo record; its id is the merged memory's or the proposal's."""
    return f"{undo_of(tenant)}{undo_id}{_SUFFIX}"


def parse_proposal(key: str) -> MemoryName | None:
    """Whose proposal a key names, and its id; None where it names none."""
    return _parse_record(PROPOSALS, key)


def parse_report(key: str) -> str | None:
    """The name of the report that a key names; None where it names none."""
    name = key.rpartition("/")[2].removesuffix(_SUFFIX)
    parts = key.split("/")
    named = len(parts) == 3 and is_tenant(parts[1]) and is_revision(name)
    return name if named and key == report(parts[1], name) else None


def counts_of(tenant: str) -> str:
    """The prefix of a tenant's counts: snapshot and deltas."""
    return f"{COUNTS}{tenant}/"


def parse_delta_tenant(key: str) -> str | None:
    """Whose delta a key under `counts/` is; None where it is none."""
    parts = key.split("/")
    is_delta = len(parts) == 4 and is_tenant(parts[1]) and parse_delta(key) is not None
    return parts[1] if is_delta and key.startswith(deltas_of(parts[1])) else None


def receipt(digest: str) -> str:
    """The key of what was erased last; `digest` is of the tenant's name, which the receipt does not keep."""
    return f"{RECEIPTS}{digest}{_SUFFIX}"


def slept(tenant: str, digest: str) -> str:
    """The key that says what a tenant's last whole sleep saw; `digest` is 64 hex digits."""
    return f"{index_of(tenant)}slept/{digest}"


def reviewed(tenant: str) -> str:
    """The key that says how far a model has reviewed a tenant's memories."""
    return f"{index_of(tenant)}reviewed{_SUFFIX}"


def parse_slept(key: str) -> str | None:
    """The digest that such a key names; None where it is none."""
    parts = key.split("/")
    is_slept = len(parts) == 4 and is_tenant(parts[1]) and key == slept(parts[1], parts[3])
    return parts[3] if is_slept else None


def parse_segment(key: str) -> str | None:
    """The name of the segment that a key names; None where it names none."""
    parts = key.split("/")
    if len(parts) != 4 or f"{parts[0]}/" != INDEX or not is_tenant(parts[1]):
        return None
    stem = parts[3].removesuffix(_SEGMENT_SUFFIX)
    return stem if is_revision(stem) and key == segment(parts[1], stem) else None


def due(hour: str, tenant: str) -> str:
    """The key that says that something of the tenant falls due in the hour, as `2026-03-09T01`."""
    return f"{DUE}{hour}/{tenant}"


def parse_due(key: str) -> str | None:
    """The tenant that a key under `due/` names; None where it names none."""
    parts = key.split("/")
    return parts[2] if len(parts) == 3 and f"{parts[0]}/" == DUE and is_tenant(parts[2]) else None


def parse_memory(key: str) -> MemoryName | None:
    """What a key under `memories/` names; None where no memory can have that key."""
    return _parse_record(MEMORIES, key)


def parse_tombstone(key: str) -> MemoryName | None:
    """Whose stub's copy a key under `tombstones/` is; None where it is none."""
    return _parse_record(TOMBSTONES, key)


def _parse_record(folder: str, key: str) -> MemoryName | None:
    parts = key.split("/")
    if len(parts) != 3 or f"{parts[0]}/" != folder or not parts[2].endswith(_SUFFIX):
        return None
    tenant, memory_id = parts[1], parts[2].removesuffix(_SUFFIX)
    return MemoryName(tenant, memory_id) if is_tenant(tenant) and is_memory_id(memory_id) else None


def parse_pending(key: str) -> Marker | None:
    """What a marker's key says; None where it is no marker's."""
    parts = key.split("/")
    if len(parts) != 3 or f"{parts[0]}/" != PENDING or not is_tenant(parts[1]):
        return None
    revision, tilde, memory_id = parts[2].partition("~")
    if not tilde or len(revision) != _REVISION_LENGTH or not is_memory_id(memory_id):
        return None
    return Marker(parts[1], revision, memory_id)


def parse_delta(key: str) -> tuple[str, int] | None:
    """The instance and the sequence that a delta's key names; None where it is no delta's."""
    name = key.rpartition("/")[2]
    instance, dash, sequence = name.removesuffix(_SUFFIX).rpartition("-")
    if not dash or not instance or not sequence.isdigit() or not name.endswith(_SUFFIX):
        return None
    return instance, int(sequence)


def vector_index(tenant: str, model: str) -> str:
    """The name of the vector engine's index of a tenant's vectors of one model."""
    digest = hashlib.sha256(f"{tenant}\n{model}".encode()).digest()
    return f"m{b32encode(digest).decode().lower()}"[:_VECTOR_INDEX_LENGTH]


def vector(memory_id: str, revision: str, number: int) -> str:
    """The key of a vector in its tenant's index."""
    return f"{memory_id}~{revision}#{number}"


def parse_vector(key: str) -> VectorName | None:
    """What the key of a vector names; None where it names none."""
    memory_id, _, rest = key.partition("~")
    revision, _, number = rest.partition("#")
    if (
        not is_memory_id(memory_id)
        or not is_revision(revision)
        or not (number.isascii() and number.isdigit())
    ):
        return None
    named = VectorName(memory_id, revision, int(number))
    return named if key == vector(memory_id, revision, named.number) else None
