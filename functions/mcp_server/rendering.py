"""Tools and their answers as MCP shows them.

Owns: `tools/list` entries and call results. Guarantees: `structuredContent` and the text block say the
same, errors too, because some clients hand the model one and some the other; the list is the same bytes for
every caller of a role, and has no output schemas.
Gives up: what the tools say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from mcp_types import CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool

from lodestore.errors import LodestoreError
from lodestore.services.toolbox import Tool
from mcp_server.http_event import compact_json


def render_tools(tools: Iterable[Tool]) -> ListToolsResult:
    """The whole list on one page."""
    return ListToolsResult(tools=[_render_tool(tool) for tool in tools])


def render_answer(answer: dict[str, object]) -> CallToolResult:
    """A tool's answer. Raises ValueError, TypeError where it is no JSON."""
    return _result(answer, is_error=False)


def render_error(error: LodestoreError) -> CallToolResult:
    """A tool's error, as a result that the model can read and act on."""
    return _result(error.to_dict(), is_error=True)


def _render_tool(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def sound_text(value: Mapping[str, object]) -> str:
    """The value as compact JSON that UTF-8 can hold.

    Only an object that another hand wrote can hold half a character; no answer could be sent with it.
    """
    text = compact_json(value)
    return text if text.isascii() else text.encode(errors="replace").decode()


def _result(value: dict[str, object], *, is_error: bool) -> CallToolResult:
    text = sound_text(value)
    if "?" in text and text != compact_json(value):
        value = json.loads(text)
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=value, is_error=is_error
    )
