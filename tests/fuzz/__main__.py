"""`make fuzz`: hostile inputs for minutes, against the real Lambda handler and the real server.

Owns: the command, its table, its files and its exit code. Guarantees: a finding's smallest input is in a file that
REPLAY= sends again, alone, to a fresh target; the figures come last; the exit code is 1 on any finding.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lodestore.adapters.system_clock import SystemClock
from tests.fuzz.campaign import BATCH, Campaign, Tally, strategies
from tests.fuzz.judging import HANG, LEAK, NO_JSON, RAISED, SERVER_FAULT, judge
from tests.fuzz.targets import (
    HANDLER,
    HandlerTarget,
    ServerTarget,
    Target,
    handler_target,
    server_target,
    tools_of,
)

FOUND = Path("build/fuzz")
# A target with more memories than this many inputs store answers slower and no better.
ROUNDS_OF_A_TARGET = 6
STACK = "Traceback (most recent call last)"

Json = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz or replay; 1 where something was found."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, help="this many of each kind, however long it takes")
    parser.add_argument("--replay", type=Path, help="the file of a finding: its input alone")
    parser.add_argument("--handler", default=HANDLER, help=argparse.SUPPRESS)
    parser.add_argument("--found", type=Path, default=FOUND, help="where findings are written")
    asked = parser.parse_args(arguments)
    if asked.replay is not None:
        return replay(asked.replay, asked.handler)
    if asked.minutes <= 0:
        parser.error(f"--minutes is above 0, not {asked.minutes:g}")
    tally, stacks = fuzz(asked.seed, asked.minutes, asked.inputs, asked.handler)
    for line in [*files_of(tally, asked.found), *summary(tally, asked.seed, stacks)]:
        print(line, flush=True)
    return 1 if tally.found or stacks else 0


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def fuzz(seed: int, minutes: float, inputs: int | None, handler: str) -> tuple[Tally, int]:
    """The tally, and how many stacks the targets logged."""
    clock = SystemClock()
    until = clock.elapsed() + minutes * 60
    campaign = Campaign(seed, lambda: inputs is not None or clock.elapsed() < until)
    stacks, more = 0, True
    while more:
        with ExitStack() as stack:
            at_handler = stack.enter_context(handler_target(handler))
            server = stack.enter_context(server_target())
            kinds = strategies(tools_of(at_handler))
            for _ in range(1 if inputs else ROUNDS_OF_A_TARGET):
                more = _round(campaign, kinds, at_handler, server, inputs or BATCH) and not inputs
                if not more:
                    break
            stacks += stacks_in(at_handler) + stacks_in(server)
        print(
            f"{sum(campaign.tally.inputs.values()):,} inputs, {len(campaign.tally.found)} findings",
            flush=True,
        )
    return campaign.tally, stacks


def _round(campaign: Campaign, kinds: Mapping[str, Any], handler: Target, server: Target, most: int) -> bool:
    for kind, strategy in kinds.items():
        if not campaign.batch(kind, strategy, server if kind == "raw HTTP" else handler, most):
            return False
    return True


def stacks_in(target: HandlerTarget | ServerTarget) -> int:
    """How many stacks it has logged."""
    return target.logged().count(STACK)


def replay(file: Path, handler: str) -> int:
    """One input again; its answer and what is wrong with it."""
    sent: Json = json.loads(file.read_text(encoding="ascii"))
    with server_target() if "bytes" in sent else handler_target(handler) as target:
        answered = target.send(sent)
    finding = judge(answered)
    print(f"{answered.code}: {answered.body[:2_000]}")
    print("found nothing" if finding is None else f"found {finding.kind}: {finding.why}")
    return 0 if finding is None else 1


def files_of(tally: Tally, folder: Path) -> list[str]:
    """Write each finding's smallest input; the lines that say what and where."""
    lines = []
    for number, (signature, discovery) in enumerate(tally.found.items(), 1):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"finding-{number}.json"
        file.write_text(json.dumps(discovery.record, indent=1), encoding="ascii")
        lines += [f"FOUND {signature}", f"    again: make fuzz REPLAY={file}"]
    return lines


def summary(tally: Tally, seed: int, stacks: int) -> list[str]:
    """The figures."""
    found = tally.of
    return [
        "",
        *(f"  {kind:<40} {count:>10,}" for kind, count in sorted(tally.inputs.items())),
        "",
        *(f"  answered {code:<31} {count:>10,}" for code, count in sorted(tally.codes.items())),
        "",
        f"seed {seed}, inputs {tally.inputs.total():,}, exception texts {found(LEAK, RAISED)}, stacks logged {stacks}, "
        f"5xx {found(SERVER_FAULT)}, hangs {found(HANG)}, answers that are no JSON {found(NO_JSON)}",
    ]


if __name__ == "__main__":
    # Whoever ends it early ends what it started, too.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
