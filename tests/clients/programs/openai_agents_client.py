"""The MCP client of openai-agents."""

import asyncio
import json
import sys

from agents.mcp import MCPServerStreamableHttp


async def main(url: str, tenant: str) -> None:
    parameters = {"url": url, "headers": {"X-Memory-Tenant": tenant}}
    async with MCPServerStreamableHttp(params=parameters, client_session_timeout_seconds=30) as client:
        tools = [tool.name for tool in await client.list_tools()]
        await client.call_tool("remember", {"content": "Standup is at 09:15"})
        wrong = await client.call_tool("recall", {"query": "standup", "limit": 999})
        found = await client.call_tool("recall", {"query": "standup"})
    print(json.dumps({"tools": tools, "error": str(wrong.content), "recalled": str(found.content)}))


asyncio.run(main(*sys.argv[1:]))
