"""The AWS emulator as a deployment needs it: TLS, and every call allowed by a policy or denied.

Owns: its start, its place, and how clients reach it. Guarantees: it listens on 127.0.0.1 alone, at a port that was
free; all that it writes lies below one folder; it and the functions that it runs end with the block.
Gives up: S3 Vectors and Bedrock, which it does not have (`tests.cloud.beside`).
"""

from __future__ import annotations

import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from boto3.session import Session

from tests.cloud.processes import LAST_WORDS, running
from tests.stores.servers import LOOPBACK, MINISTACK, free_ports

REGION = "us-east-1"
ACCOUNT = "000000000000"
ROOT_KEY = "test"
READY_POLLS = 300
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Emulator:
    """A running emulator. `certificate` is what it shows; `python` is what its functions run on, as "3.11"."""

    endpoint: str
    certificate: Path
    folder: Path
    python: str

    @property
    def environment(self) -> dict[str, str]:
        """What the SDK and the CDK need to reach it; the key is the emulator's own root."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ROOT_KEY,
            "AWS_SECRET_ACCESS_KEY": ROOT_KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CA_BUNDLE": str(self.certificate),
            "NODE_EXTRA_CA_CERTS": str(self.certificate),
        }

    @property
    def trust(self) -> ssl.SSLContext:
        """Trusts this emulator and nothing else."""
        return ssl.create_default_context(cafile=str(self.certificate))

    @property
    def log(self) -> str:
        """All that it said."""
        return (self.folder / "ministack.log").read_text(encoding="utf-8", errors="replace")

    def client(self, service: str) -> Any:
        """An SDK client of it that may do everything."""
        session: Any = Session(aws_access_key_id=ROOT_KEY, aws_secret_access_key=ROOT_KEY, region_name=REGION)
        return session.client(service, endpoint_url=self.endpoint, verify=str(self.certificate))


@contextmanager
def emulator(folder: Path, more: Mapping[str, str]) -> Iterator[Emulator]:
    """A fresh one below the folder, whose functions see `more` variables.

    Raises RuntimeError with its last words where it does not come up.
    """
    interpreter = MINISTACK.with_name("python")
    (port,) = free_ports(1)
    certificate = folder / "tmp" / "ministack-tls" / "server.crt"
    variables = {
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "AUTH": "true",
        "USE_SSL": "1",
        # Functions inherit all of these.
        **more,
        "AWS_CA_BUNDLE": str(certificate),
        "AWS_EC2_METADATA_DISABLED": "true",
        "TMPDIR": str(folder / "tmp"),
        "S3_DATA_DIR": str(folder / "s3"),
        "STATE_DIR": str(folder / "state"),
        "IOT_MTLS_ENABLED": "0",  # it would listen on every interface
    }
    (folder / "tmp").mkdir(parents=True)
    held = Emulator(f"https://{LOOPBACK}:{port}", certificate, folder, _version(interpreter))
    with running([str(MINISTACK)], variables, folder, folder / "ministack.log") as process:
        _wait(held, process)
        yield held


def _version(interpreter: Path) -> str:
    asked = [str(interpreter), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def _wait(held: Emulator, process: subprocess.Popen[bytes]) -> None:
    pause = threading.Event()
    for _ in range(READY_POLLS):
        if process.poll() is not None:
            break
        try:
            httpx2.get(f"{held.endpoint}/_ministack/health", verify=held.trust, timeout=5)
            return
        except (OSError, httpx2.TransportError):
            pause.wait(POLL_SECONDS)
    raise RuntimeError(f"{sys.prefix}-emulators: the emulator did not come up:\n{held.log[-LAST_WORDS:]}")
