"""What a fresh process costs: importing each handler, and the first recall of a large tenant.

Owns: the processes, and the sums over what they say. Guarantees: CPU seconds of the process itself, the median of
several; "without bytecode" compiles every module of ours and of our libraries anew, and leaves the standard library's
bytecode, which Lambda has; an item's share is of `python -X importtime`, of the library whose module was being run.
Gives up: Lambda's own start, and the network.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.performance.report import Bound, Report, Table, number
from benchmarks.performance.synthetic import TENANT, queries
from benchmarks.performance.tenants import Site

ROOT = Path(__file__).resolve().parents[2]
HANDLERS = ("mcp_server.handler", "indexer.handler", "maintenance.handler")
WITHOUT_MCP = ("indexer.handler", "maintenance.handler")
PROTOCOL = frozenset({"mcp", "mcp_types"})
ITEMS = 6
_OF_BYTECODE = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
_LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| +(\S+)")


def measure(handlers: Sequence[str], memories: int, repeats: int) -> Report:
    """Imports of the handlers, each `repeats` times, and the first recall in a tenant of so many memories."""
    with TemporaryDirectory() as folder, _bytecode(Path(folder), handlers) as (compiled, source_only):
        imports, bounds = _imports(handlers, compiled, source_only, repeats)
        items = [_items(handler, compiled) for handler in handlers]
        first = _first_recall(Path(folder), memories, repeats, compiled)
    return Report(
        "Cold start",
        f"CPU seconds, the median of {repeats} processes. Serving: the first request of each, over a folder; S3"
        " clients: instead of that, all services over STORE=s3 are built, and no request is sent. Items are of one"
        " process.",
        [
            imports,
            Table(f"The {ITEMS} dearest of each import, ms of CPU", ("handler", *_ITEM_COLUMNS), items),
            first,
        ],
        bounds,
    )


_ITEM_COLUMNS = tuple(f"{place}." for place in range(1, ITEMS + 1))


def _imports(
    handlers: Sequence[str], compiled: Mapping[str, str], source_only: Mapping[str, str], repeats: int
) -> tuple[Table, list[Bound]]:
    rows: list[tuple[str, ...]] = []
    bounds: list[Bound] = []
    for handler in handlers:
        plain = [_started(handler, "import", compiled) for _ in range(repeats)]
        served = [_started(handler, "serve", compiled) for _ in range(repeats)]
        over_s3 = [_started(handler, "s3", compiled) for _ in range(repeats)]
        sources = [_started(handler, "import", source_only) for _ in range(repeats)]
        rows.append(
            (
                handler,
                *(_seconds(median(one["import"] for one in found)) for found in (plain, sources)),
                _seconds(median(one["work"] for one in served)),
                _seconds(median(one["work"] for one in over_s3)),
                number(plain[0]["modules"]),
                ", ".join(served[0]["protocol"]) or "no",
            )
        )
        if handler in WITHOUT_MCP:
            loaded = {name for one in (*served, *over_s3) for name in one["protocol"]} & PROTOCOL
            bounds.append(Bound(f"MCP libraries that {handler} loads", len(loaded), 0))
    columns = (
        "handler",
        "import",
        "import without bytecode",
        "then serving",
        "then making S3 clients",
        "modules",
        "loads MCP libraries",
    )
    return Table("Importing a handler, CPU seconds", columns, rows), bounds


def _started(handler: str, what: str, environment: Mapping[str, str]) -> Any:
    """What `cold_process` says of one process."""
    return json.loads(_run(["-m", "benchmarks.performance.cold_process", handler, what], environment).stdout)


def _items(handler: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The libraries whose modules took most of the import."""
    trace = _run(["-X", "importtime", "-c", f"import {handler}"], environment).stderr
    spent: Counter[str] = Counter()
    for microseconds, name in _LINE.findall(trace):
        package = name.partition(".")[0]
        spent["the standard library" if package in sys.stdlib_module_names else package] += int(microseconds)
    dearest = [f"{name} {microseconds / 1000:.0f}" for name, microseconds in spent.most_common(ITEMS)]
    return (handler, *dearest, *[""] * (ITEMS - len(dearest)))


def _first_recall(folder: Path, memories: int, repeats: int, compiled: Mapping[str, str]) -> Table:
    data = folder / "data"
    site = Site(data)
    site.indexed([memories])
    site.stored(0, memories)
    site.close()
    environment = {**compiled, "DATA": str(data), "EMBEDDINGS": "none", "TENANT": TENANT}
    runs = [_first(queries(memories, 1)[0], environment) for _ in range(repeats)]
    rows = [
        (
            number(memories),
            *(
                _seconds(median(run[name] for run in runs))
                for name in ("import", "first", "second", "cpu", "wall")
            ),
            number(runs[0]["bytes"]),
            str(runs[0]["reads"]),
            str(runs[0]["hits"]),
        )
    ]
    columns = (
        "memories",
        "import",
        "first recall",
        "second recall",
        "CPU to the first answer",
        "wall clock to it",
        "bytes read",
        "objects read",
        "hits",
    )
    return Table("First recall through mcp_server.handler on a fresh process, CPU seconds", columns, rows)


def _first(query: str, environment: Mapping[str, str]) -> Any:
    """What `cold_recall` says of one process."""
    arguments = ["-m", "benchmarks.performance.cold_recall", query, str(time.monotonic())]
    return json.loads(_run(arguments, environment).stdout)


@contextmanager
def _bytecode(folder: Path, handlers: Sequence[str]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Two environments: all bytecode is there, and only the standard library's is."""
    plain = {name: value for name, value in os.environ.items() if name not in _OF_BYTECODE}
    compiled = {**plain, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    filling = {**plain, "PYTHONPYCACHEPREFIX": str(folder / "source-only")}
    source_only = {**filling, "PYTHONDONTWRITEBYTECODE": "1"}
    for handler in handlers:
        _started(handler, "serve", compiled)
        _started(handler, "s3", compiled)
        _started(handler, "import", filling)
    for place in (ROOT, Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("platlib"))):
        rmtree(folder / "source-only" / place.relative_to(place.anchor), ignore_errors=True)
    yield compiled, source_only


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=dict(environment), capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: {done.stderr}")
    return done


def _seconds(value: float) -> str:
    return f"{value:.3f}"
