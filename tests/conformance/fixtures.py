"""What the conformance suite asks a server for, by the names that the suite gives.

Owns: its tools, resources, prompts and completion. Guarantees: they are reached through the product's own
endpoint and dispatch, beside the product's own tools. Gives up: logging, sampling, elicitation and what else
needs a stream or a second round; baseline-*.yml says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ContentBlock,
    EmbeddedResource,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    RequestParams,
    TextContent,
    TextResourceContents,
    Tool,
)

Context = ServerRequestContext[Any, Any]
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
TEXT_URI, BINARY_URI, TEMPLATE = "test://static-text", "test://static-binary", "test://template/"


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _image() -> ImageContent:
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def _resource(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=uri, mime_type=kind, text=text)
    )


CONTENT: dict[str, list[ContentBlock]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_image()],
    "test_audio_content": [AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        _resource("test://embedded-resource", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        _image(),
        _resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ],
    "test_error_handling": [_text("This tool intentionally returns an error for testing")],
    "test_tool_with_progress": [_text("done")],
    "json_schema_2020_12_tool": [_text("done")],
    "test_missing_capability": [_text("never shown")],
    "test_logging_tool": [_text("nothing is logged to clients")],
    "test_streaming_elicitation": [_text("nothing is asked back")],
}
SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
PROMPTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}
Handler = Callable[[Context, Any], Awaitable[Any]]


class Mount:
    """The fixtures over a server that has its own; what is not the suite's goes to the server's."""

    def __init__(self, server: Server[Any]) -> None:
        self._own: dict[str, Handler] = {}
        added: dict[str, tuple[type[RequestParams], Handler]] = {
            "tools/list": (PaginatedRequestParams, self._list_tools),
            "tools/call": (CallToolRequestParams, self._call_tool),
            "resources/read": (ReadResourceRequestParams, self._read),
            "prompts/list": (PaginatedRequestParams, self._list_prompts),
            "prompts/get": (GetPromptRequestParams, self._get_prompt),
            "completion/complete": (CompleteRequestParams, self._complete),
        }
        for method, (params, handler) in added.items():
            own = server.get_request_handler(method)
            if own is not None:
                self._own[method] = own.handler
            server.add_request_handler(method, params, handler)

    async def _list_tools(self, context: Context, params: PaginatedRequestParams) -> ListToolsResult:
        own: ListToolsResult = await self._own["tools/list"](context, params)
        return ListToolsResult(tools=[*own.tools, *(_tool(name) for name in CONTENT)])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in CONTENT:
            result: CallToolResult = await self._own["tools/call"](context, params)
            return result
        if params.name == "test_missing_capability":
            needed: dict[str, object] = {"requiredCapabilities": {"sampling": {}}}
            said = "This tool needs a client that samples"
            raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message=said, data=needed)
        if params.name == "test_tool_with_progress":
            for done in (0, 50, 100):
                await context.session.report_progress(done, 100, f"{done} of 100")
        return CallToolResult(content=CONTENT[params.name], is_error=params.name == "test_error_handling")

    async def _read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        if uri == TEXT_URI:
            said = "This is the content of the static text resource."
            return ReadResourceResult(
                contents=[TextResourceContents(uri=uri, mime_type="text/plain", text=said)]
            )
        if uri == BINARY_URI:
            return ReadResourceResult(
                contents=[BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)]
            )
        if uri.startswith(TEMPLATE):
            number = uri.removeprefix(TEMPLATE).partition("/")[0]
            text = f'{{"id":"{number}","templateTest":true,"data":"Data for ID: {number}"}}'
            return ReadResourceResult(
                contents=[TextResourceContents(uri=uri, mime_type="application/json", text=text)]
            )
        result: ReadResourceResult = await self._own["resources/read"](context, params)
        return result

    async def _list_prompts(self, context: Context, params: PaginatedRequestParams) -> ListPromptsResult:
        own: ListPromptsResult = await self._own["prompts/list"](context, params)
        return ListPromptsResult(prompts=[*own.prompts, *(_prompt(name) for name in PROMPTS)])

    async def _get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name not in PROMPTS:
            result: GetPromptResult = await self._own["prompts/get"](context, params)
            return result
        given = params.arguments or {}
        said: list[ContentBlock] = [_text("This is a simple prompt for testing.")]
        if PROMPTS[params.name] == ("arg1", "arg2"):
            said = [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        elif params.name == "test_prompt_with_embedded_resource":
            said = [_resource(given["resourceUri"], "Embedded resource content for testing.")]
        elif params.name == "test_prompt_with_image":
            said = [_image(), _text("Please analyze the image above.")]
        return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in said])

    async def _complete(self, _context: Context, params: CompleteRequestParams) -> CompleteResult:
        if getattr(params.ref, "name", None) not in PROMPTS:
            raise MCPError(code=INVALID_PARAMS, message="Nothing to complete")
        values = [value for value in ("paris", "park", "party") if value.startswith(params.argument.value)]
        return CompleteResult(completion=Completion(values=values, total=len(values), has_more=False))


def _tool(name: str) -> Tool:
    schema = SCHEMA_2020_12 if name == "json_schema_2020_12_tool" else {"type": "object", "properties": {}}
    return Tool(name=name, description=f"Conformance: {name}", input_schema=schema)


def _prompt(name: str) -> Prompt:
    arguments = [PromptArgument(name=each, description=each, required=True) for each in PROMPTS[name]]
    return Prompt(name=name, description=f"Conformance: {name}", arguments=arguments)
