"""A server in a process of its own, on a free port, for as long as a block runs.

Owns: start, waiting for the ready line, the end, and the server's log while it is there.
Guarantees: what is yielded answers requests; the process is gone when the block ends, and so is one that did
not get ready within 30 s. The end of its log is shown where the block or the start failed, and only there.
Gives up: restarts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import IO

READY = "Lodestore ready: "
READY_SECONDS = 30.0
END_SECONDS = 15.0
LOG_BYTES_SHOWN = 4_000


class DidNotStart(Exception):
    """The server ended, or said nothing, before it was ready; its log says why."""


@dataclass(frozen=True, slots=True)
class ChildServer:
    """A running server: where its endpoint is, its process, and what it has logged so far."""

    url: str
    process: subprocess.Popen[str]
    log: IO[bytes]

    def logged(self) -> str:
        """The whole log up to now."""
        return _read(self.log, 0)


@contextmanager
def child_server(
    variables: Mapping[str, str], arguments: tuple[str, ...] = ("-m", "local_runner.cli", "serve")
) -> Iterator[ChildServer]:
    """`lodestore serve` with exactly these variables as its environment, but for PORT: any free one.

    arguments   of the Python interpreter, for a program that starts the server in another way
    """
    command = [sys.executable, *arguments]
    environment = {**variables, "PORT": "0"}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)  # noqa: S603
        try:
            yield ChildServer(_wait_until_ready(process), process, log)
        except Exception:
            sys.stderr.write(_read(log, max(0, os.fstat(log.fileno()).st_size - LOG_BYTES_SHOWN)))
            raise
        finally:
            _end(process)


def _wait_until_ready(process: subprocess.Popen[str]) -> str:
    timer = Timer(READY_SECONDS, process.kill)
    timer.start()
    try:
        for line in process.stdout or ():
            if line.startswith(READY):
                return line.removeprefix(READY).strip()
    finally:
        timer.cancel()
    raise DidNotStart(f"lodestore serve ended with {process.wait()} before it was ready")


def _read(log: IO[bytes], start: int) -> str:
    # Not by seeking: the child writes through the same file, at the same place in it.
    size = os.fstat(log.fileno()).st_size
    return os.pread(log.fileno(), size - start, start).decode(errors="replace")


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
