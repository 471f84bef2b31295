"""README.md's table and docs/cost.md, as text.

Owns: the words around the tables. Guarantees: the README is changed between its two marks and nowhere else.
Gives up: keeping what a hand wrote between them.
"""

from __future__ import annotations

from benchmarks.cost import tables
from benchmarks.cost.bill import SETTINGS, Terms
from benchmarks.cost.calls import CALLS, MEMORIES

BEGIN, END = "<!-- make cost -->\n", "<!-- /make cost -->\n"


def readme(before: str, terms: Terms) -> str:
    """The README with the table of now. Raises ValueError where a mark is missing or there twice."""
    if before.count(BEGIN) != 1 or before.count(END) != 1:
        raise ValueError(f"README.md needs {BEGIN.strip()} and {END.strip()}, once each")
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    table = tables.comparison(terms).markdown().partition("\n\n")[2]
    return f"{head}{BEGIN}{table}\n{END}{tail}"


def document(terms: Terms) -> str:
    """docs/cost.md."""
    found = terms.found
    parts = [
        "# What it costs",
        "Written by `python -m benchmarks.cost --write`, and held to it by a test. `make cost` prints the same and the"
        " processor time on your machine. Requests and bytes are measured: the real handlers run over counted stores.",
        f"Reckoned for {SETTINGS.architecture}, {SETTINGS.memory_mb} MB, a schedule of {SETTINGS.maintenance_minutes}"
        ' minutes, `embeddings = "local"`, at list prices, and less what every account has free each month.'
        " What can't be known is taken at its dearer end: no two writes share a run of the indexer, every request but"
        " those of a recall waits for the one before, a tenant sleeps after every hour in which something of it was"
        " written.",
        tables.comparison(terms).markdown(),
        "AgentCore Memory for the same work: each write an event, each memory a long-term record, each recall a"
        " retrieval. Its built-in strategies have a model read every event, which Lodestore does not do;"
        " self-managed ones leave extraction, its models and its compute to their owner, as Lodestore does.",
        tables.works().markdown(),
        tables.bills(terms).markdown(),
        "At rest what is paid is Lambda asking both queues, the schedule with its metrics, and storage. Alarms (0.10"
        " each), a dashboard (3.00) and a KMS key (1.00) are paid where an environment turns them on.",
        tables.calls(terms).markdown(),
        f"In a tenant of {MEMORIES:,} memories, {CALLS} calls more than a minute apart, so that each reads its key and"
        " flushes its use counts anew. Requests and bytes of a write do not grow with the tenant (P-FLAT-WRITES); those"
        " of a recall by one page of the listing for each 1,000 pending. A memory keeps"
        f" {found.object_bytes:,.0f} bytes as an object and {found.index_bytes:,.0f} in the index, its vector included."
        f" All these calls sent {found.metrics} custom metrics, the schedule alone {found.metrics_at_rest}.",
        tables.engine(terms).markdown(),
        "A query is charged for every vector of its index; so a tenant has an index of its own, and puts go in"
        " batches.",
        tables.assumed(terms).markdown(),
        tables.sources(terms.prices).markdown(),
    ]
    return "\n\n".join(parts) + "\n"
