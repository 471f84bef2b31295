"""CPU time of the local models: `python -m benchmarks.quality.embedding_time`.

Owns: one table, milliseconds of CPU a text. Guarantees: both models in one process, each loaded before it is timed.
Gives up: other machines; the ratio between the two holds better than the figures.
"""

from __future__ import annotations

import time

from lodestore.adapters.e5_embedder import connect_multilingual
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.ports.embedder import Embedder

TEXTS = [
    f"The deploy key for service number {number} rotates every Friday at noon, says the operations handbook."
    for number in range(64)
]
KINDS = (
    ("64 texts of 20 words", TEXTS),
    ("one of 20 words", TEXTS[:1]),
    ("one of 200 words", [" ".join(TEXTS[:10])]),
)
RUNS = 3


def main() -> None:
    """Print the table."""
    print(f"{'model':<40}{'load':>10}" + "".join(f"{name:>24}" for name, _ in KINDS))
    for embedder in (connect_local(), connect_multilingual()):
        start = time.process_time()
        embedder.query("a walrus")
        loaded = 1000 * (time.process_time() - start)
        cells = "".join(f"{_milliseconds(embedder, texts):>21.1f} ms" for _, texts in KINDS)
        print(f"{embedder.model:<40}{loaded:>7.0f} ms{cells}")


def _milliseconds(embedder: Embedder, texts: list[str]) -> float:
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        embedder.passages(texts)
        best = min(best, time.process_time() - start)
    return 1000 * best / len(texts)


if __name__ == "__main__":
    main()
