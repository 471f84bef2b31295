"""The first recall of a fresh process, through the MCP handler over a folder. JSON on standard output.

Owns: the clocks from the process's start to its first answer. Guarantees: the handler is Lambda's own; bytes are those
that the store's adapter returned.
Gives up: embedding the query; recall goes by words.

    DATA=FOLDER EMBEDDINGS=none TENANT=acme python -m benchmarks.performance.cold_recall QUERY MONOTONIC
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from importlib import import_module
from typing import Any

from benchmarks.performance.cold_process import recall_event


def main(query: str, begun: float) -> dict[str, object]:
    """Seconds of CPU, and of the wall since `begun` (time.monotonic); what was read from the store by then."""
    before = time.process_time()
    handler = import_module("mcp_server.handler").handler
    imported = time.process_time()
    reads = _counted_reads()
    first = _recall(handler, query)
    answered, wall, read = time.process_time(), time.monotonic() - begun, list(reads)
    _recall(handler, query)
    return {
        "import": imported - before,
        "first": answered - imported,
        "second": time.process_time() - answered,
        "cpu": answered,
        "wall": wall,
        "bytes": sum(read),
        "reads": len(read),
        "hits": first["count"],
    }


def _recall(handler: Any, query: str) -> dict[str, Any]:
    with contextlib.redirect_stderr(io.StringIO()):
        answer = handler(recall_event(query), None)
    assert answer["statusCode"] == 200, answer
    found: dict[str, Any] = json.loads(answer["body"])["result"]["structuredContent"]
    return found


def _counted_reads() -> list[int]:
    """The bytes of every object that the folder's adapter returns from now on."""
    folder_store = import_module("lodestore.adapters.folder_store")
    get, reads = folder_store.FolderStore.get, list[int]()

    def counted(*arguments: Any, **named: Any) -> Any:
        answer = get(*arguments, **named)
        if isinstance(answer, folder_store.Found):
            reads.append(len(answer.body))
        return answer

    folder_store.FolderStore.get = counted
    return reads


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], float(sys.argv[2]))))
