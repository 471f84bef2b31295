"""`resources/*`: memory that a client can put before its model without a tool call.

Owns: the resource `memory://context`, the template `memory://memory/{id}`, and what an error becomes there.
Guarantees: each is a call of the tool that says the same (`memory_context`, `get_memory`), so that visibility,
roles and the mark of untrusted data are the tools'; nothing read may be kept by a client.
Gives up: a list of the memories as resources; `list_memories` pages through them.

Source: MCP 2026-07-28 and 2025-11-25, "Resources".
"""

from __future__ import annotations

from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from lodestore.domain.limits import ID_CHARACTERS
from mcp_server.http_event import JSON_TYPE
from mcp_server.rendering import sound_text
from mcp_server.tool_reads import Context, ToolReads, check_cursor

CONTEXT_URI = "memory://context"
MEMORY_PREFIX = "memory://memory/"
MEMORY_TEMPLATE = MEMORY_PREFIX + "{id}"
# The code of a resource that is not there, before 2026-07-28 and since.
_NOT_FOUND_BEFORE = -32002
# Every character of an id may take three as a URI has it.
_URI_MOST = len(MEMORY_PREFIX) + 3 * ID_CHARACTERS


class ResourceHandlers:
    """Bound to one way of calling tools. Thread-safe."""

    def __init__(self, reads: ToolReads) -> None:
        self._reads = reads

    async def list_resources(
        self, _context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """The one resource."""
        check_cursor(params, "resources")
        return ListResourcesResult(resources=[_CONTEXT])

    async def list_templates(
        self, _context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The one template."""
        check_cursor(params, "resource templates")
        return ListResourceTemplatesResult(resource_templates=[_MEMORY])

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """The tool's answer as JSON. Raises MCPError: -32602, before 2026-07-28 -32002, where nothing is there."""
        uri = str(params.uri)
        not_found = (
            _NOT_FOUND_BEFORE if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS else INVALID_PARAMS
        )
        if uri == CONTEXT_URI:
            answer = self._reads.call(context, "memory_context", {}, not_found=not_found)
        elif uri.startswith(MEMORY_PREFIX) and len(uri) <= _URI_MOST:
            given = {"id": unquote(uri.removeprefix(MEMORY_PREFIX))}
            answer = self._reads.call(context, "get_memory", given, not_found=not_found)
        else:
            said = f"No such resource; there are {CONTEXT_URI} and {MEMORY_TEMPLATE}."
            raise MCPError(code=not_found, message=said, data={"uri": uri[:_URI_MOST]})
        text = sound_text(answer)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=JSON_TYPE, text=text)])


_CONTEXT = Resource(
    name="context",
    uri=CONTEXT_URI,
    description="Standing instructions, preferences and the newest memories, within 1,000 tokens.",
    mime_type=JSON_TYPE,
)
_MEMORY = ResourceTemplate(
    name="memory",
    uri_template=MEMORY_TEMPLATE,
    description="One memory in full, by its id.",
    mime_type=JSON_TYPE,
)
