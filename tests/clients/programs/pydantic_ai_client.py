"""pydantic-ai's toolset, without an agent in front."""

import asyncio
import json
import sys

from pydantic_ai import ModelRetry
from pydantic_ai.mcp import MCPToolset


async def main(url: str, tenant: str) -> None:
    async with MCPToolset(url, headers={"X-Memory-Tenant": tenant}) as client:
        tools = [tool.name for tool in await client.list_tools()]
        await client.direct_call_tool("remember", {"content": "Standup is at 09:15"})
        try:
            wrong = await client.direct_call_tool("recall", {"query": "standup", "limit": 999})
        except ModelRetry as error:
            wrong = str(error)
        found = await client.direct_call_tool("recall", {"query": "standup"})
    print(json.dumps({"tools": tools, "error": str(wrong), "recalled": str(found)}))


asyncio.run(main(*sys.argv[1:]))
