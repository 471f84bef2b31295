"""What it is worth that a passage says who said it: LoCoMo turns, vectors and fusion, with and without the speaker.

Owns: the figures of decision 0010. Guarantees: the model, tokenizer and fusion are those that ship.
Gives up: the service around them; `benchmarks.load_locomo` measures that.

    python -m benchmarks.quality.speaker_in_passage [CONVERSATIONS]
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import Conversation, MissingData, Turn, read_conversations
from lodestore.adapters.onnx_embedder import OnnxEmbedder, connect_local
from lodestore.ports.embedder import EmbeddingFailed
from lodestore.retrieval.bm25 import corpus_statistics, count_terms, ideal, score
from lodestore.retrieval.calibration import calibration_of
from lodestore.retrieval.fusion import fuse
from lodestore.retrieval.tokenizer import index_terms, query_terms

TOP = 10
DEFAULT_CONVERSATIONS = 4
Scores = NDArray[np.float64]


def measure(conversations: list[Conversation], embedder: OnnxEmbedder) -> dict[str, list[tuple[float, bool]]]:
    """Way of searching to (share of the evidence in the top ten, whether any is) of each question."""
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    anchors = calibration_of(embedder.model).anchors
    for conversation in conversations:
        turns = [turn for session in conversation.sessions for turn in session.turns]
        place = {turn.id: row for row, turn in enumerate(turns)}
        counts = [count_terms(index_terms(f"{turn.text}\n{turn.speaker}")) for turn in turns]
        vectors = {
            "plain": _vectors(embedder, turns, "{text}"),
            "speaker": _vectors(embedder, turns, "{who}: {text}"),
        }
        for question in conversation.questions:
            gold = {place[turn] for turn in question.evidence}
            terms = query_terms(question.text)
            known = corpus_statistics(counts, terms)
            keyword = score(terms, counts, known) / (ideal(terms, known) or 1)
            found["keywords"].append(_found(keyword, gold))
            asked = embedder.query(question.text)
            for name, passages in vectors.items():
                cosine = (passages @ asked).astype(np.float64)
                found[f"vectors, {name}"].append(_found(cosine, gold))
                found[f"both, {name}"].append(_found(fuse(keyword, cosine, anchors).relevance, gold))
    return found


def _vectors(embedder: OnnxEmbedder, turns: list[Turn], form: str) -> NDArray[np.float32]:
    return embedder.passages([form.format(who=turn.speaker, text=turn.text) for turn in turns])


def _found(scores: Scores, gold: set[int]) -> tuple[float, bool]:
    top = {int(row) for row in np.argsort(-scores, kind="stable")[:TOP]}
    return len(top & gold) / len(gold), bool(top & gold)


def main() -> None:
    """Print the table; without data or model say so and end."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_CONVERSATIONS
    try:
        conversations, embedder = list(read_conversations())[:wanted], connect_local()
    except (MissingData, EmbeddingFailed) as missing:
        print(f"not measured: {missing}")
        return
    print(f"{'way':20} questions recall@10 hit@10")
    for way, results in measure(conversations, embedder).items():
        recall, hit = fmean(share for share, _ in results), fmean(any_ for _, any_ in results)
        print(f"{way:20} {len(results):9} {100 * recall:8.1f}% {100 * hit:5.1f}%")


if __name__ == "__main__":
    main()
