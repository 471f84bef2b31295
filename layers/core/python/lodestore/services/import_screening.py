"""Records that come from outside, held to what `remember` holds its arguments to.

Owns: limits, cleaning, secrets and vectors of a record before it is stored. Guarantees: every text of it was read as an
argument would be (P-BOUNDED); what our own export wrote passes unchanged; a revision of the far future, after which no
write could come, is refused.
Gives up: whether what it names (superseded, conversation) is there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from lodestore.domain import limits
from lodestore.domain.identity import is_memory_id
from lodestore.domain.memory import Embedding, Memory, Record, Stub
from lodestore.domain.revision import revision_time
from lodestore.errors import InvalidArgument, TooLarge
from lodestore.retrieval.spans import MOST_SPANS
from lodestore.services.arguments import Arguments
from lodestore.services.statements import Screen, read_fields
from lodestore.settings import SecretPolicy

_TEXTS = ("content", "category", "tags", "source", "metadata", "type", "importance", "pinned")
_AHEAD = timedelta(days=1)
_DIGEST = re.compile(r"[0-9a-f]{0,64}", re.ASCII)
_CONVERSATION = re.compile(rf"[!-+\--~]{{1,{limits.CONVERSATION_CHARACTERS}}}", re.ASCII)
# float16 keeps three digits.
_LENGTH_ERROR = 0.02


def screened(
    record: Record, *, secrets: SecretPolicy, now: datetime, model: str | None
) -> tuple[Record, tuple[str, ...]]:
    """The record as it may be stored, and the names of fields that differ. Raises InvalidArgument, TooLarge.

    model   whose vectors this process makes; None: none
    """
    _check_revisions(record, now)
    for name in ("supersedes", "superseded_by", "consolidated_from"):
        _check_ids(name, record.id, getattr(record, name, ()))
    screen = Screen(secrets)
    if isinstance(record, Stub):
        return _screened_stub(record, screen)
    _check_origin(record)
    given = {name: _argument(getattr(record, name)) for name in _TEXTS}
    fields = read_fields(Arguments("import", given, _TEXTS), screen, now=now)
    values: dict[str, object] = {
        "content": fields.content or "",
        "category": fields.category,
        "tags": fields.tags or (),
        "source": fields.source,
        "metadata": fields.metadata or {},
    }
    changed = tuple(name for name, value in values.items() if value != getattr(record, name))
    memory = replace(record, **{name: values[name] for name in changed})  # type: ignore[arg-type]
    if memory.embedding is not None and ("content" in changed or not _is_sound(memory, model)):
        memory, changed = replace(memory, embedding=None), (*changed, "embedding")
    return memory, changed


def _argument(value: object) -> object:
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


def _check_revisions(record: Record, now: datetime) -> None:
    most = int((now + _AHEAD).timestamp() * 1000)
    if revision_time(record.revision) > most:
        raise InvalidArgument(
            "revision lies in the future, and no later write could follow it.",
            field="revision",
            limit="a time up to tomorrow",
            got=record.revision,
        )
    if len(record.recent) > limits.RECENT_REVISIONS or (
        record.recent and record.recent[-1] != record.revision
    ):
        raise InvalidArgument(
            f"recent must be at most {limits.RECENT_REVISIONS} revisions, and the record's own the last.",
            field="recent",
            limit=limits.RECENT_REVISIONS,
            got=len(record.recent),
        )


def _check_ids(name: str, memory_id: str, ids: tuple[str, ...]) -> None:
    if len(ids) > limits.LINKS:
        raise TooLarge(
            f"{name} has {len(ids):,} ids; at most {limits.LINKS}.",
            field=name,
            limit=limits.LINKS,
            got=len(ids),
        )
    if memory_id in ids or not all(map(is_memory_id, ids)):
        raise InvalidArgument(
            f"{name} must be ids of other memories.", field=name, limit="ids of other memories", got=len(ids)
        )


def _check_origin(memory: Memory) -> None:
    if not _DIGEST.fullmatch(memory.origin):
        raise InvalidArgument("origin must be a digest in hex.", field="origin", limit="up to 64 hex digits")
    if not _DIGEST.fullmatch(memory.idempotency or ""):
        raise InvalidArgument(
            "idempotency must be a digest in hex.", field="idempotency", limit="up to 64 hex digits"
        )
    if memory.conversation is not None and not _CONVERSATION.fullmatch(memory.conversation):
        raise InvalidArgument(
            f"conversation must be up to {limits.CONVERSATION_CHARACTERS} printable ASCII characters, "
            "no space, no comma.",
            field="conversation",
            limit=limits.CONVERSATION_CHARACTERS,
            got=len(memory.conversation),
        )
    if memory.version > limits.VERSION_MOST:
        raise TooLarge(
            f"version is more than {limits.VERSION_MOST:,}.",
            field="version",
            limit=limits.VERSION_MOST,
            got="more",
        )


def _screened_stub(stub: Stub, screen: Screen) -> tuple[Record, tuple[str, ...]]:
    arguments = Arguments(
        "import", {"reason": stub.reason, "forgotten_by": stub.forgotten_by}, ("reason", "forgotten_by")
    )
    if not _DIGEST.fullmatch(stub.idempotency or ""):
        raise InvalidArgument(
            "idempotency must be a digest in hex.", field="idempotency", limit="up to 64 hex digits"
        )
    by = arguments.required_text("forgotten_by", most_bytes=limits.SOURCE_BYTES)
    reason = screen.text("reason", arguments.text("reason", most_bytes=limits.REASON_BYTES))
    changed = tuple(
        name for name, value in (("reason", reason), ("forgotten_by", by)) if value != getattr(stub, name)
    )
    return replace(stub, reason=reason, forgotten_by=by), changed


def _is_sound(memory: Memory, model: str | None) -> bool:
    """Whether the vectors are of this process's model, and such as a model makes of this content."""
    embedding = memory.embedding
    assert embedding is not None
    return (model is None or embedding.model == model) and _is_whole(embedding, len(memory.content))


def _is_whole(embedding: Embedding, characters: int) -> bool:
    spans = embedding.spans
    if not 1 <= len(spans) <= MOST_SPANS or any(not 0 <= start < end <= characters for start, end in spans):
        return False
    vectors = np.frombuffer(embedding.vectors, "<f2").reshape(len(spans), embedding.dim).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1)
    return bool(np.isfinite(lengths).all() and (np.abs(lengths - 1) < _LENGTH_ERROR).all())
