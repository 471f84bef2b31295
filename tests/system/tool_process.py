"""A process with a Lodestore of its own and no indexer: lists of tool calls in, their answers out, a line each.

Owns: its side of `processes.ToolProcess`. Guarantees: the calls of one line run side by side. Gives up: MCP.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lodestore.bootstrap import build, environment
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError

CALLS_MOST = 64


def main() -> None:
    lodestore = build(environment())
    caller = Caller(lodestore.settings.tenant, None, Role.ADMIN)

    def call(request: dict[str, Any]) -> dict[str, object]:
        try:
            return lodestore.toolbox.call(caller, request["tool"], request["arguments"])
        except LodestoreError as error:
            return error.to_dict()

    with ThreadPoolExecutor(CALLS_MOST) as threads:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(list(threads.map(call, json.loads(line)))) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
