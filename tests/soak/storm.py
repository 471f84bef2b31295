"""The storm of a soak: workers started, killed and started again, and the store with them, until the time is over.

Owns: `run_storm`. Guarantees: only processes that it started are killed, by their id; when it ends, all of them have.
Gives up: choosing the moment to the request; a kill comes when chance says, whatever is under way.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lodestore.adapters.system_clock import SystemClock
from tests.soak.stores import Home
from tests.system.processes import variables

WORKERS = 4
THREADS = 4
# In seconds: how long a worker or the store lives, and how often progress is told.
WORKER_LIVES = (3.0, 10.0)
STORE_LIVES = (12.0, 25.0)
PROGRESS_EVERY = 20.0
STEP_SECONDS = 0.25
END_SECONDS = 60.0

Say = Callable[[str], None]


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[str]
    dies_at: float


@dataclass(slots=True)
class Storm:
    """What a storm was. `kills`: of workers."""

    kills: int = 0
    started: int = 0
    failed: list[str] = field(default_factory=list)


def run_storm(home: Home, folder: Path, seed: int, seconds: float, say: Say) -> Storm:
    """Workers over the store for so long; journals and counts lie in `folder`."""
    clock, chance, storm = SystemClock(), Random(f"soak {seed}"), Storm()
    environment = {**variables(folder / "unused"), "EMBEDDINGS": "none", **home.variables}
    workers = [_start(storm, folder, seed, environment) for _ in range(WORKERS)]
    until = clock.elapsed() + seconds
    store_dies, told = clock.elapsed() + chance.uniform(*STORE_LIVES), clock.elapsed()
    for worker in workers:
        worker.dies_at = clock.elapsed() + chance.uniform(*WORKER_LIVES)
    try:
        while (now := clock.elapsed()) < until:
            for number, worker in enumerate(workers):
                if worker.process.poll() is not None:
                    storm.failed.append(f"a worker ended by itself with {worker.process.returncode}")
                    return storm
                if now >= worker.dies_at:
                    _kill(worker)
                    storm.kills += 1
                    workers[number] = _start(storm, folder, seed, environment)
                    workers[number].dies_at = clock.elapsed() + chance.uniform(*WORKER_LIVES)
            if now >= store_dies:
                home.kill()
                store_dies = clock.elapsed() + chance.uniform(*STORE_LIVES)
            if now - told >= PROGRESS_EVERY:
                told = now
                say(
                    f"{home.name}: {until - now:.0f} s left, {storm.kills} workers and {home.killed} stores killed"
                )
            clock.pause(STEP_SECONDS)
    finally:
        _end(storm, workers)
    return storm


def _start(storm: Storm, folder: Path, seed: int, environment: Mapping[str, str]) -> _Worker:
    storm.started += 1
    arguments = [f"w{storm.started}", str(seed), str(THREADS), str(folder)]
    pipe = subprocess.PIPE
    with (folder / "workers.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.worker", *arguments],
            env=dict(environment), stdin=pipe, stdout=pipe, stderr=log, text=True,
        )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    return _Worker(process, 0.0)


def _kill(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.communicate()


def _end(storm: Storm, workers: list[_Worker]) -> None:
    """Those that are left may end what they are doing."""
    for worker in workers:
        if worker.process.poll() is None and worker.process.stdin is not None:
            worker.process.stdin.close()
    for worker in workers:
        try:
            worker.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            storm.failed.append("a worker did not end")
            worker.process.kill()
            worker.process.wait()
        if worker.process.stdout is not None:
            worker.process.stdout.close()
