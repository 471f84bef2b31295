"""One handler in a process of its own: what its import and its first request cost. JSON on standard output.

Owns: what "serving" is for each handler. Guarantees: nothing of ours or of our libraries is imported before the clock
starts. Gives up: answers; the handlers' tests read them.

    python -m benchmarks.performance.cold_process HANDLER import|serve|s3
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from importlib import import_module
from typing import Any

_PROTOCOL = ("mcp", "mcp_types", "pydantic", "starlette")
_S3 = {
    "STORE": "s3://bucket/prefix",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def main(handler: str, what: str) -> dict[str, object]:
    """CPU seconds of the import and of the work after it, and what the process has loaded then."""
    begun = time.process_time()
    module = import_module(handler)
    imported = time.process_time()
    modules = len(sys.modules)
    if what != "import":
        _work(module, handler, what)
    done = time.process_time()
    loaded = {name.partition(".")[0] for name in sys.modules}
    return {
        "import": imported - begun,
        "work": done - imported,
        "modules": modules,
        "protocol": [name for name in _PROTOCOL if name in loaded],
    }


def recall_event(query: str) -> dict[str, object]:
    """A recall as a function URL sends it."""
    params = {"name": "recall", "arguments": {"query": query}}
    return {
        "version": "2.0",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {"host": "127.0.0.1:8765", "content-type": "application/json"},
        "requestContext": {
            "domainName": "abc.lambda-url.eu-central-1.on.aws",
            "http": {"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "r-1",
        },
        "body": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
        "isBase64Encoded": False,
    }


def _event(handler: str) -> dict[str, object]:
    """What the handler is called with."""
    if handler == "mcp_server.handler":
        return recall_event("tea")
    if handler == "maintenance.handler":
        return {"task": "dispatch"}
    changed = {"s3": {"bucket": {"name": "folder"}, "object": {"key": "memories/acme/never-was.json"}}}
    return {"Records": [{"messageId": "m1", "body": json.dumps({"Records": [changed]})}]}


def _work(module: Any, handler: str, what: str) -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        os.environ.update({"DATA": folder, "EMBEDDINGS": "none"})
        if what == "s3":
            os.environ.update(_S3)
            module.build(module.environment())
        else:
            module.handler(_event(handler), None)


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2])))
