"""The knowledge graph of the MCP reference memory server as statements.

Owns: lines `{"type": "entity", "name", "entityType", "observations"}` and `{"type": "relation", "from", "to",
"relationType"}`. Guarantees: each observation and each relation is a statement that stands alone; a bad one is a flaw,
the others of its line go on. Gives up: the graph. Names stand in the tags, so they are found together.

Source: modelcontextprotocol/servers, src/memory/index.ts (`saveGraph`, `EntitySchema`, `RelationSchema`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from local_runner.moving.json_lines import json_lines
from local_runner.moving.provenance import stated
from lodestore.services.import_runs import Entry, Flaw

NAME = "mcp-memory"


def graph_entries(stream: BinaryIO) -> Iterator[Entry]:
    """The statements of each line."""
    for number, value in json_lines(stream):
        place = f"line {number}"
        if isinstance(value, Flaw):
            yield Entry(place, value)
        elif isinstance(value, dict) and value.get("type") == "entity":
            yield from _entity(place, value)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield Entry(place, _relation(value))
        else:
            yield Entry(place, Flaw("neither an entity nor a relation"))


def _entity(place: str, value: Mapping[str, object]) -> Iterator[Entry]:
    name, kind, observations = value.get("name"), value.get("entityType", ""), value.get("observations", [])
    if not isinstance(name, str) or not name.strip() or not isinstance(kind, str):
        yield Entry(place, Flaw("name and entityType must be texts"))
        return
    if not isinstance(observations, list):
        yield Entry(place, Flaw("observations must be a list of texts"))
        return
    about: dict[str, object] = {"entity": name, "entity_type": kind}
    for at, observation in enumerate(observations, 1):
        item = (
            stated(f"{name}: {observation}", origin=NAME, tags=[name], category=kind or None, metadata=about)
            if isinstance(observation, str) and observation.strip()
            else Flaw("an observation must be a text")
        )
        yield Entry(f"{place}, observation {at}", item)
    if not observations:
        content = f"{name} ({kind})" if kind else name
        yield Entry(place, stated(content, origin=NAME, tags=[name], category=kind or None, metadata=about))


def _relation(value: Mapping[str, object]) -> Mapping[str, object] | Flaw:
    start, kind, end = value.get("from"), value.get("relationType"), value.get("to")
    texts = [part for part in (start, kind, end) if isinstance(part, str) and part.strip()]
    if len(texts) < 3:
        return Flaw("from, relationType and to must be texts")
    words = texts[1].replace("_", " ")
    return stated(
        f"{texts[0]} {words} {texts[2]}",
        origin=NAME,
        tags=[texts[0], texts[2]],
        category="relation",
        metadata={"from": start, "relation_type": kind, "to": end},
    )
