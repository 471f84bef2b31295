"""A corpus loaded and asked through a real MCP client.

Owns: from a corpus and an endpoint to what each question was answered with. Guarantees: nothing but the MCP surface is
used; loaded again, nothing new is stored; a hit that stands for near-duplicates counts as all of them, at its rank.
Gives up: judging.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from mcp import Client

from benchmarks.load_locomo import Endpoint, Progress, call, together
from benchmarks.quality.corpus import Asked, Corpus, Item
from benchmarks.quality.metrics import Ranks


@dataclass(frozen=True, slots=True)
class Answered:
    """What came for one question: what is shown at each rank, best first, and the first hit's confidence (or None)."""

    ranks: Ranks
    confidence: str | None


async def load(endpoint: Endpoint, corpus: Corpus) -> dict[str, str]:
    """Remember every item. The item's key for each memory id."""
    progress = Progress(f"{corpus.name} memories", len(corpus.items))
    ids: dict[str, str] = {}

    for conversation, members in groupby(corpus.items, key=lambda item: item.conversation):
        async with endpoint.client(corpus.name, conversation) as client:

            async def remember(item: Item, client: Client = client) -> None:
                older = {"supersedes": [ids[key] for key in item.supersedes]} if item.supersedes else {}
                answer = await call(client, "remember", {**item.arguments, **older})
                ids[item.key] = str(answer["id"])
                progress.step()

            items = list(members)
            await together(remember, [item for item in items if not item.supersedes])
            # One after the other: what one corrects may be a correction itself.
            for item in items:
                if item.supersedes:
                    await remember(item)
    return {memory_id: key for key, memory_id in ids.items()}


async def ask(
    endpoint: Endpoint, corpus: Corpus, keys: Mapping[str, str], arguments: Mapping[str, object]
) -> list[Answered]:
    """Ask every question, with these further arguments of `recall`."""
    progress = Progress(f"{corpus.name} questions", len(corpus.questions))
    async with endpoint.client(corpus.name) as client:

        async def answered(question: Asked) -> Answered:
            answer = await call(client, "recall", {"query": question.text, **arguments})
            progress.step()
            return _answered(answer["hits"], keys)

        return await together(answered, corpus.questions)


def by_group(answered: Answered, corpus: Corpus) -> Answered:
    """The same answer by groups: a group is shown where the first of its items is."""
    group = {item.key: item.group for item in corpus.items}
    seen: set[str] = set()
    ranks: list[frozenset[str]] = []
    for shown in answered.ranks:
        new = frozenset(group[key] for key in shown) - seen
        seen |= new
        ranks.extend(frozenset({name}) for name in sorted(new))
    return Answered(ranks, answered.confidence)


def _answered(hits: list[Mapping[str, object]], keys: Mapping[str, str]) -> Answered:
    ranks: list[frozenset[str]] = []
    for hit in hits:
        similar = hit.get("similar")
        ids = [hit["id"], *(similar if isinstance(similar, list) else [])]
        ranks.append(frozenset(keys[str(memory_id)] for memory_id in ids if str(memory_id) in keys))
    return Answered(ranks, str(hits[0]["confidence"]) if hits else None)
