"""One endpoint, many threads: the local runner calls it from sixteen, stdio from eight."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_server import handler as module
from mcp_server.endpoint import Endpoint
from mcp_server.loops import Loops
from tests.handlers.stand_ins import StandIn, endpoint_of
from tests.handlers.wire import LOCAL, call, event, post, request

THREADS = 16


def test_messages_of_many_threads_get_their_own_answers(core: StandIn, endpoint: Endpoint) -> None:
    together = threading.Barrier(THREADS, timeout=30)

    def talk(number: int) -> list[object]:
        together.wait()
        tenant = f"tenant-{number}"
        answers = [
            post(
                endpoint,
                call("remember", {"content": f"{number}/{turn}"}, number=turn),
                X_Memory_Tenant=tenant,
            )
            for turn in range(20)
        ]
        return [(answer.json["id"], answer.structured["content"]) for answer in answers]

    with ThreadPoolExecutor(THREADS) as pool:
        told = list(pool.map(talk, range(THREADS)))
    assert told == [[(turn, f"{number}/{turn}") for turn in range(20)] for number in range(THREADS)]
    heard = {
        (called.caller.tenant, str(called.arguments["content"]).partition("/")[0]) for called in core.calls
    }
    assert heard == {(f"tenant-{number}", str(number)) for number in range(THREADS)}


def test_a_loop_is_used_again_and_closed_with_its_pool() -> None:
    async def which() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    loops = Loops()
    first = loops.run(which())
    assert loops.run(which()) is first
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(loops.run, which()).result() is first
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        del loops
        gc.collect()
        assert first.is_closed()


def test_a_coroutine_that_fails_gives_its_loop_back() -> None:
    async def fail() -> None:
        raise ValueError

    async def which() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    loops = Loops()
    first = loops.run(which())
    with pytest.raises(ValueError):  # noqa: PT011 - raised three lines above
        loops.run(fail())
    assert loops.run(which()) is first


def test_the_process_builds_one_endpoint_however_many_ask_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "DATA": str(tmp_path),
        "EMBEDDINGS": "none",
        "AUTH": "open",
        "TENANT": "default",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(module, "_built", [])
    built: list[Endpoint] = []

    def build(variables: object) -> Endpoint:
        assert variables
        built.append(real(dict(variables)))  # type: ignore[call-overload]
        return built[-1]

    real = module.build_endpoint
    monkeypatch.setattr(module, "build_endpoint", build)
    together = threading.Barrier(THREADS, timeout=30)

    def ask(_: int) -> object:
        together.wait()
        return module.handler(event(headers=LOCAL, body=json.dumps(request("ping"))), None)["statusCode"]

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(ask, range(THREADS))) == [200] * THREADS
    assert len(built) == 1


def test_preparing_imports_the_sdk_ahead_of_the_first_message(core: StandIn) -> None:
    endpoint_of(core).prepare()
    assert "mcp.server.runner" in sys.modules
