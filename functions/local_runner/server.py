"""The server process: one socket, uvicorn around one application, and what is said when it listens.

Owns: binding, the limits of the HTTP server, signals, the order of start and stop. Guarantees: `on_ready` is
called when requests are answered, not before; SIGTERM and SIGINT end it with what is running given 5 s to
finish; a port in use is an error before anything else is done.
Gives up: TLS, HTTP/2, several processes.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import closing

import uvicorn

from local_runner.connection import BoundedHead
from local_runner.web import FunctionUrl

CONNECTIONS_MOST = 512
HEAD_BYTES_MOST = 32_768
KEEP_ALIVE_SECONDS = 75
GRACE_SECONDS = 5
BACKLOG = 512
WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - told apart, not bound to


class CannotBind(Exception):
    """The address can't be listened on; the text says which and why, in one line."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises CannotBind."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotBind(
            f"HOST={host} PORT={port} can't be listened on: {error.strerror or error}"
        ) from error


def url_of(listening: socket.socket) -> str:
    """Where a client on this machine reaches the endpoint."""
    return f"http://{domain_of(listening)}/mcp"


def domain_of(listening: socket.socket) -> str:
    """The server's own name and port, as a client on this machine writes them."""
    host, port = listening.getsockname()[:2]
    if host in WILDCARDS:
        host = "127.0.0.1"
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def serve(application: FunctionUrl, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    """Answer requests until a signal ends it; closes socket and application. For the main thread only."""
    # uvicorn takes these over while it runs and raises what it heard once more at its end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    with closing(listening), closing(application):
        http_server(application, on_ready).run(sockets=[listening])


def http_server(application: FunctionUrl, on_ready: Callable[[], None]) -> uvicorn.Server:
    """uvicorn within its bounds; `on_ready` is called when start-up is over."""
    config = uvicorn.Config(
        application,
        http=BoundedHead,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=CONNECTIONS_MOST,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=HEAD_BYTES_MOST,
    )
    return _Announcing(config, on_ready)


def _end(_number: int, _frame: object) -> None:
    raise SystemExit(0)


class _Announcing(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()
