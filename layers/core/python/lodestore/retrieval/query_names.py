"""Who a query names: runs of its words as hashes, to be met by the sources of memories.

Owns: which spellings are tried. Guarantees: a source of one to three words is met where the query says it in a row, as
written, in small letters, or with capitals ("caroline" meets "Caroline"); a possessive 's is not part of a name.
Gives up: nicknames, and what stands behind the first MOST_WORDS words of a query.
"""

from __future__ import annotations

import re

from lodestore.retrieval.hashing import Hashes, hashes64

MOST_WORDS = 64
LONGEST_NAME = 3
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")
_POSSESSIVE = re.compile(r"['’]s?\Z")


def named(query: str) -> Hashes:
    """The hashes of all that the query may name, ascending and distinct."""
    words = [_bare(word) for word in _WORD.findall(query)[:MOST_WORDS]]
    runs = {
        " ".join(words[begin : begin + size])
        for size in range(1, LONGEST_NAME + 1)
        for begin in range(len(words) - size + 1)
    }
    spellings = {spelling for run in runs if run for spelling in (run, run.lower(), run.title())}
    hashes = hashes64(spellings)
    hashes.sort()
    return hashes


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word.rstrip(".'’"))
