"""What is stored and asked: conversations of LoCoMo where they are there, else sentences made by rule.

Owns: choosing them, and the embedder. Guarantees: which it is, is said. Gives up: judging made sentences; each question
has one answer that shares its rare word's synonym only, so words alone can't find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from benchmarks.locomo import MissingData
from benchmarks.quality.corpus import Asked, Corpus, Item
from benchmarks.quality.sets import locomo
from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.embedders import Unavailable, connect_embedder
from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.embedder import Embedder
from lodestore.settings import Embeddings
from tests.services.stand_in_embedder import WordEmbedder

MADE = 400
_PLACES = "harbour mill chapel foundry orchard quarry".split()
_THINGS = "lathe kiln press drill saw anvil loom crane boiler".split()
_STATES = "was sold|is being repaired|runs at night|belongs to Nora|needs a new belt".split("|")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The corpora, in words what they are, and what embeds them."""

    corpora: tuple[Corpus, ...]
    said: str
    embedder: Embedder


def choose(conversations: int, made: int = MADE) -> Chosen:
    """Up to so many conversations of LoCoMo; without the data set or the model, what can be made."""
    embedder = connect_embedder(Embeddings.LOCAL, EmbedderOptions(), SystemClock(), SystemEntropy())
    if isinstance(embedder, Unavailable):
        said = f"made sentences, words as vectors: no local model ({embedder.reason})"
        return Chosen((made_corpus(made),), said, WordEmbedder())
    try:
        corpora = tuple(islice(locomo(), conversations))
    except MissingData as missing:
        return Chosen((made_corpus(made),), f"made sentences: {missing}", embedder)
    return Chosen(corpora, f"LoCoMo, {len(corpora)} conversations", embedder)


def made_corpus(count: int) -> Corpus:
    """Sentences about machines in places, all different, and a question for every fourth."""
    texts = [
        f"The {_THINGS[n % len(_THINGS)]} number {n} of the {_PLACES[n % len(_PLACES)]}"
        f" {_STATES[n % len(_STATES)]}."
        for n in range(count)
    ]
    items = tuple(Item(f"s{n}", text, {"content": text}) for n, text in enumerate(texts))
    questions = tuple(
        Asked(
            f"What about the {_THINGS[n % len(_THINGS)]} {n} in the {_PLACES[n % len(_PLACES)]}?",
            frozenset({f"s{n}"}),
            "made",
        )
        for n in range(0, count, 4)
    )
    return Corpus("made", items, questions)
