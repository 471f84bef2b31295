"""The promises that Lodestore makes, each by its id.

Owns: the ids and one line for each; docs/architecture.md has them in full.
Guarantees: every one is proven by at least one test marked with its id, and no test is marked with another
(`tests/structure/test_promises.py`).
Gives up: what a promise needs; services and adapters keep them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

PROMISES: Mapping[str, str] = MappingProxyType(
    {
        "P-DURABLE": "A write that answered success is in the state bucket.",
        "P-READ-YOUR-WRITES": "What a write answered, every read from any process sees at once.",
        "P-TRUTH": "Memory objects and stubs are the only truth; all else can be deleted and rebuilt.",
        "P-FORGOTTEN": "A forgotten memory never comes back, and its content is purged within FORGET_WINDOW.",
        "P-TENANT": "Nothing of a tenant, or of another conversation's scoped notes, shows to another.",
        "P-IDEMPOTENT": "Any event may be late, doubled, unordered or lost, and any request be retried.",
        "P-NO-LOST-UPDATE": "Of any number of writers at once, no write and no flushed count is lost.",
        "P-FLAT-WRITES": "The cost of one write does not grow with the number of memories.",
        "P-BOUNDED": "Every input, output, read and loop has a stated limit, checked before a write.",
        "P-SILENT-NEVER": "What is ignored, skipped, truncated or degraded is an error or is said.",
        "P-UNTRUSTED": "Memory text reaches a model only as data marked untrusted, and never a log.",
        "P-NO-LLM-ON-WRITE": "No language model is on the path of a write or a recall.",
        "P-REVERSIBLE-SLEEP": "Unattended maintenance can be undone, and never destroys a distinct value.",
    }
)
