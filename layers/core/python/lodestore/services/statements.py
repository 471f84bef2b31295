"""From arguments to what a caller states: fields checked, bounded, cleaned, and free of secrets.

Owns: the arguments that `remember` and `update_memory` share, and the secret policy applied to each.
Guarantees: secrets are found before anything is hashed or stored (B27), in every field that is kept; every error
comes before any storage request (P-BOUNDED).
Gives up: secrets that look like ordinary words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.memory import MemoryType, Scope
from lodestore.domain.secrets import redact
from lodestore.domain.secrets_in_json import redact_json
from lodestore.domain.statement import Fields, Statement
from lodestore.domain.text import normalise_for_identity
from lodestore.errors import InvalidArgument
from lodestore.services.arguments import Arguments
from lodestore.settings import SecretPolicy

Kept = TypeVar("Kept")
_LEAST_LIFETIME = 1_000
FIELD_ARGUMENTS = (
    "content",
    "type",
    "category",
    "tags",
    "importance",
    "pinned",
    "source",
    "metadata",
    "ttl_days",
    "expires_at",
    "valid_from",
    "supersedes",
)


class Screen:
    """The secret policy over text and structures; remembers in which fields it found something."""

    def __init__(self, policy: SecretPolicy) -> None:
        self._policy = policy
        self.redacted: list[str] = []

    def text(self, name: str, text: str | None) -> str | None:
        """The text without secrets. Raises InvalidArgument under the policy `refuse`."""
        return None if text is None else self._screened(name, text, redact)

    def texts(self, name: str, texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """As `text`, one by one."""
        if texts is None:
            return None
        return tuple(dict.fromkeys(self._screened(name, text, redact) for text in texts))

    def mapping(self, name: str, value: Mapping[str, object] | None) -> Mapping[str, object] | None:
        """As `text`, for keys and values at any depth."""
        return None if value is None else self._screened(name, value, _redact_mapping)

    def _screened(
        self, name: str, value: Kept, redactor: Callable[[Kept], tuple[Kept, tuple[str, ...]]]
    ) -> Kept:
        if self._policy is SecretPolicy.ALLOW:
            return value
        screened, kinds = redactor(value)
        if not kinds:
            return value
        if self._policy is SecretPolicy.REFUSE:
            raise InvalidArgument(
                f"{name} holds what looks like a secret ({', '.join(sorted(set(kinds)))}).",
                field=name,
                limit="no credentials",
                got="a credential",
                next_step="Leave the secret out; say where it is kept instead.",
            )
        if name not in self.redacted:
            self.redacted.append(name)
        return screened


def read_fields(arguments: Arguments, screen: Screen, *, now: datetime) -> Fields:
    """The fields that were given, `ttl_days` as the time it ends. Raises InvalidArgument, TooLarge."""
    content = arguments.text("content", most_bytes=limits.CONTENT_BYTES)
    content = screen.text("content", None if content is None else normalise_for_identity(content))
    return Fields(
        content=content,
        type=arguments.choice("type", MemoryType),
        category=screen.text("category", arguments.text("category", most_bytes=limits.CATEGORY_BYTES)),
        tags=screen.texts("tags", arguments.texts("tags", most=limits.TAGS, most_bytes=limits.TAG_BYTES)),
        importance=arguments.number("importance", least=0, most=1),
        pinned=arguments.flag("pinned"),
        source=screen.text("source", arguments.text("source", most_bytes=limits.SOURCE_BYTES)),
        metadata=screen.mapping("metadata", _metadata(arguments)),
        valid_from=arguments.moment("valid_from"),
        expires_at=_expiry(arguments, now),
        supersedes=arguments.identifiers("supersedes", most=limits.SUPERSEDES),
    )


def read_statement(arguments: Arguments, screen: Screen, caller: Caller, *, now: datetime) -> Statement:
    """The whole of a `remember`. Raises InvalidArgument, TooLarge."""
    arguments.required_text("content", most_bytes=limits.CONTENT_BYTES)
    fields = read_fields(arguments, screen, now=now)
    assert fields.content is not None
    scope = arguments.choice("scope", Scope) or Scope.PROJECT
    if scope is Scope.CONVERSATION and caller.conversation is None:
        raise InvalidArgument(
            "scope conversation needs a conversation, and this request names none.",
            field="scope",
            limit="a request with the header X-Conversation-Id",
            got="conversation",
            next_step="Use scope project, or have the client send X-Conversation-Id.",
        )
    return Statement(
        content=fields.content,
        fields=replace(fields, content=None),
        scope=scope,
        conversation=caller.conversation,
        ttl_days=_ttl(arguments),
        own_id=arguments.identifier("id"),
        idempotency_key=arguments.key("idempotency_key"),
        redacted=tuple(screen.redacted),
    )


def _metadata(arguments: Arguments) -> Mapping[str, object] | None:
    return arguments.mapping("metadata", most_bytes=limits.METADATA_BYTES, most_depth=limits.METADATA_DEPTH)


def _redact_mapping(value: Mapping[str, object]) -> tuple[Mapping[str, object], tuple[str, ...]]:
    redacted, redactions = redact_json(dict(value))
    assert isinstance(redacted, dict)
    return redacted, tuple(redaction.kind for redaction in redactions)


def _ttl(arguments: Arguments) -> float | None:
    return arguments.number("ttl_days", least=0, most=limits.TTL_DAYS, above=True)


def _expiry(arguments: Arguments, now: datetime) -> datetime | None:
    ttl, moment = _ttl(arguments), arguments.moment("expires_at")
    if ttl is not None and moment is not None:
        raise InvalidArgument(
            "ttl_days and expires_at say the same thing; give one of them.",
            field="expires_at",
            limit="one of ttl_days, expires_at",
            got="both",
            next_step="Leave one of the two out.",
        )
    if ttl is not None:
        # What lived for less than a second would be gone before anyone could see it.
        return now + timedelta(milliseconds=max(_LEAST_LIFETIME, round(ttl * 86_400_000)))
    if moment is not None and moment <= now:
        raise InvalidArgument(
            "expires_at is not in the future, so the memory would never be seen.",
            field="expires_at",
            limit="a time in the future",
            got=str(moment),
            next_step="Give a later time, or use forget to remove a memory.",
        )
    return moment
