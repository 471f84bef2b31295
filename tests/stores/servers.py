"""Real servers for tests: the AWS emulator `ministack`, and SeaweedFS.

Owns: starting them on loopback ports that are free, waiting until they answer, and ending them by process id.
Guarantees: nothing listens anywhere but on 127.0.0.1; a server that does not come up fails with its own last words;
nothing is left running after the context. Gives up: a port that someone else takes between the choice and the start
(the start is tried again on others).
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = "127.0.0.1"
STARTS = 3
READY_POLLS = 600
POLL_SECONDS = 0.1
LAST_WORDS = 2000

# Beside the virtual environment of the tests; it can't share their botocore (requirements/emulators.in).
MINISTACK = Path(f"{sys.prefix}-emulators") / "bin" / "ministack"
WEED = Path(sys.prefix) / "bin" / "weed"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers S3 requests. `environment` is what the SDK needs to reach it."""

    endpoint: str
    process_id: int

    @property
    def environment(self) -> dict[str, str]:
        """The SDK's own variables; the key is a dummy."""
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }


class NotInstalled(Exception):
    """The server's package is not there."""


@contextmanager
def ministack(folder: Path) -> Iterator[Server]:
    """The emulator, with its data below `folder`. Raises NotInstalled."""

    def command(ports: Sequence[int]) -> tuple[list[str], dict[str, str]]:
        return [str(MINISTACK)], {
            "BIND_HOST": LOOPBACK,
            "GATEWAY_PORT": str(ports[0]),
            "S3_DATA_DIR": str(folder / "s3"),
            "STATE_DIR": str(folder / "state"),
            "AWS_EC2_METADATA_DISABLED": "true",
            "IOT_MTLS_ENABLED": "0",  # it would listen on every interface
        }

    with _running(MINISTACK, folder, 1, command, "/_ministack/health") as server:
        yield server


@contextmanager
def seaweedfs(folder: Path) -> Iterator[Server]:
    """SeaweedFS with its S3 gateway, and without what else it would start. Raises NotInstalled."""

    def command(ports: Sequence[int]) -> tuple[list[str], dict[str, str]]:
        return seaweedfs_command(folder, ports), {}

    with _running(WEED, folder, 10, command, "/status") as server:
        yield server


def seaweedfs_command(folder: Path, ports: Sequence[int]) -> list[str]:
    """SeaweedFS over the folder, at ten ports; the first is S3's."""
    names = ("s3", "master", "volume", "filer", "admin")
    flags = [f"-{name}.port={port}" for name, port in zip(names, ports[:5], strict=True)]
    flags += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[5:], strict=True)]
    return [
        str(WEED),
        "mini",
        f"-dir={folder}",
        f"-ip={LOOPBACK}",
        f"-ip.bind={LOOPBACK}",
        f"-filer.localSocket={folder}/filer.sock",
        f"-s3.localSocket={folder}/s3.sock",
        "-master.telemetry=false",
        "-admin.ui=false",
        "-webdav=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        *flags,
    ]


Command = Callable[[Sequence[int]], tuple[list[str], dict[str, str]]]


@contextmanager
def _running(program: Path, folder: Path, ports: int, command: Command, health: str) -> Iterator[Server]:
    if not program.exists():
        raise NotInstalled(f"{program.name} is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{program.name}.log"
    for _ in range(STARTS):
        chosen = free_ports(ports)
        arguments, environment = command(chosen)
        process = start_server(arguments, environment, log)
        try:
            if is_ready(process, chosen[0], health):
                yield Server(f"http://{LOOPBACK}:{chosen[0]}", process.pid)
                return
        finally:
            process.kill()
            process.wait()
    words = log.read_text(encoding="utf-8", errors="replace")[-LAST_WORDS:]
    raise RuntimeError(f"{program.name} did not come up:\n{words}")


def free_ports(count: int) -> list[int]:
    """Different ports on which nothing listens now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]


def start_server(
    arguments: Sequence[str], environment: Mapping[str, str], log: Path
) -> subprocess.Popen[bytes]:
    """The process, its words added to the log."""
    inherited = {name: os.environ[name] for name in ("HOME", "LANG", "PATH", "TMPDIR") if name in os.environ}
    with log.open("ab") as output:
        return subprocess.Popen(
            arguments, env={**inherited, **environment}, cwd=log.parent, stdout=output, stderr=output
        )


def is_ready(process: subprocess.Popen[bytes], port: int, health: str) -> bool:
    """Wait until it answers; False where it ended, or did not answer in time."""
    pause = threading.Event()
    for _ in range(READY_POLLS):
        if process.poll() is not None:
            return False
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
        try:
            connection.request("GET", health)
            if connection.getresponse().status < 500:
                return True
        except OSError:
            pass
        finally:
            connection.close()
        pause.wait(POLL_SECONDS)
    return False
