"""The Lambda handler of the MCP function: `mcp_server.handler.handler`.

Owns: the process's one endpoint, built from its environment with the first request, and where its log goes.
Guarantees: built once, however many threads ask at once; on Lambda log and metrics go to standard output,
on one machine the log goes to standard error and standard output stays clean.
Gives up: everything else; `endpoint` decides.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping

from lodestore.bootstrap import build, environment, system_clock
from lodestore.errors import SettingsError
from mcp_server.endpoint import Endpoint
from mcp_server.observability import Counters, Observer
from mcp_server.origins import parse_origins
from mcp_server.unconfigured import Unconfigured

# Set by the Lambda runtime and by nothing else.
_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"
_lock = threading.Lock()
_built: list[Endpoint | Unconfigured] = []


def handler(event: Mapping[str, object], context: object) -> dict[str, object]:
    """Answer one event of a function URL (payload format 2.0)."""
    return _endpoint()(event, context)


def build_endpoint(variables: Mapping[str, str]) -> Endpoint:
    """An endpoint with a core of its own. Raises SettingsError."""
    allowed = parse_origins(variables.get("ALLOWED_ORIGINS", ""))
    counters = Counters()
    lodestore = build(variables, meter=counters)
    on_lambda = _ON_LAMBDA in variables
    observer = Observer(
        clock=lodestore.clock,
        counters=counters,
        log=sys.stdout if on_lambda else sys.stderr,
        metrics=sys.stdout if on_lambda else None,
    )
    return Endpoint(lodestore, observer, allowed_origins=allowed)


def serving(variables: Mapping[str, str]) -> Endpoint | Unconfigured:
    """The endpoint; on Lambda, where nobody sees a start, one that says what is wrong.

    Raises SettingsError on any other machine.
    """
    try:
        return build_endpoint(variables)
    except SettingsError as error:
        if _ON_LAMBDA not in variables:
            raise
        return Unconfigured(str(error), sys.stdout, system_clock())


def _endpoint() -> Endpoint | Unconfigured:
    with _lock:
        if not _built:
            _built.append(serving(environment()))
        return _built[0]
