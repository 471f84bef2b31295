"""A process around a Lambda handler: events in, answers out, a JSON line each, after one that says it is up.

Owns: its side of `targets.HandlerTarget`. Guarantees: the handler gets the event as Lambda's runtime makes it, from
JSON, and its answer leaves as JSON; what it raises is told by its type. Gives up: everything that a gateway adds.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module


def main() -> None:
    module, _, name = sys.argv[1].partition(":")
    handler = getattr(import_module(module), name)
    _say({"ready": name})
    for line in sys.stdin:
        try:
            _say({"answer": handler(json.loads(line), None)})
        # Whatever comes out of a handler is what the gateway answers 502 for.
        except Exception as error:  # noqa: BLE001
            _say({"raised": type(error).__name__})


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
