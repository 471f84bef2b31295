"""The tools that langchain-mcp-adapters makes."""

import asyncio
import json
import sys

from langchain_core.tools import ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(url: str, tenant: str) -> None:
    server = {"transport": "streamable_http", "url": url, "headers": {"X-Memory-Tenant": tenant}}
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"lodestore": server}).get_tools()}
    await tools["remember"].ainvoke({"content": "Standup is at 09:15"})
    try:
        wrong = await tools["recall"].ainvoke({"query": "standup", "limit": 999})
    except ToolException as error:
        wrong = str(error)
    found = await tools["recall"].ainvoke({"query": "standup"})
    print(json.dumps({"tools": list(tools), "error": str(wrong), "recalled": str(found)}))


asyncio.run(main(*sys.argv[1:]))
