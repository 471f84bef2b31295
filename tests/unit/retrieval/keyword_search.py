"""A whole search in one call, over texts: the tokenizer and BM25 as they ship."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lodestore.retrieval.bm25 import corpus_statistics, count_terms, score
from lodestore.retrieval.tokenizer import index_terms, query_terms


def search(query: str, texts: Sequence[str]) -> list[str]:
    """The texts that match, best first."""
    documents = [count_terms(index_terms(text)) for text in texts]
    terms = query_terms(query)
    scores = score(terms, documents, corpus_statistics(documents, terms))
    return [texts[int(row)] for row in np.argsort(-scores, kind="stable") if scores[row] > 0]


def forms(query: str) -> list[tuple[str, ...]]:
    """The forms of each term of a query."""
    return [term.forms for term in query_terms(query)]


def first_forms(query: str) -> list[str]:
    """Each term of a query as it stands in it."""
    return [term.forms[0] for term in query_terms(query)]
