"""Many callers at once, each a process of its own in a thread of its own: the history keeps the promises."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product
from pathlib import Path
from random import Random

import pytest

from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from tests.proof.history import Call, Operation, Recorder, walk
from tests.proof.judge import judge
from tests.proof.model import Json, Who
from tests.proof.workload import CONVERSATIONS, TENANTS, Board, Client, inspection
from tests.services.world import World

STEPS = 40
SEEDS = (1, 2)


def caller_of(world: World, who: Who) -> Call:
    """A fresh process as this caller sees it."""
    lodestore = world.instance(who.tenant).lodestore
    caller = Caller(who.tenant, who.conversation, Role.WRITER)

    def call(tool: str, given: Json) -> Json:
        try:
            answer: Json = lodestore.toolbox.call(caller, tool, given)
        except LodestoreError as error:
            return error.to_dict()
        return answer

    return call


def record(recorder: Recorder, process: str, who: Who, call: Call, tool: str, given: Json) -> Operation:
    """One call, written down."""
    began = recorder.tick()
    answer = walk(call, given) if tool == "list_memories" else call(tool, given)
    return recorder.note(process, who, tool, given, began, answer)


def play(world: World, recorder: Recorder, board: Board, who: Who, seed: str) -> Callable[[], None]:
    """One caller's part."""
    call, client = caller_of(world, who), Client(who, board, Random(seed))

    def part() -> None:
        for _ in range(STEPS):
            tool, given = client.next()
            board.learn(record(recorder, seed, who, call, tool, given))

    return part


@pytest.mark.case("B12", "B16")
@pytest.mark.promise("P-READ-YOUR-WRITES", "P-NO-LOST-UPDATE", "P-FORGOTTEN", "P-IDEMPOTENT", "P-TENANT")
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_many_callers_do_at_once_no_answer_breaks_a_promise(folder: Path, seed: int) -> None:
    world, recorder, board = World(folder), Recorder(), Board()
    callers = [Who(tenant, conversation) for tenant, conversation in product(TENANTS, CONVERSATIONS)]
    parts = [play(world, recorder, board, who, f"{seed}/{number}") for number, who in enumerate(callers * 2)]
    stop = threading.Event()

    def index() -> None:
        indexing = world.instance().lodestore.indexing
        while not stop.is_set():
            for tenant in TENANTS:
                indexing.run(tenant)
            world.clock.advance(timedelta(seconds=10))

    with ThreadPoolExecutor(len(parts) + 1) as threads:
        indexer = threads.submit(index)
        for done in [threads.submit(part) for part in parts]:
            done.result()
        stop.set()
        indexer.result()
    for who in callers:
        call = caller_of(world, who)
        for tool, given in inspection(who, board):
            record(recorder, "afterwards", who, call, tool, given)
    verdict = judge(recorder.operations)
    world.close()
    assert [str(violation) for violation in verdict.violations] == []
    assert all(
        verdict.checked[promise] > 100 for promise in ("P-READ-YOUR-WRITES", "P-FORGOTTEN", "P-TENANT")
    )
    assert verdict.checked["P-NO-LOST-UPDATE"] > 1000
