"""A mem0 export as statements.

Owns: JSON as `get_all`, `get_memory_export` and the dashboard give it: a list of memories, or an object that holds one
under `results` or `memories`, with `relations` beside it. Guarantees: each memory and each relation is a statement;
ids, owners and times of mem0 are kept in the metadata, the created time as `valid_from`, an expiry as an expiry.
Gives up: vectors and scores.

Source: mem0ai/mem0, mem0/memory/main.py (`_get_all_from_vector_store`); docs.mem0.ai, "Exporting memories".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from local_runner.moving.json_lines import whole_json
from local_runner.moving.provenance import stated
from lodestore.domain.memory import MemoryType
from lodestore.services.import_runs import Entry, Flaw

NAME = "mem0"
LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content", "data")
_KEPT = (
    "id",
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "actor_id",
    "role",
    "created_at",
    "updated_at",
    "immutable",
)


def mem0_entries(stream: BinaryIO) -> Iterator[Entry]:
    """The statements of the file."""
    value = whole_json(stream)
    if isinstance(value, Flaw):
        yield Entry("file", value)
        return
    relations = value.get("relations") or [] if isinstance(value, dict) else []
    memories = (
        next((value[name] for name in LISTS if name in value), None) if isinstance(value, dict) else value
    )
    if not isinstance(memories, list) or not isinstance(relations, list):
        yield Entry("file", Flaw(f"a list of memories, or an object with {' or '.join(LISTS)}, is expected"))
        return
    for at, memory in enumerate(memories, 1):
        yield Entry(
            f"memory {at}", _memory(memory) if isinstance(memory, dict) else Flaw("not a JSON object")
        )
    for at, relation in enumerate(relations, 1):
        yield Entry(
            f"relation {at}", _relation(relation) if isinstance(relation, dict) else Flaw("not a JSON object")
        )


def _memory(memory: Mapping[str, object]) -> Mapping[str, object] | Flaw:
    content = next((memory[name] for name in _TEXTS if memory.get(name)), None)
    if not isinstance(content, str) or not content.strip():
        return Flaw("memory must be a text")
    own = memory.get("metadata") or {}
    if not isinstance(own, dict):
        return Flaw("metadata must be an object")
    categories = memory.get("categories") or []
    if not isinstance(categories, list) or not all(isinstance(name, str) for name in categories):
        return Flaw("categories must be a list of texts")
    kind = own.get("type")
    return stated(
        content,
        origin=NAME,
        tags=categories,
        metadata={**{name: memory.get(name) for name in _KEPT}, "metadata": own},
        type=kind if kind in list(MemoryType) else None,
        source=memory.get("user_id") or memory.get("agent_id"),
        valid_from=memory.get("created_at"),
        expires_at=memory.get("expiration_date"),
    )


def _relation(relation: Mapping[str, object]) -> Mapping[str, object] | Flaw:
    start, kind = relation.get("source"), relation.get("relationship")
    end = relation.get("target") or relation.get("destination")
    texts = [part.replace("_", " ") for part in (start, kind, end) if isinstance(part, str) and part.strip()]
    if len(texts) < 3:
        return Flaw("source, relationship and target must be texts")
    return stated(
        " ".join(texts),
        origin=NAME,
        category="relation",
        metadata={"from": start, "relation_type": kind, "to": end},
    )
