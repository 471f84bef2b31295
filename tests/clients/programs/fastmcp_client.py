"""fastmcp's own client."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def main(url: str, tenant: str) -> None:
    transport = StreamableHttpTransport(url, headers={"X-Memory-Tenant": tenant})
    async with Client(transport) as client:
        tools = [tool.name for tool in await client.list_tools()]
        await client.call_tool("remember", {"content": "Standup is at 09:15"})
        wrong = await client.call_tool("recall", {"query": "standup", "limit": 999}, raise_on_error=False)
        found = await client.call_tool("recall", {"query": "standup"})
    print(
        json.dumps({"tools": tools, "error": str(wrong.content), "recalled": str(found.structured_content)})
    )


asyncio.run(main(*sys.argv[1:]))
