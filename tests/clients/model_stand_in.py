"""A loopback stand-in of a model's API: it asks for the calls it was told, one a turn, then says that it is done.

Owns: the streams of the Anthropic Messages API, the OpenAI Responses API and the Gemini API, as far as coding agents
read them.
Guarantees: bound to 127.0.0.1; every body that was posted is kept, so that a test sees what the agent told the model.
Gives up: any other path (an empty JSON object), and every judgement: a turn's call depends on how many tool results
the conversation has.

Sources: Anthropic "Streaming messages"; OpenAI "Responses streaming events"; Gemini API "models.streamGenerateContent".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call that the model makes."""

    tool: str
    arguments: Body


@dataclass(frozen=True, slots=True)
class StandIn:
    """A running stand-in: its address without a path, and every conversation that was posted, in order."""

    url: str
    bodies: list[Body] = field(default_factory=list)


@contextmanager
def model_stand_in(calls: Sequence[Asked]) -> Iterator[StandIn]:
    """Serve until the block ends."""
    bodies: list[Body] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("application/json", "{}")

        do_HEAD = do_GET  # noqa: N815 -- the library's naming

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "{}")
            streams = {"messages": _messages, "responses": _responses, "streamGenerateContent": _gemini}
            if (stream := streams.get(re.split("[/:]", self.path.partition("?")[0])[-1])) is None:
                return self._answer("application/json", "{}")
            bodies.append(body)
            return self._answer("text/event-stream", "".join(map(_event, stream(body, calls))))

        def _answer(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Nothing: a test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield StandIn(f"http://127.0.0.1:{server.server_port}", bodies)
        finally:
            server.shutdown()
            thread.join()


def _event(content: Body) -> str:
    named = f"event: {content['type']}\n" if "type" in content else ""
    return f"{named}data: {json.dumps(content)}\n\n"


def _messages(body: Body, calls: Sequence[Asked]) -> Iterator[Body]:
    parts = [part for one in body["messages"] if isinstance(one["content"], list) for part in one["content"]]
    turn = sum(part.get("type") == "tool_result" for part in parts)
    # An agent also asks for a title and the like, with no tools to call.
    asked = calls[turn] if turn < len(calls) and body.get("tools") else None
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
    }
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}}
    if asked:
        block: Body = {"type": "tool_use", "id": f"toolu_{turn}", "name": asked.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(asked.arguments)}
    else:
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "tool_use" if asked else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": usage}
    yield {"type": "message_stop"}


def _responses(body: Body, calls: Sequence[Asked]) -> Iterator[Body]:
    turn = sum(one.get("type") == "function_call_output" for one in body["input"])
    if turn < len(calls):
        asked = calls[turn]
        item: Body = {"type": "function_call", "id": f"fc_{turn}", "call_id": f"call_{turn}"}
        namespace, _, tool = asked.tool.rpartition("/")
        item |= {"name": tool, "arguments": json.dumps(asked.arguments), "status": "completed"}
        item |= {"namespace": namespace} if namespace else {}
    else:
        said = [{"type": "output_text", "text": "Done.", "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": said}
    response: Body = {"id": f"resp_{turn}", "object": "response", "model": body["model"]}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield {
        "type": "response.completed",
        "response": {**response, "status": "completed", "output": [item], "usage": usage},
    }


def _gemini(body: Body, calls: Sequence[Asked]) -> Iterator[Body]:
    turn = sum("functionResponse" in part for one in body["contents"] for part in one["parts"])
    part: Body = {"text": "Done."}
    if turn < len(calls):
        part = {"functionCall": {"name": calls[turn].tool, "args": calls[turn].arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    yield {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}
