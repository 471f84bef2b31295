"""Which function serves what, by handler string, as Lambda looks it up.

Owns: the table and the look-up. Guarantees: a handler string that names nothing stops the start, by name.
Gives up: versions and aliases; the function is what is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import count

HTTP = "http"
CHANGES = "changes"
SCHEDULE = "schedule"
HANDLERS: Mapping[str, str] = {
    HTTP: "mcp_server.handler.handler",
    CHANGES: "indexer.handler.handler",
    SCHEDULE: "maintenance.handler.handler",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationContext:
    """The part of Lambda's context object that a handler may read; names and units are Lambda's."""

    aws_request_id: str
    function_name: str
    function_version: str = "$LOCAL"
    invoked_function_arn: str = ""
    memory_limit_in_mb: int = 0


Handler = Callable[[dict[str, object], InvocationContext], object]


class UnknownHandler(Exception):
    """A handler string names no callable; the text is the string."""


class Function:
    """One function: invoked with an event, it gives its handler a context with a request id of its own."""

    def __init__(self, name: str, handler: Handler) -> None:
        self.name = name
        self._handler = handler
        self._numbers = count(1)

    def invoke(self, event: dict[str, object]) -> object:
        """The handler's answer. Raises what the handler raises."""
        request_id = f"{self.name}-{next(self._numbers):012d}"
        return self._handler(event, InvocationContext(aws_request_id=request_id, function_name=self.name))


def look_up(name: str, table: Mapping[str, str] = HANDLERS) -> Function:
    """The function that serves `name`. Raises UnknownHandler; an error inside the module comes through."""
    handler_string = table[name]
    module_name, _, attribute = handler_string.rpartition(".")
    try:
        handler = getattr(import_module(module_name), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        handler = None
    if not callable(handler):
        raise UnknownHandler(handler_string)
    return Function(name, handler)
