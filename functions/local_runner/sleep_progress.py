"""What a person sees while a sleep runs: a moving display on a terminal, plain lines anywhere else.

Owns: standard error during `make sleep`. Guarantees: nothing of it is on standard output, which holds the report alone;
each finished step leaves one line, the same words in both. Gives up: progress within a step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from lodestore.domain.sleep_report import StepReport

Progress = Callable[[StepReport], None]
_STYLES = {"done": "green", "skipped": "dim", "failed": "bold red", "cut": "yellow"}


def told(step: StepReport) -> str:
    """What became of one step, in one line."""
    moved = ", ".join(f"{name} {count:,}" for name, count in step.counts.items() if count) or "nothing to do"
    said = f"{step.status}: {step.why}" if step.why else moved
    requests = sum(step.traffic.requests.values())
    return f"{step.step}: {said} ({requests:,} requests, {step.seconds:.1f} s)"


@contextmanager
def showing(tenant: str, steps: Sequence[str]) -> Iterator[Progress]:
    """Show these steps of a sleep as they end."""
    if not sys.stderr.isatty():
        yield _plainly
        return
    with _display(tenant, steps) as progress:
        yield progress


def _plainly(step: StepReport) -> None:
    print(f"lodestore: {told(step)}", file=sys.stderr, flush=True)


@contextmanager
def _display(tenant: str, steps: Sequence[str]) -> Iterator[Progress]:
    # Only a person on a terminal waits for this import.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_doing(tenant, steps, 0), total=len(steps))
        ended = 0

        def progress(step: StepReport) -> None:
            nonlocal ended
            ended += 1
            bar.console.print(Text(told(step), style=_STYLES[step.status]))
            bar.update(task, completed=ended, description=_doing(tenant, steps, ended))

        yield progress


def _doing(tenant: str, steps: Sequence[str], ended: int) -> str:
    return f"{tenant}: {steps[ended]}" if ended < len(steps) else tenant
