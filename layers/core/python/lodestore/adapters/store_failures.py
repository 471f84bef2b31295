"""Why a store refused or did not answer, for whoever operates it.

Owns: the logger `lodestore.store`. Guarantees: a full disk, a denied action, a throttled bucket is named in one line
where it happens; the cause only, never a key, a path or content (P-UNTRUSTED). Callers get an error without it.
Gives up: counting; the ledger counts outcomes.
"""

from __future__ import annotations

import logging

_LOGGER = logging.getLogger("lodestore.store")


def logged(cause: str) -> str:
    """The cause, after it was logged as a warning."""
    _LOGGER.warning("The store failed: %s", cause)
    return cause
