"""The official Python SDK over standard streams, in front of a bridge: URL, tenant, then the bridge's command."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(url: str, tenant: str, *command: str) -> None:
    options = ["--allow-http", "--transport", "http-only", "--header", f"X-Memory-Tenant:{tenant}"]
    bridge = StdioServerParameters(command=command[0], args=[*command[1:], url, *options])
    async with Client(stdio_client(bridge), mode="legacy") as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        await client.call_tool("remember", {"content": "Standup is at 09:15"})
        wrong = await client.call_tool("recall", {"query": "standup", "limit": 999})
        found = await client.call_tool("recall", {"query": "standup"})
    print(json.dumps({"tools": tools, "error": str(wrong.content), "recalled": str(found.content)}))


asyncio.run(main(*sys.argv[1:]))
