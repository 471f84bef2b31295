"""The official Python SDK; the third argument is its mode."""

import asyncio
import json
import sys

from tests.system.processes import http_client


async def main(url: str, tenant: str, mode: str) -> None:
    async with http_client(url, mode=mode, X_Memory_Tenant=tenant) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        await client.call_tool("remember", {"content": "Standup is at 09:15"})
        wrong = await client.call_tool("recall", {"query": "standup", "limit": 999})
        found = await client.call_tool("recall", {"query": "standup"})
    print(json.dumps({"tools": tools, "error": str(wrong.content), "recalled": str(found.content)}))


asyncio.run(main(*sys.argv[1:]))
