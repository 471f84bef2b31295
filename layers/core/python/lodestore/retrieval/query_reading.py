"""A query as ranking reads it: its words, whom it names, which time it means.

Owns: the value. Guarantees: pure, given the time of asking. Gives up: the query's vector; an embedder makes that.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lodestore.retrieval.hashing import Hashes
from lodestore.retrieval.query import QueryTerm
from lodestore.retrieval.query_dates import Spans, date_spans
from lodestore.retrieval.query_names import named
from lodestore.retrieval.tokenizer import query_terms


@dataclass(frozen=True, slots=True, eq=False)
class QueryReading:
    """`names` as `query_names.named`, `dates` as `query_dates.date_spans` give them."""

    terms: tuple[QueryTerm, ...]
    names: Hashes
    dates: Spans


def read_query(text: str, asked_at: datetime) -> QueryReading:
    """The query, asked at that time."""
    return QueryReading(query_terms(text), named(text), date_spans(text, asked_at))
