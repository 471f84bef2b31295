"""`make bench-quality`: load each data set through MCP, ask its questions by recall, print the measures.

python -m benchmarks.quality [SET ...] [--corpora N] [--baselines | --no-baselines] [--seed N]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile

from benchmarks.load_locomo import CallFailed, Endpoint
from benchmarks.locomo import MissingData
from benchmarks.quality.baselines import ranked
from benchmarks.quality.corpus import Corpus
from benchmarks.quality.report import OURS, Table, curve, floors, outranked
from benchmarks.quality.served import Answered, ask, by_group, load
from benchmarks.quality.sets import SETS
from local_runner.child_server import child_server
from lodestore.adapters.onnx_embedder import connect_local
from lodestore.ports.embedder import Embedder, EmbeddingFailed

SEED = 7
# Everything that ranks at all, as far down as any measure looks.
PLAIN = {"mode": "exploratory", "limit": 10, "min_score": 0, "explain": True}
GROUPED = "-sessions"
DEEP = 50


async def measure(
    endpoint: Endpoint,
    name: str,
    corpora: list[Corpus],
    embedder: Embedder | None,
    arguments: argparse.Namespace,
) -> None:
    """Load and ask the corpora of one set, and print its table."""
    table = Table(name, arguments.seed)
    plain: list[Answered] = []
    default: list[Answered] = []
    for corpus in corpora:
        keys = await load(endpoint, corpus)
        if name.endswith(GROUPED):
            asked = await ask(endpoint, corpus, keys, PLAIN | {"limit": DEEP})
            table.add(OURS, corpus, [by_group(answered, corpus).ranks for answered in asked])
            continue
        found = await ask(endpoint, corpus, keys, PLAIN)
        table.add(OURS, corpus, [answered.ranks for answered in found])
        plain += found
        default += await ask(endpoint, corpus, keys, {})
        if arguments.baselines:
            for system, rankings in ranked(corpus, embedder).items():
                table.add(system, corpus, rankings)
    print("\n".join(table.lines()))
    if plain:
        questions = [question for corpus in corpora for question in corpus.questions]
        told = outranked(questions, plain)
        shown = [*floors(questions, plain, default), *curve(questions, plain), *([told] if told else [])]
        print("\n".join(shown))
    print(flush=True)


def main() -> int:
    """The command. 0: measured, or the data is not there (said); 1: a call failed; 2: usage."""
    arguments = _arguments()
    failure = ""
    try:
        for name in arguments.sets or SETS:
            try:
                corpora = list(SETS[name]())[: arguments.corpora]
            except MissingData as error:
                print(f"{name} skipped: {error}")
                continue
            _measure_served(name, corpora, arguments)
    except* CallFailed as failed:
        failure = str(failed.exceptions[0])
    if failure:
        print(f"bench-quality: {failure}", file=sys.stderr)
    return 1 if failure else 0


def _measure_served(name: str, corpora: list[Corpus], arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="lodestore-quality-") as folder:
        own = {"DATA": folder, "STORE": "", "HOST": "127.0.0.1", "AUTH": "open", "READ_ONLY": "0"}
        with child_server({**os.environ, **own, "EMBEDDINGS": arguments.embeddings}) as server:
            embedder = _embedder() if arguments.baselines and arguments.embeddings == "local" else None
            asyncio.run(measure(Endpoint(server.url, None), name, corpora, embedder, arguments))


def _embedder() -> Embedder | None:
    try:
        return connect_local()
    except EmbeddingFailed as missing:
        print(f"without vectors: {missing}")
        return None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"any of {', '.join(SETS)} (default: all)")
    parser.add_argument("--corpora", type=int, help="only the first N conversations or languages of each set")
    parser.add_argument("--embeddings", choices=("local", "none"), default="local", help="of the server")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the intervals (default: {SEED})")
    parser.add_argument(
        "--baselines", action=argparse.BooleanOptionalAction, default=True, help="measure the others too"
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sets if name not in SETS]
    if unknown:
        parser.error(f"no set {unknown[0]!r}; there are {', '.join(SETS)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
