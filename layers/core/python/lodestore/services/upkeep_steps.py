"""Names of the steps of maintenance, in the order in which a sleep takes them.

Owns: the names that `maintain`, `make sleep` and reports use. Guarantees: the steps that keep P-FORGOTTEN and the
store small can't be switched off by leaving them out of a schedule; a single run may name fewer.
Gives up: other orders.
"""

from __future__ import annotations

from typing import Final

SWEEP: Final = "sweep"
EXPIRE: Final = "expire"
PRUNE: Final = "prune"
INDEX: Final = "index"
EMBED: Final = "embed"
CONSOLIDATE: Final = "consolidate"
REVIEW: Final = "review"
MERGE: Final = "merge"
COLLECT: Final = "collect_garbage"
PURGE: Final = "purge"
FOLD: Final = "fold_counts"
REPORT: Final = "report"

STEPS: Final = (SWEEP, EXPIRE, PRUNE, INDEX, EMBED, CONSOLIDATE, REVIEW, MERGE, COLLECT, PURGE, FOLD, REPORT)
ON_THE_INDEX: Final = frozenset({INDEX, EMBED, MERGE, COLLECT})
# What a tenant gets whose markers or counts came; a passed note adds what the clock brings, a week everything.
ON_CHANGE: Final = frozenset({INDEX, EMBED, MERGE, COLLECT, FOLD, REPORT})
ON_NOTE: Final = ON_CHANGE | {EXPIRE, PURGE}
EVERYTHING: Final = frozenset(STEPS)
# P-FORGOTTEN and a store that stays small rest on the others.
SWITCHABLE: Final = EVERYTHING - {SWEEP, COLLECT, PURGE}
