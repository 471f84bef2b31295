"""The endpoint of a function whose settings are wrong.

Owns: what such a function says. Guarantees: every call is refused with the one line that names the setting, /health
says it in `status`, and the log has it once for each call; a caller is told nothing that holds a secret, because
settings errors never do. Gives up: healing; a deployment with right settings is a new process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from lodestore import __version__
from lodestore.ports.clock import Clock
from lodestore.services.misconfigured import misconfigured_line
from mcp_server.http_event import HttpAnswer, read_event
from mcp_server.observability import SERVICE

HEALTH = "/health"


class Unconfigured:
    """Called like an `Endpoint`."""

    def __init__(self, reason: str, log: TextIO, clock: Clock) -> None:
        self._reason = reason
        self._log = log
        self._clock = clock

    def __call__(self, event: Mapping[str, object], _context: object = None) -> dict[str, object]:
        """503, or the health of it."""
        request = read_event(event)
        if request.path.removesuffix("/") == HEALTH and request.method == "GET":
            health = {"status": f"misconfigured: {self._reason}", "version": __version__}
            return HttpAnswer(status=200, payload=health).to_event()
        self._log.write(misconfigured_line(SERVICE, self._reason, self._clock.now()))
        self._log.flush()
        payload = {
            "error": "unavailable",
            "message": f"This server is not set up: {self._reason}",
            "next_step": "Its operator has to correct the setting and deploy again.",
        }
        return HttpAnswer(status=503, payload=payload).to_event()
