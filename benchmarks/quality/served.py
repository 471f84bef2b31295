"""A corpus loaded and asked through a real MCP client.

Owns: from a corpus and an endpoint to what each question was answered with. Guarantees: nothing but the MCP surface is
used; loaded again, nothing new is stored; a hit that stands for near-duplicates counts as all of them, at its rank.
Gives up: judging.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mcp import Client

from benchmarks.load_locomo import Endpoint, Progress, call, together
from benchmarks.quality.corpus import Asked, Corpus, Item
from benchmarks.quality.metrics import Ranks


@dataclass(frozen=True, slots=True)
class Answered:
    """What came for one question: what is shown at each rank, best first, and the first hit's confidence (or None).

    known   how likely anything stored is about it, where `explain` was asked for and something came
    """

    ranks: Ranks
    confidence: str | None
    known: float | None = None


async def load(endpoint: Endpoint, corpus: Corpus) -> dict[str, str]:
    """Remember every item: conversations side by side, of each one item after the other, as it is said.

    Items without a conversation have no order, and are stored side by side; what corrects others comes last. The item's
    key for each memory id.
    """
    progress = Progress(f"{corpus.name} memories", len(corpus.items))
    ids: dict[str, str] = {}

    async def remember(item: Item, client: Client) -> None:
        older = {"supersedes": [ids[key] for key in item.supersedes]} if item.supersedes else {}
        answer = await call(client, "remember", {**item.arguments, **older})
        ids[item.key] = str(answer["id"])
        progress.step()

    async def tell(told: tuple[str | None, list[Item]]) -> None:
        conversation, items = told
        async with endpoint.client(corpus.name, conversation) as client:
            if conversation is None:
                await together(lambda item: remember(item, client), items)
                return
            for item in items:
                await remember(item, client)

    await together(tell, _by_conversation(item for item in corpus.items if not item.supersedes))
    # One after the other: what one corrects may be a correction itself.
    for item in corpus.items:
        if item.supersedes:
            async with endpoint.client(corpus.name, item.conversation) as client:
                await remember(item, client)
    return {memory_id: key for key, memory_id in ids.items()}


def _by_conversation(items: Iterable[Item]) -> list[tuple[str | None, list[Item]]]:
    grouped: dict[str | None, list[Item]] = {}
    for item in items:
        grouped.setdefault(item.conversation, []).append(item)
    return list(grouped.items())


async def ask(
    endpoint: Endpoint, corpus: Corpus, keys: Mapping[str, str], arguments: Mapping[str, object]
) -> list[Answered]:
    """Ask every question, as of the moment it is asked at, with these further arguments of `recall`."""
    progress = Progress(f"{corpus.name} questions", len(corpus.questions))
    async with endpoint.client(corpus.name) as client:

        async def answered(question: Asked) -> Answered:
            at = {} if question.asked_at is None else {"as_of": question.asked_at.isoformat()}
            answer = await call(client, "recall", {"query": question.text, **at, **arguments})
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
    explained = hits[0].get("explain") if hits else None
    known = float(explained["known"]) if isinstance(explained, dict) else None
    return Answered(ranks, str(hits[0]["confidence"]) if hits else None, known)
