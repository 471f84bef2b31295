"""What a quality benchmark loads and asks, whatever the data set.

Owns: the values between a data set and the harness. Guarantees: nothing of the product is in them but the arguments
of its tools. Gives up: reading files; `sets` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Item:
    """One memory: `arguments` are those of `remember`; `key` is the data set's own name for it, unique in a corpus.

    conversation   of the call, None where the set knows none
    group          what is found as a whole, such as the session that a turn is part of; "" where there is none
    text           what a baseline without a service reads
    supersedes     keys of earlier items that this one corrects
    """

    key: str
    text: str
    arguments: Mapping[str, object]
    conversation: str | None = None
    group: str = ""
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. `gold`: keys of the items that answer it; empty where nothing stored does."""

    text: str
    gold: frozenset[str]
    category: str
    below: frozenset[str] = field(default_factory=frozenset)
    """Keys that must not rank above the gold: what was corrected."""
    half: str = ""
    """Of a set in halves: the one it is in."""
    asked_at: datetime | None = None
    """From when "last Tuesday" counts; None: now."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is loaded into one tenant, and asked of it."""

    name: str
    items: tuple[Item, ...]
    questions: tuple[Asked, ...]
