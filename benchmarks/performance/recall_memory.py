"""What one index holds in memory, in a process of its own: JSON on standard output.

Owns: reading the process's size. Guarantees: everything is imported and used once before the first reading, so that the
growth is the index and the work on it.
Gives up: systems without /proc: there the peak, from `getrusage`, stands for both.

    python -m benchmarks.performance.recall_memory FOLDER ours|theirs MEMORIES QUERIES
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from pathlib import Path

from benchmarks.performance.recall_corpus import read_theirs, their_tokens, write_corpus
from benchmarks.performance.recall_times import Ours, question_of
from benchmarks.performance.synthetic import queries, vector_of

_STATUS = Path("/proc/self/status")
_WARM = 50
_MB = 1_000_000


def main(folder: Path, whose: str, memories: int, count: int) -> dict[str, float]:
    """MB that the process grew by: `held` at the end, `peak` at most."""
    small = folder / f"small-{whose}"
    small.mkdir()
    write_corpus(small, {"one": [_WARM]})
    asked = queries(memories, count)
    _answer(small, whose, asked[:5])
    gc.collect()
    before = _size()
    kept = _answer(folder, whose, asked)
    gc.collect()
    after = _size()
    del kept
    return {name: (after[name] - before["held"]) / _MB for name in after}


def _answer(folder: Path, whose: str, asked: list[str]) -> object:
    """Answer the queries; what has to stay in memory for the next ones."""
    if whose == "ours":
        ours = Ours(folder / "one")
        for query in asked:
            ours.rank(question_of(query), vector_of(query))
        return ours
    index, matrix = read_theirs(folder)
    for query in asked:
        index.get_scores(their_tokens([query])[0]) + matrix @ vector_of(query)
    return index, matrix


def _size() -> dict[str, int]:
    """Bytes of the process in memory now and at the most."""
    if not _STATUS.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return {"held": peak, "peak": peak}
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return {
        name: int(lines[field].split()[0]) * 1024 for name, field in (("held", "VmRSS"), ("peak", "VmHWM"))
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
