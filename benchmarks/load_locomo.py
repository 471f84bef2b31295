"""Play LoCoMo conversations through a real MCP client, then ask their questions.

Owns: one memory for each turn, the questions by `recall`, the table. Guarantees: nothing but the MCP surface
is used; run again over the same store, nothing new is stored, and the counts say so. hit@10: any of the turns
that answer a question is among the ten hits; recall@10: the share of them that is, averaged over questions.
Gives up: answers in words, and questions without an answer (category 5).

    python -m benchmarks.load_locomo [--conversation conv-26] [--data FOLDER | --url URL [--key KEY]]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.locomo import CATEGORIES, Conversation, MissingData, Question, Session, read_conversations
from local_runner.child_server import child_server

TOGETHER = 8
TOP = 10
ATTEMPTS = 3
CALL_SECONDS = 60.0

Item = TypeVar("Item")
Result = TypeVar("Result")


class CallFailed(Exception):
    """A tool answered with an error; the text is its JSON."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to call, and with which key (None: an open server)."""

    url: str
    key: str | None

    @asynccontextmanager
    async def client(self, tenant: str, conversation: str | None = None) -> AsyncIterator[Client]:
        """A connected client that speaks for the tenant, in the conversation."""
        headers = {"X-Memory-Tenant": tenant}
        if conversation is not None:
            headers["X-Conversation-Id"] = conversation
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=CALL_SECONDS, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client


@dataclass(frozen=True, slots=True)
class Score:
    """What one question came to: whether any of its evidence was among the hits, and which share of it."""

    category: int
    hit: bool
    share: float


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
    """The structured answer of a tool; what may be repeated is tried three times. Raises CallFailed."""
    answer: Mapping[str, Any] = {}
    for _ in range(ATTEMPTS):
        result = await client.call_tool(tool, arguments)
        answer = result.structured_content or {}
        if not result.is_error:
            return answer
        if not answer.get("retryable"):
            break
    raise CallFailed(f"{tool}: {answer}")


async def load(
    endpoint: Endpoint, conversation: Conversation, progress: Progress
) -> tuple[dict[str, str], Counter[str]]:
    """Remember every turn. The memory's id for each turn, and how often each status came."""
    ids: dict[str, str] = {}
    statuses: Counter[str] = Counter()
    for session in conversation.sessions:
        name = f"{conversation.id}/session_{session.number}"
        async with endpoint.client(tenant_of(conversation), name) as client:

            async def remember(arguments: dict[str, Any], client: Client = client) -> Mapping[str, Any]:
                answer = await call(client, "remember", arguments)
                progress.step()
                return answer

            answers = await together(remember, _memories(conversation, session))
        for turn, answer in zip(session.turns, answers, strict=True):
            ids[turn.id] = answer["id"]
            statuses[answer["status"]] += 1
    return ids, statuses


async def ask(
    endpoint: Endpoint, conversation: Conversation, ids: Mapping[str, str], progress: Progress
) -> list[Score]:
    """Ask every question that has evidence."""
    async with endpoint.client(tenant_of(conversation)) as client:

        async def score(question: Question) -> Score:
            arguments = {"query": question.text, "mode": "exploratory", "limit": TOP, "min_score": 0}
            answer = await call(client, "recall", arguments)
            progress.step()
            return _score(question, {ids[turn] for turn in question.evidence}, answer["hits"])

        return await together(score, conversation.questions)


def tenant_of(conversation: Conversation) -> str:
    """Each conversation is a tenant of its own, as its questions are asked of it alone."""
    return f"locomo-{conversation.id}"


async def together(job: Callable[[Item], Awaitable[Result]], items: Iterable[Item]) -> list[Result]:
    """`job` of each item, eight at a time; results in the order of the items."""
    slots = asyncio.Semaphore(TOGETHER)

    async def limited(item: Item) -> Result:
        async with slots:
            return await job(item)

    return await asyncio.gather(*(limited(item) for item in items))


class Progress:
    """One line on stderr, redrawn in place on a terminal, else written at each tenth."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._live = sys.stderr.isatty()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        tenth = max(1, self._total // 10)
        last = self._done == self._total
        if self._live or last or self._done % tenth == 0:
            line = f"{self._what}: {self._done} of {self._total}"
            print(line, file=sys.stderr, end="\r" if self._live and not last else "\n", flush=True)


def table(scores: Iterable[Score]) -> list[str]:
    """The figures by category, and over all."""
    by_category: dict[str, list[Score]] = {name: [] for name in CATEGORIES.values()}
    for score in scores:
        by_category[CATEGORIES[score.category]].append(score)
    rows = [*by_category.items(), ("all", [score for group in by_category.values() for score in group])]
    lines = [f"{'category':<12} {'questions':>9} {'hit@10':>7} {'recall@10':>9}"]
    for name, group in rows:
        if group:
            hit = 100 * sum(score.hit for score in group) / len(group)
            share = 100 * sum(score.share for score in group) / len(group)
            lines.append(f"{name:<12} {len(group):>9} {hit:>6.1f}% {share:>8.1f}%")
    return lines


def _memories(conversation: Conversation, session: Session) -> list[dict[str, Any]]:
    # A turn is something that was said at a time: an event. What follows from it would be facts.
    return [
        {
            "content": turn.text,
            "type": "event",
            "source": turn.speaker,
            "scope": "project",
            "valid_from": session.at.isoformat(),
            "idempotency_key": f"{conversation.id}/{turn.id}",
        }
        for turn in session.turns
    ]


def _score(question: Question, wanted: set[str], hits: list[Mapping[str, Any]]) -> Score:
    shown: set[str] = set()
    for hit in hits[:TOP]:
        # A turn that repeats another word for word is shown with it, as `similar`.
        shown.update((hit["id"], *hit.get("similar", ())))
    found = wanted & shown
    return Score(question.category, bool(found), len(found) / len(wanted))


async def play(endpoint: Endpoint, conversations: Iterable[Conversation]) -> None:
    """Load and ask each conversation, and print what came of it."""
    scores: list[Score] = []
    for conversation in conversations:
        begun = time.perf_counter()
        ids, statuses = await load(
            endpoint, conversation, Progress(f"{conversation.id} turns", conversation.turns)
        )
        loaded = time.perf_counter()
        questions = Progress(f"{conversation.id} questions", len(conversation.questions))
        scores += await ask(endpoint, conversation, ids, questions)
        asked = time.perf_counter()
        counts = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        told = f"{conversation.turns} turns in {len(conversation.sessions)} sessions"
        print(f"{conversation.id}: {told} in {loaded - begun:.1f} s: {counts}")
        answered = f"{len(conversation.questions)} questions in {asked - loaded:.1f} s"
        print(f"{conversation.id}: {answered}; {conversation.unanswerable} without evidence left out")
    print("\n".join(table(scores)))


def main() -> int:
    """The command. 0: played, or the data is not there (said); 1: a call failed; 2: usage."""
    arguments = _arguments()
    try:
        conversations = read_conversations()
    except MissingData as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 0
    chosen = [c for c in conversations if arguments.conversation in ("all", c.id)]
    if not chosen:
        known = ", ".join(conversation.id for conversation in conversations)
        print(f"load_locomo: no conversation {arguments.conversation}; there are {known}", file=sys.stderr)
        return 2
    failure = ""
    try:
        _play_somewhere(arguments, chosen)
    except* CallFailed as failed:
        failure = str(failed.exceptions[0])
    if failure:
        print(f"load_locomo: {failure}", file=sys.stderr)
    return 1 if failure else 0


def _play_somewhere(arguments: argparse.Namespace, chosen: list[Conversation]) -> None:
    if arguments.url:
        asyncio.run(play(Endpoint(arguments.url, arguments.key), chosen))
        return
    arguments.data.mkdir(parents=True, exist_ok=True)
    # What the command measures is not to depend on the variables of whoever runs it.
    own = {
        "DATA": str(arguments.data),
        "STORE": "",
        "HOST": "127.0.0.1",
        "AUTH": "open",
        "READ_ONLY": "0",
    }
    with child_server({**os.environ, **own}) as server:
        asyncio.run(play(Endpoint(server.url, None), chosen))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load_locomo", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--conversation", default="conv-26", help="which one, or 'all' (default: conv-26)")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("build/locomo"),
        help="folder of the server that it starts (default: build/locomo)",
    )
    parser.add_argument("--url", help="endpoint of a server that runs already, instead")
    parser.add_argument("--key", help="API key for --url")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
