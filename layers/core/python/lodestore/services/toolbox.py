"""The tools as a table: what each is called, who may call it, what it takes, what it answers.

Owns: the catalogue (`Tool`) and the one door through which a transport calls a tool (`Toolbox`).
Guarantees: role and read-only mode are checked before arguments, arguments before any storage request.
Gives up: the wire; `functions/mcp_server` turns answers and errors into MCP results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lodestore.domain.caller import Caller, Role
from lodestore.errors import Forbidden

Json = Mapping[str, object]


class UnknownTool(Exception):
    """No tool has this name (a protocol error in MCP, -32602)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `input_schema` is JSON Schema 2020-12 with additionalProperties false; no output schema.

    role         the least role that may call it; roles below `admin` see every tool but admin ones in the list
    read_only    changes nothing; the other hints are MCP's tool annotations
    """

    name: str
    description: str
    input_schema: Json
    role: Role
    read_only: bool
    destructive: bool
    idempotent: bool
    run: Callable[[Caller, Mapping[str, object]], dict[str, object]]


class Toolbox:
    """The tools that this process offers, in a fixed order."""

    def __init__(self, tools: tuple[Tool, ...], *, read_only: bool = False) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._read_only = read_only

    def tools(self, role: Role) -> tuple[Tool, ...]:
        """What `tools/list` shows to this role: deterministic, the same for every caller of the role."""
        return tuple(tool for tool in self._tools.values() if role.includes(tool.role))

    def call(self, caller: Caller, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Run one tool. Returns the answer's JSON object.

        Raises UnknownTool, or a LodestoreError whose `to_dict` is the answer's JSON.
        """
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name)
        if not caller.role.includes(tool.role):
            raise Forbidden(
                f"{name} needs the role {tool.role}; this key has {caller.role}.",
                next_step=f"Use a key with the role {tool.role}. The model cannot fix this; its operator can.",
            )
        if self._read_only and not tool.read_only:
            raise Forbidden(
                f"{name} is switched off: this server is read-only.",
                next_step="Ask the operator to start the server with READ_ONLY=0.",
            )
        return tool.run(caller, arguments)
