"""`make bench-sleep`: what a sleep of one tenant asks of the store, and how long it takes.

Owns: loading a tenant of a given size of which 1 % is said twice, its first sleep, which merges those, sleeping it
unchanged and with 1 % changed, and the tables. Guarantees: every figure is counted at the store's port, in a fresh
process's services; the steps are those of the weekly run (all) and of the hourly run (what a changed tenant gets).
Gives up: the time of a network; the store is a folder on this machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.bootstrap import Lodestore, build
from lodestore.domain.caller import Caller, Role
from lodestore.domain.memory import Memory, MemoryType, Scope
from lodestore.domain.revision import RANDOM_BYTES, next_revision
from lodestore.domain.sleep_report import SleepReport
from lodestore.format import keys
from lodestore.format.records import encode_record
from lodestore.services.upkeep_steps import CONSOLIDATE, EVERYTHING, ON_CHANGE

TENANT = "bench"
SIZES = (1_000, 10_000, 100_000)
CHANGED = 0.01
WORDS = "office badge Oslo Bergen standup review budget ticket deploy rollback alarm invoice".split()
TWICE = 0.01
MERGED_COLUMNS = (
    "memories",
    "groups",
    "pairs",
    "merged",
    "requests of the step",
    "seconds",
    "all pairs would be",
)
COLUMNS = ("memories", "state", "run", "requests", "of them lists", "read kB", "written kB", "seconds", "USD")


@dataclass(frozen=True, slots=True)
class Measured:
    """One sleep: of how many memories, in which state, and its report."""

    size: int
    state: str
    run: str
    report: SleepReport


def measure(folder: Path, size: int) -> Iterator[Measured]:
    """Load a tenant of this size, then sleep it unchanged and changed, by the weekly and by the hourly run."""
    variables = {"DATA": str(folder), "EMBEDDINGS": "none"}
    _load(build(variables), size)
    yield Measured(size, "first", "weekly", build(variables).sleeping.run(TENANT).report)
    build(variables).sleeping.run(TENANT)
    yield Measured(size, "unchanged", "weekly", build(variables).sleeping.run(TENANT, EVERYTHING).report)
    yield Measured(size, "unchanged", "hourly", build(variables).sleeping.run(TENANT, ON_CHANGE).report)
    for run, steps in (("hourly", ON_CHANGE), ("weekly", EVERYTHING)):
        _change(build(variables), size)
        yield Measured(size, "1 % changed", run, build(variables).sleeping.run(TENANT, steps).report)


def _load(lodestore: Lodestore, size: int) -> None:
    """Objects as `remember` stores them, without its markers: the first sleep builds the index."""
    clock, entropy = SystemClock(), SystemEntropy()
    twice = int(1 / TWICE)
    # What is said twice has another id and one more blank.
    for number in (*range(size), *(-number for number in range(1, size, twice))):
        now = clock.now()
        revision = next_revision(now, None, entropy.token(RANDOM_BYTES))
        memory = Memory(
            id=f"b{number}" if number >= 0 else f"again{-number}",
            tenant=TENANT,
            scope=Scope.PROJECT,
            conversation=None,
            type=MemoryType.FACT,
            category=None,
            content=_content(abs(number), "first") + ("  again" if number < 0 else " again"),
            tags=(),
            importance=0.5,
            pinned=False,
            source=None,
            created_at=now,
            updated_at=now,
            valid_from=None,
            expires_at=None,
            supersedes=(),
            version=1,
            revision=revision,
            recent=(revision,),
            origin="",
            idempotency=None,
        )
        lodestore.state_store.create(keys.memory(TENANT, memory.id), encode_record(memory))


def _change(lodestore: Lodestore, size: int) -> None:
    caller = Caller(TENANT, None, Role.ADMIN)
    step = int(1 / CHANGED)
    for number in range(0, size, step):
        text = _content(number, lodestore.entropy.token(4).hex())
        lodestore.toolbox.call(caller, "update_memory", {"id": f"b{number}", "content": text})


def _content(number: int, state: str) -> str:
    words = " ".join(WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(12))
    return f"statement {number} ({state}): {words}"


def merged_row(measured: Measured) -> str:
    """A line of the table of consolidation."""
    step = next(step for step in measured.report.steps if step.step == CONSOLIDATE)
    counts = step.counts
    cells = (
        f"{measured.size:,}",
        *(f"{counts[name]:,}" for name in ("groups", "pairs", "merged")),
        f"{sum(step.traffic.requests.values()):,}",
        f"{step.seconds:.2f}",
        f"{measured.size * (measured.size - 1) // 2:,}",
    )
    return "| " + " | ".join(cells) + " |"


def row(measured: Measured) -> str:
    """A line of the table."""
    traffic = measured.report.traffic
    lists = traffic.requests.get("list", 0) + traffic.requests.get("versions", 0)
    cells = (
        f"{measured.size:,}",
        measured.state,
        measured.run,
        f"{sum(traffic.requests.values()):,}",
        f"{lists:,}",
        f"{traffic.bytes_read / 1000:,.0f}",
        f"{traffic.bytes_written / 1000:,.0f}",
        f"{measured.report.seconds:.2f}",
        f"{traffic.cost_usd:.6f}",
    )
    return "| " + " | ".join(cells) + " |"


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Requests, bytes and time of a tenant's sleep.")
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES), help="memories of the tenant")
    chosen = parser.parse_args(arguments)
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    merged = [f"| {' | '.join(MERGED_COLUMNS)} |", f"|{' --- |' * len(MERGED_COLUMNS)}"]
    for size in chosen.sizes or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            for measured in measure(Path(folder), size):
                if not measured.report.complete:
                    sys.exit(f"a sleep of {size:,} memories was not complete: {measured.report.failure}")
                lines.append(row(measured))
                if measured.state == "first":
                    merged.append(merged_row(measured))
                print(f"{lines[-1]}", file=sys.stderr, flush=True)
    print("\n".join(lines))
    print("\n".join(["", "Consolidation in the first of these sleeps:", "", *merged]))


if __name__ == "__main__":
    main(sys.argv[1:])
