"""What recall found, before it is shown: repeated statements as one, and statements that contradict each other.

Owns: `Hit`, and the two rules. Guarantees: neither ever pushes a distinct statement out (tested): what collapses
says the same in the same words by `retrieval/sameness`, and by the same source, so a sign, a unit, an operator, a
capital or a name less or more is another statement (B75); what contradicts stays. Of both the newest comes first, at
the place of the best. Gives up: more of the same in other words; a list of ten has room for it, and MMR was found to
gain nothing (notes on retrieval, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lodestore.domain.memory import Memory
from lodestore.retrieval.contradictions import contradict, topic_of
from lodestore.retrieval.sameness import read


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory found: its score, what that is made of, and who superseded it; `whole` as in `Ranking`.

    similar       ids of hits that say the same
    contradicts   ids of hits that say something else of the same
    """

    memory: Memory
    score: float
    whole: bool
    parts: Mapping[str, float]
    superseded_by: tuple[str, ...]
    similar: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()


def collapse(hits: Sequence[Hit]) -> list[Hit]:
    """Of hits of one source that say the same in the same words only the newest stays, and names the others."""
    kept: dict[tuple[object, ...], Hit] = {}
    for hit in hits:
        said = read(hit.memory.content).same_form, hit.memory.source, hit.superseded_by
        first = kept.get(said)
        if first is None:
            kept[said] = hit
        else:
            newest, older = (hit, first) if _newness(hit) > _newness(first) else (first, hit)
            similar = (older.memory.id, *first.similar, *hit.similar)
            kept[said] = replace(newest, score=first.score, similar=tuple(dict.fromkeys(similar)))
    return list(kept.values())


def opposed(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, those that contradict each other pointing to each other and in the order of their newness.

    They share the places that they had, and the scores go with the places.
    """
    places: dict[str, list[int]] = {}
    topics = [topic_of(hit.memory.content) for hit in hits]
    for place, topic in enumerate(topics):
        if topic is not None:
            places.setdefault(topic.key, []).append(place)
    shown = list(hits)
    for group in places.values():
        newest_first = sorted(group, key=lambda place: _newness(hits[place]), reverse=True)
        for place, of in zip(group, newest_first, strict=True):
            others = [one for one in newest_first if contradict(topics[of], topics[one])]
            ids = tuple(hits[one].memory.id for one in others)
            shown[place] = replace(hits[of], score=hits[place].score, contradicts=ids)
    return shown


def _newness(hit: Hit) -> tuple[datetime, datetime, str]:
    return hit.memory.holds_from, hit.memory.created_at, hit.memory.id
