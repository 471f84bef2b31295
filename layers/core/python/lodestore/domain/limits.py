"""Every limit of the interface, as one table.

Owns: the numbers and their units. Guarantees: the checks, the error texts and the table in the docs all read these
(P-BOUNDED). Gives up: per-tenant limits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit as documented: `most` of `unit` for `field`; `least` where there is a lower bound."""

    field: str
    most: float
    unit: str
    least: float | None = None
    note: str = ""


CONTENT_BYTES = 32_000
CATEGORY_BYTES = 128
TAGS = 32
TAG_BYTES = 256
SOURCE_BYTES = 256
METADATA_BYTES = 4_096
METADATA_DEPTH = 8
QUERY_CHARACTERS = 2_000
SUPERSEDES = 32
REASON_BYTES = 500
ID_CHARACTERS = 128
BODY_BYTES = 1_048_576
RECALL_LIMIT = 50
LIST_LIMIT = 100
ANSWER_BYTES = 32_000
ANSWER_BYTES_LEAST = 256
ANSWER_BYTES_MOST = 262_144
CONTEXT_TOKENS_LEAST = 50
CONTEXT_TOKENS_MOST = 8_000
TTL_DAYS = 36_500
CONVERSATION_CHARACTERS = 512
RECENT_REVISIONS = 16
# A memory object holds content, metadata and columns several times smaller than this, and up to 64 vectors.
OBJECT_BYTES = 1_048_576
TAIL_LIMIT = 2_000
PARALLEL_READS = 32
# A chain of corrections longer than this is refused where a cycle would have to be looked for.
SUPERSEDE_WALK = 256
# What a record that comes from outside may bring along; our own stays below each.
LINKS = 4_096
VERSION_MOST = 1_000_000_000
IMPORT_LINE_BYTES = 8_388_608
IMPORT_FILE_BYTES = 67_108_864
IMPORT_MARKDOWN_BYTES = 1_048_576
IMPORT_FILES = 10_000
FRONTMATTER_BYTES = 65_536

LIMITS = (
    Limit("content", CONTENT_BYTES, "bytes", 1),
    Limit("category", CATEGORY_BYTES, "bytes"),
    Limit("tags", TAGS, "tags"),
    Limit("tags[]", TAG_BYTES, "bytes"),
    Limit("source", SOURCE_BYTES, "bytes"),
    Limit("metadata", METADATA_BYTES, "bytes", note=f"as compact JSON, at most {METADATA_DEPTH} deep"),
    Limit("query", QUERY_CHARACTERS, "characters", 1),
    Limit("supersedes", SUPERSEDES, "ids"),
    Limit("reason", REASON_BYTES, "bytes"),
    Limit("note", REASON_BYTES, "bytes"),
    Limit("id", ID_CHARACTERS, "characters", 1),
    Limit("idempotency_key", ID_CHARACTERS, "characters", 1),
    Limit("importance", 1, "", 0),
    Limit("min_score", 1, "", 0),
    Limit("limit (recall)", RECALL_LIMIT, "hits", 1),
    Limit("limit (list_memories)", LIST_LIMIT, "memories", 1),
    Limit("limit (list_proposals)", LIST_LIMIT, "proposals", 1),
    Limit("max_bytes", ANSWER_BYTES_MOST, "bytes", ANSWER_BYTES_LEAST),
    Limit("max_tokens", CONTEXT_TOKENS_MOST, "tokens", CONTEXT_TOKENS_LEAST),
    Limit("ttl_days", TTL_DAYS, "days", note="more than 0; fractions allowed"),
    Limit(
        "X-Conversation-Id", CONVERSATION_CHARACTERS, "characters", note="printable ASCII, no space, no comma"
    ),
    Limit("request body", BODY_BYTES, "bytes"),
)
MOVING_LIMITS = (
    Limit("import: one line of JSON Lines", IMPORT_LINE_BYTES, "bytes"),
    Limit("import: one JSON file", IMPORT_FILE_BYTES, "bytes"),
    Limit("import: one Markdown file", IMPORT_MARKDOWN_BYTES, "bytes"),
    Limit("import: files of a folder", IMPORT_FILES, "files"),
    Limit("import: frontmatter of a file", FRONTMATTER_BYTES, "bytes"),
    Limit("import: supersedes, superseded_by, consolidated_from", LINKS, "ids"),
)


def limits_shown() -> dict[str, float]:
    """The limits as `memory_stats` shows them: field to upper bound."""
    return {limit.field: limit.most for limit in LIMITS}


def limits_table() -> str:
    """The limits as the Markdown of docs/limits.md."""
    rows = [
        "# Limits",
        "",
        "Made from the code by `.venv/bin/lodestore limits`; a test compares the two.",
        "",
        "| field | from | to | unit |",
        "| --- | --- | --- | --- |",
    ]
    for limit in (*LIMITS, *MOVING_LIMITS):
        least = "" if limit.least is None else f"{limit.least:,g}"
        unit = ", ".join(filter(None, [limit.unit, limit.note]))
        rows.append(f"| {limit.field} | {least} | {limit.most:,.10g} | {unit} |")
    return "\n".join(rows) + "\n"
