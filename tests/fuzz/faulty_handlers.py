"""Handlers with a fault each, to show that the fuzzer finds it.

Owns: what `test_fuzz` runs the fuzzer against, in this process or in one of its own. Guarantees: a fault shows for some
inputs only, as a real one would. Gives up: being a server; what is no fault is an empty answer.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Mapping

Event = Mapping[str, object]
Answer = dict[str, object]

FINE: Mapping[str, object] = {
    "statusCode": 200,
    "headers": {"content-type": "application/json"},
    "body": "{}",
}


def _has_nul(event: Event) -> bool:
    return "\\u0000" in str(event.get("body"))


def shows_a_stack(event: Event, _context: object = None) -> Answer:
    """Tells the caller what went wrong where a text is not to be had as ASCII."""
    try:
        str(event.get("body")).encode("ascii")
    except UnicodeEncodeError:
        return {**FINE, "statusCode": 400, "body": traceback.format_exc()}
    return dict(FINE)


def raises(event: Event, _context: object = None) -> Answer:
    """Forgets that a surrogate is no character."""
    json.dumps(json.loads(str(event.get("body"))), ensure_ascii=False).encode()
    return dict(FINE)


def answers_500(event: Event, _context: object = None) -> Answer:
    """Takes a control character for a fault of its own."""
    return {**FINE, "statusCode": 500} if _has_nul(event) else dict(FINE)


def says_internal_error(event: Event, _context: object = None) -> Answer:
    """Says the same inside an answer of status 200."""
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "x"}}
    return {**FINE, "body": json.dumps(error)} if _has_nul(event) else dict(FINE)


def logs_a_stack(event: Event, _context: object = None) -> Answer:
    """Answers well and writes a stack to the log, content included."""
    try:
        str(event.get("body")).encode("ascii")
    except UnicodeEncodeError:
        sys.stderr.write(traceback.format_exc())
    return dict(FINE)


def hangs(event: Event, _context: object = None) -> Answer:
    """Never comes back from one body."""
    if event.get("body") == "hang":
        threading.Event().wait()
    return dict(FINE)
