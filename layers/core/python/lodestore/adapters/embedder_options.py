"""What an operator may choose of an embedder, and what of it goes together.

Owns: the variables that shape an embedder, their ranges, and which of them which embedder reads. Guarantees: one that
would be ignored is refused by name (P-SILENT-NEVER); the key is in no representation. Gives up: what only the model
knows, such as its dimensions; `embedders` checks that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lodestore.errors import SettingsError
from lodestore.settings import Embeddings

# 64 spans of this size hold the longest content, whatever prefix and cuts take of them.
LEAST_SPAN_BYTES = 700
# A text has no more tokens than bytes, and 8,192 tokens are the widest window of these models.
MOST_SPAN_BYTES = 8_000
PREFIX_BYTES = 100
MOST_DIM = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOptions:
    """The variables of the environment that shape an embedder, as given; None where not.

    model           EMBED_MODEL: a local model's name, a Bedrock model id or inference profile, or the name that an
                    OpenAI service knows
    dim             EMBED_DIM: numbers in a vector
    ask_dim         EMBED_ASK_DIM: send `dimensions` to an OpenAI service; None: only where a known model needs it
    span_bytes      EMBED_SPAN_BYTES: UTF-8 bytes of a text that get a vector of their own
    query_prefix    EMBED_QUERY_PREFIX, passage_prefix EMBED_PASSAGE_PREFIX: put before texts, blanks included
    """

    model: str | None = None
    dim: int | None = None
    ask_dim: bool | None = None
    span_bytes: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    openai_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)


def check_options(choice: Embeddings, options: EmbedderOptions) -> None:
    """Raises SettingsError naming a variable that is out of range or has no meaning for the choice."""
    _refuse_ignored(choice, options)
    _check_ranges(options)


def _refuse_ignored(choice: Embeddings, options: EmbedderOptions) -> None:
    ignored: dict[str, object] = {}
    if choice is not Embeddings.OPENAI:
        ignored["EMBED_ASK_DIM"] = options.ask_dim
        ignored["EMBED_QUERY_PREFIX"] = options.query_prefix
        ignored["EMBED_PASSAGE_PREFIX"] = options.passage_prefix
    if choice is Embeddings.NONE:
        ignored["EMBED_MODEL"] = options.model
    if choice in (Embeddings.LOCAL, Embeddings.NONE):
        ignored["EMBED_DIM"] = options.dim
        ignored["EMBED_SPAN_BYTES"] = options.span_bytes
    for name, value in ignored.items():
        if value is not None:
            raise SettingsError(f"{name} has no meaning with EMBEDDINGS={choice}")


def _check_ranges(options: EmbedderOptions) -> None:
    for name, value, least, most in (
        ("EMBED_DIM", options.dim, 1, MOST_DIM),
        ("EMBED_SPAN_BYTES", options.span_bytes, LEAST_SPAN_BYTES, MOST_SPAN_BYTES),
    ):
        if value is not None and not least <= value <= most:
            raise SettingsError(f"{name} must be a whole number from {least} to {most}, not {value}")
    for name, prefix in (
        ("EMBED_QUERY_PREFIX", options.query_prefix),
        ("EMBED_PASSAGE_PREFIX", options.passage_prefix),
    ):
        if len((prefix or "").encode()) > PREFIX_BYTES:
            raise SettingsError(f"{name} is at most {PREFIX_BYTES} bytes")
