"""A query as ranking reads it: its words, whom it names, which time it means, what kind of memory it asks for.

Owns: the value. Guarantees: pure, given the time of asking. Gives up: the query's vector; an embedder makes that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from lodestore.retrieval.hashing import Hashes
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.query_dates import Spans, date_spans
from lodestore.retrieval.query_intent import Strengths, intended
from lodestore.retrieval.query_names import named
from lodestore.retrieval.tokenizer import query_terms, terms_and_language


@dataclass(frozen=True, slots=True, eq=False)
class QueryReading:
    """`names`, `dates` and `intent` as `query_names`, `query_dates` and `query_intent` give them.

    language   of its Latin words, None where it has none
    phrases    the words of each of its parts in quotes
    """

    terms: tuple[QueryTerm, ...]
    names: Hashes
    dates: Spans
    intent: Strengths
    language: str | None
    phrases: tuple[tuple[QueryTerm, ...], ...] = ()


def read_query(text: str, asked_at: datetime, phrases: Iterable[str] = ()) -> QueryReading:
    """The query, asked at that time; `phrases` are those of its parts that it has in quotes."""
    terms, language = terms_and_language(text)
    return QueryReading(
        terms=terms,
        names=named(text),
        dates=date_spans(text, asked_at),
        intent=intended(text),
        language=language,
        phrases=tuple(filter(None, map(query_terms, phrases))),
    )
