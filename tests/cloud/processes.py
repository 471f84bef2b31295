"""Programs that a deployment needs, each with all that it starts.

Owns: starting one in a process group of its own, and ending that group. Guarantees: whatever ends the block, also an
interrupt, nothing of the group is left; an end by SIGTERM is an interrupt too. Gives up: an end by SIGKILL.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

END_SECONDS = 5.0
LAST_WORDS = 3_000
_INHERITED = ("HOME", "LANG", "PATH", "TMPDIR")


class CommandFailed(Exception):
    """A program did not end with 0 in its time; the text holds its last words."""


def interrupt_on_sigterm() -> None:
    """End as by Ctrl-C where a time limit says so, so that every block is left in order."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@contextmanager
def running(
    command: Sequence[str], variables: Mapping[str, str], folder: Path, log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """The program while the block runs. It sees these variables, and what a program needs to run at all."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            env={**inherited, **variables},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process)


def run(
    command: Sequence[str], variables: Mapping[str, str], folder: Path, log: Path, *, seconds: float
) -> str:
    """A program to its end; what it said. Raises CommandFailed."""
    begin = log.stat().st_size if log.exists() else 0
    with running(command, variables, folder, log) as process:
        try:
            code: int | str = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = f"not ended within {seconds:.0f} s"
    said = log.read_bytes()[begin:].decode(errors="replace")
    if code != 0:
        raise CommandFailed(f"{' '.join(command)}: {code}\n{said[-LAST_WORDS:]}")
    return said


def _end(process: subprocess.Popen[bytes]) -> None:
    # The group outlives its first process where that did not wait for its own children.
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, ending)
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
