"""What a recall computes in the process, beside bm25s and one numpy product: milliseconds and MB.

Owns: the corpora on disk, the processes that measure, the tables. Guarantees: each size is measured in a process of its
own with one thread for linear algebra; ours and theirs alternate query by query and are taken in CPU time, so that a
busy machine slows both; memory is that of a process which loads the index from files and answers the queries.
Gives up: requests (`round_trips`) and the text of the answer.

Theirs: `bm25s` 0.3 (stemmer, stop words, the same k1 and b) for the words, one float32 product for the vectors. What
joins them to one list is shown and not counted; ours counts all: visibility, expiry, supersession, fusion, recency,
importance, order.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.performance.layouts import left_by_batches, most_segments
from benchmarks.performance.recall_corpus import write_corpus
from benchmarks.performance.report import Bound, Report, Table, number

# The sizes for which issue "Index and search" states a bound, and how much of theirs ours may be.
BOUNDS: Mapping[int, tuple[float, bool]] = {10_000: (1.5, False), 100_000: (1.0, True)}
# What a bound is measured on: an index rebuilt, and one that grew. The third layout is the worst there can be.
BOUND_LAYOUTS = ("one", "batches")
BATCH = 100
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1"
)
STEPS = (
    "live rows",
    "query terms",
    "BM25",
    "cosines",
    "fusion",
    "conversation",
    "score",
    "order",
    "the rest",
)


def measure(sizes: Sequence[int], queries: int) -> Report:
    """Every size: as one segment, as indexing by hundreds leaves it, and as the most segments that merging leaves."""
    times: list[tuple[str, ...]] = []
    steps: list[tuple[str, ...]] = []
    memory: list[tuple[str, ...]] = []
    bounds: list[Bound] = []
    for size in sizes:
        with TemporaryDirectory() as folder:
            layouts = {"one": [size], "batches": left_by_batches(size, BATCH), "most": most_segments(size)}
            layouts = {name: cut for name, cut in layouts.items() if name == "one" or len(cut) > 1}
            write_corpus(Path(folder), layouts)
            for name, layout in layouts.items():
                found = _child("recall_times", folder, name, str(size), str(queries))
                times.append(_times(size, len(layout), found))
                steps.append((number(size), str(len(layout)), *(_ms(found[step]) for step in STEPS)))
                if name in BOUND_LAYOUTS:
                    bounds.extend(_bound("CPU ms", size, len(layout), found["ours"] / _theirs(found)))
            ours = _child("recall_memory", folder, "ours", str(size), str(queries))
            theirs = _child("recall_memory", folder, "theirs", str(size), str(queries))
        memory.append(_memory(size, ours, theirs))
        bounds.extend(_bound("MB held", size, 1, ours["held"] / theirs["held"]))
    return Report(
        "Work of a recall in the process",
        f"20 words and 384 numbers a memory; CPU ms, the median of {queries} queries of eight words, each the best of"
        " three, ours and theirs by turns, one thread"
        " (OPENBLAS_NUM_THREADS=1 and the like). Ours holds int8 vectors (simsimd), theirs float32. Held: what the"
        " process grew by once the index was loaded and the queries answered; peak: at the most.",
        [
            Table("Milliseconds", _TIME_COLUMNS, times),
            Table("Ours by step, milliseconds", ("memories", "segments", *STEPS), steps),
            Table("Memory, MB", _MEMORY_COLUMNS, memory),
        ],
        bounds,
    )


_TIME_COLUMNS = (
    "memories",
    "segments",
    "ours",
    "theirs",
    "ours ÷ theirs",
    "their tokens",
    "their BM25",
    "their product",
    "their ten best (not counted)",
    "ours, where every memory matches",
    "ours, first after the index changed",
)
_MEMORY_COLUMNS = ("memories", "ours held", "theirs held", "ours ÷ theirs", "ours peak", "theirs peak")


def _theirs(found: Mapping[str, float]) -> float:
    return found["tokens"] + found["bm25"] + found["product"]


def _times(size: int, segments: int, found: Mapping[str, float]) -> tuple[str, ...]:
    return (
        number(size),
        str(segments),
        _ms(found["ours"]),
        _ms(_theirs(found)),
        f"{found['ours'] / _theirs(found):.2f}",
        *(_ms(found[step]) for step in ("tokens", "bm25", "product", "ten best")),
        _ms(found["every"]),
        _ms(found["first"]),
    )


def _memory(size: int, ours: Mapping[str, float], theirs: Mapping[str, float]) -> tuple[str, ...]:
    return (
        number(size),
        f"{ours['held']:.1f}",
        f"{theirs['held']:.1f}",
        f"{ours['held'] / theirs['held']:.2f}",
        f"{ours['peak']:.1f}",
        f"{theirs['peak']:.1f}",
    )


def _bound(what: str, size: int, segments: int, ratio: float) -> list[Bound]:
    if size not in BOUNDS:
        return []
    allowed, below = BOUNDS[size]
    layout = "segment" if segments == 1 else "segments"
    text = f"{what} of recall ÷ bm25s and a product, {number(size)} memories, {segments} {layout}"
    return [Bound(text, ratio, allowed, below=below)]


def _ms(value: float) -> str:
    return number(value)


def _child(module: str, *arguments: str) -> Any:
    """What the module prints as JSON, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.performance.{module}", *arguments],
        env={**os.environ, **ONE_THREAD},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{module} failed: {done.stderr}")
    return json.loads(done.stdout)
