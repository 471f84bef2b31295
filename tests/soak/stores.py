"""The stores of a soak: a folder, and a SeaweedFS that is killed and started again over what it had.

Owns: `FolderHome`, `SeaweedHome`. Guarantees: after `kill` the store is gone in the middle of whatever it did, and
after `start` the same store is back at the same address; what it logged is kept, life by life.
Gives up: killing a folder; its writers are what can be killed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from boto3.session import Session

from tests.stores.servers import (
    LOOPBACK,
    STARTS,
    WEED,
    NotInstalled,
    Server,
    free_ports,
    is_ready,
    seaweedfs_command,
    start_server,
)

BUCKET = "soak"
# What a SeaweedFS that dropped the end of its files at a start says of it.
LOSSES = re.compile(
    r"(?i)truncat|corrupt|data integrity|idx file size|unexpected EOF|needle.*not found|cookie"
)


class Home(Protocol):
    """Where the store of a soak lives."""

    name: str
    killed: int

    @property
    def variables(self) -> Mapping[str, str]:
        """What a process needs to reach it."""
        ...

    def kill(self) -> None:
        """End it as a power cut would, where it is a process; and start it again."""
        ...

    def losses(self) -> list[str]:
        """What it says itself that it lost."""
        ...


class FolderHome:
    """A folder."""

    name = "folder"

    def __init__(self, folder: Path) -> None:
        self.killed = 0
        self._folder = folder

    @property
    def variables(self) -> Mapping[str, str]:
        return {"STORE": f"file://{self._folder}"}

    def kill(self) -> None:
        """It is no process."""

    def losses(self) -> list[str]:
        return []


class SeaweedHome:
    """A SeaweedFS. Raises NotInstalled, RuntimeError where it does not come up."""

    name = "seaweedfs"

    def __init__(self, folder: Path) -> None:
        if not WEED.exists():
            raise NotInstalled(f"{WEED.name} is not installed")
        self.killed = 0
        self._folder = folder
        self._log = folder / "weed.log"
        self._process: subprocess.Popen[bytes] | None = None
        for _ in range(STARTS):
            self._ports = free_ports(10)
            if self.start():
                break
        else:
            raise RuntimeError(
                f"{WEED.name} did not come up: {self._log.read_text(errors='replace')[-2000:]}"
            )
        self._server = Server(f"http://{LOOPBACK}:{self._ports[0]}", 0)

    @property
    def variables(self) -> Mapping[str, str]:
        return {"STORE": f"s3://{BUCKET}/{self.name}", **self._server.environment}

    def start(self) -> bool:
        """Start it over what it had; whether it answers."""
        self._process = start_server(seaweedfs_command(self._folder, self._ports), {}, self._log)
        return is_ready(self._process, self._ports[0], "/status")

    def end(self) -> None:
        """End it for good."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        self.killed += 1
        self.end()
        if not self.start():
            raise RuntimeError("the store did not come back")

    def losses(self) -> list[str]:
        words = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in words if LOSSES.search(line)]


@contextmanager
def opened(kind: str, folder: Path) -> Iterator[Home]:
    """A store of the kind, its bucket made."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == FolderHome.name:
        yield FolderHome(folder)
        return
    home = SeaweedHome(folder)
    try:
        environment = home.variables
        Session(
            aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
            region_name=environment["AWS_DEFAULT_REGION"],
        ).client("s3", endpoint_url=environment["AWS_ENDPOINT_URL_S3"]).create_bucket(Bucket=BUCKET)
        yield home
    finally:
        home.end()
