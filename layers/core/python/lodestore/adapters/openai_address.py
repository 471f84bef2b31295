"""OPENAI_BASE_URL: where embeddings and language models of that format are asked.

Owns: the address by default, and its check. Guarantees: a refusal names the variable and never shows a key.
Gives up: whether anyone answers there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from lodestore.errors import SettingsError

OPENAI_BASE = "https://api.openai.com/v1"


def check_base(base: str, key: str | None, choice: str) -> None:
    """Raises SettingsError for an address that can't be one. `choice`: what asks for it, as NAME=value."""
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise SettingsError(
            "OPENAI_BASE_URL must be http(s)://HOST[:PORT][/PATH] and hold no user, key or query"
        )
    if base == OPENAI_BASE and not key:
        raise SettingsError(f"{choice} needs OPENAI_API_KEY, or OPENAI_BASE_URL of a service without keys")
