"""S3 Vectors on loopback: `python -m tests.s3vectors.server --port N [--bucket NAME]`.

Owns: HTTP around `service`, with moto's own parsing and serialising. Guarantees: 127.0.0.1 only; any number of clients,
one operation at a time; every credential is taken, and the region and account are those that moto makes of it. Prints
one line, `S3 Vectors ready: http://127.0.0.1:PORT`, when it answers; `GET /health` is 200 from then on.
Gives up: TLS, IAM and what is on disk; all is gone when it ends.
"""

from __future__ import annotations

import argparse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from moto.core.request import Request
from moto.s3vectors.models import s3vectors_backends

from tests.s3vectors.service import ExactResponse

HOST = "127.0.0.1"
ACCOUNT = "123456789012"
PARTITION = "aws"


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    # Nagle's wait for more to send costs 40 ms a request.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(200 if self.path == "/health" else 404, {}, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        url = f"http://{HOST}{self.path}"
        request = Request.from_primitives("POST", url, dict(self.headers.items()), body)
        status, headers, answer = ExactResponse.dispatch(request, url, request.headers)
        self._answer(status, headers, answer if isinstance(answer, bytes) else str(answer).encode())

    def _answer(self, status: int, headers: dict[str, Any], body: bytes) -> None:
        self.send_response(int(status))
        for name, value in headers.items():
            if name.lower() not in ("content-length", "date", "server", "status"):
                self.send_header(name, str(value))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not logged: they hold memories' vectors."""


def serve(port: int, bucket: str | None = None) -> ThreadingHTTPServer:
    """A server that listens and does not serve yet; `bucket` is made where it is not there. Port 0: a free one."""
    backend = s3vectors_backends[ACCOUNT][PARTITION]
    if bucket is not None and bucket not in {
        one.vector_bucket_name for one in backend.vector_buckets.values()
    }:
        backend.create_vector_bucket("us-east-1", bucket, {})
    server = ThreadingHTTPServer((HOST, port), Handler)
    server.daemon_threads = True
    return server


def empty() -> None:
    """Remove every bucket of this process."""
    s3vectors_backends[ACCOUNT][PARTITION].reset()


def main() -> None:
    """Serve until the process ends."""
    parser = argparse.ArgumentParser(description="S3 Vectors on 127.0.0.1, for tests")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--bucket", help="a vector bucket to make at the start")
    chosen = parser.parse_args()
    server = serve(chosen.port, chosen.bucket)
    print(f"S3 Vectors ready: http://{HOST}:{server.server_address[1]}", flush=True)  # noqa: T201 - its one line
    server.serve_forever()


if __name__ == "__main__":
    main()
