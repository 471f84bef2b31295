"""The MCP endpoint: turns one function-URL event into one JSON-RPC message and its answer."""
