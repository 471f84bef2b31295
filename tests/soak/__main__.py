"""`make soak`: minutes of writing while workers and the store are killed, then the account, store by store.

Owns: the command, its figures and its exit code. Guarantees: the exit code is 1 where an answered write is missing, the
index is not what a rebuild makes, or garbage is left; a write that the killed store lost is counted apart, and only
where the store's own log says that it dropped something.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

from lodestore.bootstrap import build
from tests.soak.account import CALLER, Account, settle
from tests.soak.stores import Home, opened
from tests.soak.storm import THREADS, WORKERS, Storm, run_storm
from tests.soak.worker import SHARED_IDS
from tests.system.processes import variables

STORES = ("folder", "seaweedfs")
SHOWN = 5
WRITES = ("remember", "update_memory", "forget")


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak what was asked for; 1 where something was wrong."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="in all, shared by the stores")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    asked = parser.parse_args(arguments)
    if asked.minutes <= 0:
        parser.error(f"--minutes is above 0, not {asked.minutes:g}")
    seconds = asked.minutes * 60 / len(asked.stores)
    wrong = [soak(kind, asked.seed, seconds) for kind in asked.stores]
    return 1 if any(wrong) else 0


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def soak(kind: str, seed: int, seconds: float) -> bool:
    """One store's storm and account; whether anything was wrong."""
    with TemporaryDirectory(prefix="lodestore-soak-") as name:
        folder = Path(name)
        with opened(kind, folder / "store") as home:
            own = {**variables(folder / "unused"), "EMBEDDINGS": "none", **home.variables}
            with patch.dict(os.environ, own):
                _say_shared(own)
                storm = run_storm(home, folder, seed, seconds, lambda line: print(line, flush=True))
                account = settle(own, folder)
            excused = home.losses() if home.killed else []
            counts = _counts(folder)
    lines, failed = figures(home, storm, account, counts, excused)
    print("\n".join([*lines, f"{kind}: seed {seed}, {seconds:.0f} s, wrong {failed}"]), flush=True)
    return failed > 0


def _say_shared(own: dict[str, str]) -> None:
    """The memories that all writers update."""
    lodestore = build(own)
    for memory_id in SHARED_IDS:
        lodestore.toolbox.call(CALLER, "remember", {"id": memory_id, "content": f"{memory_id} is everyone's"})


def _counts(folder: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in folder.glob("*.counts.json"):
        counts.update(json.loads(path.read_text(encoding="utf-8")))
    return counts


def figures(
    home: Home, storm: Storm, account: Account, counts: Counter[str], excused: Sequence[str]
) -> tuple[list[str], int]:
    """The lines to print, and how many things are wrong."""
    expected = account.expected
    by_store = account.lost if excused else []
    wrong = [*storm.failed, *account.wrong, *([] if excused else account.lost)]
    writes = sum(expected.calls[name] for name in WRITES)
    requests = sum(count for name, count in counts.items() if name.startswith("request "))
    swaps, lost = counts["manifest_won"], counts["manifest_lost"] + counts["manifest_contended"]
    lines = [
        "",
        f"{home.name}: {WORKERS * THREADS} writers on one tenant, {expected.calls.total():,} operations, "
        f"{storm.kills} workers and {home.killed} stores killed",
        f"  acknowledged writes {expected.acknowledged:,}, calls without an answer {expected.unanswered}, "
        f"conflicts {expected.errors['conflict']}, unavailable {expected.errors['unavailable']}",
        f"  conditional writes lost {counts['request create lost'] + counts['request replace lost']:,}, contended "
        f"{counts['request create contended'] + counts['request replace contended']}, unknown "
        f"{counts['request create unknown'] + counts['request replace unknown']}",
        f"  indexed batches {counts['batches']:,}, manifest swaps {swaps:,}, conflicted {lost:,}: "
        f"{lost / max(1, counts['batches']):.2f} for each batch",
        f"  requests of all work {requests:,}: {requests / max(1, writes):.1f} for each write",
        *(f"  {tool:<14} {_times(times)}" for tool, times in sorted(expected.times.items())),
        *(f"  checked {what:<26} {count:>8,}" for what, count in sorted(account.checked.items())),
        f"  lost by the killed store, by its own log: {len(by_store)}",
        *(f"    {line[:200]}" for line in [*by_store[:SHOWN], *excused[: SHOWN if by_store else 0]]),
        *(f"  WRONG {line[:300]}" for line in wrong[:SHOWN]),
    ]
    return lines, len(wrong)


def _times(times: Sequence[float]) -> str:
    ordered = sorted(times)
    late = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    return f"{len(ordered):>8,} calls, ms: p50 {median(ordered):.0f}, p95 {late:.0f}, most {ordered[-1]:.0f}"


if __name__ == "__main__":
    # Whoever ends it early ends what it started, too.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
