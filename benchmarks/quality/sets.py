"""The data sets as corpora.

Owns: which turns, paragraphs and questions become items. Guarantees: a set that is not there is `MissingData`, which
says where to get it. Gives up: judging; that is `metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from benchmarks.locomo import CATEGORIES, Conversation, read_conversations
from benchmarks.quality.agent_memory.memory_set import Project, Stored, read_projects
from benchmarks.quality.corpus import Asked, Corpus, Item
from benchmarks.xquad import LANGUAGES, read_language

CROSS = ("es", "de", "ru", "hi", "zh")


def locomo() -> Iterable[Corpus]:
    """Each conversation a tenant, each turn a memory that names its speaker; every question that has evidence."""
    return [_conversation(conversation) for conversation in read_conversations()]


def locomo_sessions() -> Iterable[Corpus]:
    """The same turns; a question is answered where any turn of a session of its evidence is found."""
    return [_by_group(corpus) for corpus in locomo()]


def xquad() -> Iterable[Corpus]:
    """Each language a tenant, each paragraph a memory; questions in the paragraphs' own language."""
    for language in LANGUAGES:
        told = read_language(language)
        questions = (Asked(q.text, frozenset({f"p{q.paragraph}"}), language) for q in told.questions)
        yield Corpus(f"xquad-{language}", _paragraphs(told.paragraphs), tuple(questions))


def xquad_across() -> Iterable[Corpus]:
    """English questions over the paragraphs of another language."""
    asked = read_language("en").questions
    for language in CROSS:
        questions = (Asked(q.text, frozenset({f"p{q.paragraph}"}), f"en-{language}") for q in asked)
        yield Corpus(
            f"xquad-en-{language}", _paragraphs(read_language(language).paragraphs), tuple(questions)
        )


def agent_memory() -> Iterable[Corpus]:
    """Our own set: each project a tenant. What was corrected is stored, and superseded."""
    return [_project(project) for project in read_projects()]


SETS: Mapping[str, Callable[[], Iterable[Corpus]]] = {
    "locomo": locomo,
    "locomo-sessions": locomo_sessions,
    "xquad": xquad,
    "xquad-across": xquad_across,
    "agent-memory": agent_memory,
}


def _conversation(conversation: Conversation) -> Corpus:
    items: list[Item] = []
    for session in conversation.sessions:
        name = f"{conversation.id}/session_{session.number}"
        for turn in session.turns:
            arguments = {
                "content": turn.text,
                "type": "event",
                "source": turn.speaker,
                "valid_from": session.at.isoformat(),
                "idempotency_key": f"{conversation.id}/{turn.id}",
            }
            items.append(Item(turn.id, f"{turn.speaker}: {turn.text}", arguments, name, name))
    questions = (Asked(q.text, q.evidence, CATEGORIES[q.category]) for q in conversation.questions)
    return Corpus(f"locomo-{conversation.id}", tuple(items), tuple(questions))


def _by_group(corpus: Corpus) -> Corpus:
    group = {item.key: item.group for item in corpus.items}
    questions = (Asked(q.text, frozenset(group[key] for key in q.gold), q.category) for q in corpus.questions)
    return Corpus(corpus.name, corpus.items, tuple(questions))


def _project(project: Project) -> Corpus:
    questions = (Asked(q.text, q.gold, q.kind, q.superseded, q.half, q.asked_at) for q in project.questions)
    return Corpus(f"agent-{project.name}", tuple(map(_stored, project.memories)), tuple(questions))


def _stored(memory: Stored) -> Item:
    arguments: dict[str, object] = {
        "content": memory.content,
        "type": memory.type,
        "tags": list(memory.tags),
        "source": memory.source,
        "valid_from": memory.valid_from.isoformat(),
        "idempotency_key": memory.key,
    }
    if memory.importance is not None:
        arguments["importance"] = memory.importance
    return Item(
        memory.key,
        memory.content,
        arguments,
        memory.conversation,
        memory.conversation or "",
        memory.supersedes,
    )


def _paragraphs(texts: Iterable[str]) -> tuple[Item, ...]:
    return tuple(
        Item(f"p{number}", text, {"content": text, "idempotency_key": f"p{number}"})
        for number, text in enumerate(texts)
    )
