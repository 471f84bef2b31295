"""The MCP client of strands-agents."""

import json
import sys

import httpx2
from mcp.client.streamable_http import streamable_http_client
from strands.tools.mcp import MCPClient


def main(url: str, tenant: str) -> None:
    http = httpx2.AsyncClient(headers={"X-Memory-Tenant": tenant}, trust_env=False)
    with MCPClient(lambda: streamable_http_client(url, http_client=http)) as client:
        tools = [tool.tool_name for tool in client.list_tools_sync()]
        client.call_tool_sync("1", "remember", {"content": "Standup is at 09:15"})
        wrong = client.call_tool_sync("2", "recall", {"query": "standup", "limit": 999})
        found = client.call_tool_sync("3", "recall", {"query": "standup"})
    print(json.dumps({"tools": tools, "error": str(wrong["content"]), "recalled": str(found["content"])}))


main(*sys.argv[1:])
