"""`make smoke`: remember, recall and forget at a URL, as a client would.

Owns: the calls and what each must answer. Guarantees: it ends with 0 only where the memory was stored, found at once
and is gone afterwards; it leaves nothing behind but the stub of its own note. Gives up: load and every other tool.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from typing import Any

from infra.deployed import NotDeployed, outputs

SECONDS = 60


class Smoke(Exception):
    """A call was not answered as it must be; one line."""


def call(url: str, key: str, tool: str, **arguments: object) -> dict[str, Any]:
    """A tool's structured answer. Raises Smoke."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "authorization": f"Bearer {key}",
    }
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)  # noqa: S310 - checked by main
    try:
        with urllib.request.urlopen(request, timeout=SECONDS, context=_trust()) as answer:  # noqa: S310 - as above
            result = json.load(answer).get("result", {})
    except urllib.error.HTTPError as refused:
        raise Smoke(f"{tool}: HTTP {refused.code}: {refused.read(500).decode(errors='replace')}") from None
    except OSError as error:
        raise Smoke(f"{tool}: no answer from {url}: {error}") from None
    if result.get("isError") or "structuredContent" not in result:
        raise Smoke(f"{tool}: {json.dumps(result)[:500]}")
    content: dict[str, Any] = result["structuredContent"]
    return content


def run(url: str, key: str) -> list[str]:
    """The lines to print. Raises Smoke."""
    note = f"lodestore smoke test, note {time.time_ns()}"
    lines, begun = [], time.monotonic()
    stored = call(url, key, "remember", content=note, ttl_days=1)
    lines.append(f"remember  {stored['status']}  {time.monotonic() - begun:.2f} s")
    begun = time.monotonic()
    found = [hit["id"] for hit in call(url, key, "recall", query=note)["hits"]]
    lines.append(f"recall    {len(found)} hits  {time.monotonic() - begun:.2f} s")
    if stored["id"] not in found:
        raise Smoke("recall: what was stored was not found")
    begun = time.monotonic()
    if not call(url, key, "forget", id=stored["id"], reason="smoke test")["deleted"]:
        raise Smoke("forget: nothing was deleted")
    lines.append(f"forget    done  {time.monotonic() - begun:.2f} s")
    if stored["id"] in [hit["id"] for hit in call(url, key, "recall", query=note)["hits"]]:
        raise Smoke("recall: what was forgotten was found")
    return [*lines, "smoke: 4 calls, all as they must be"]


def main() -> int:
    """KEY, and URL or ENV, come from the environment."""
    key, url = os.environ.get("KEY", ""), os.environ.get("URL", "")
    try:
        if not key:
            raise Smoke("KEY is missing: make key ENV=... TENANT=... ROLE=writer makes one")
        url = url or outputs(os.environ.get("ENV", ""))["Url"]
        if not url.startswith(("https://", "http://127.0.0.1")):
            raise Smoke(f"URL must begin with https://, not {url!r}")
        print("\n".join(run(url, key)))
    except (Smoke, NotDeployed) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _trust() -> ssl.SSLContext:
    """The system's certificates, and the emulator's own where AWS_CA_BUNDLE names it."""
    return ssl.create_default_context(cafile=os.environ.get("AWS_CA_BUNDLE") or None)


if __name__ == "__main__":
    sys.exit(main())
