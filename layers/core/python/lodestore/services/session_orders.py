"""The order of a tenant's rows by sessions, held as long as the index stays as it is.

Owns: what is held. Guarantees: the order of the very view that is asked for; sorted once for each generation of the
index, the tail's rows are put in each time. Thread-safe.
Gives up: views without a manifest, and degraded ones: their order is made anew.
"""

from __future__ import annotations

import threading

from lodestore.domain.manifest import Manifest
from lodestore.retrieval.sessions import SessionOrder, session_order
from lodestore.services.tenant_view import TenantView

# As many tenants as `TenantViews` holds resolved; 40 bytes a row.
_HELD = 8


class SessionOrders:
    """Orders by manifest."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Manifest, SessionOrder]] = {}
        self._lock = threading.Lock()

    def of(self, view: TenantView) -> SessionOrder:
        """The order of all rows of the view, those that do not count included."""
        segments = [part.segment for part in view.parts]
        if not view.tail:
            return self._of_index(view, len(segments))
        start = sum(map(len, segments[:-1]))
        return self._of_index(view, len(segments) - 1).with_rows(segments[-1], start)

    def _of_index(self, view: TenantView, listed: int) -> SessionOrder:
        manifest = view.manifest
        if manifest is not None:
            with self._lock:
                last = self._held.get(id(manifest))
            if last is not None and not view.degraded:
                return last[1]
        order = session_order([part.segment for part in view.parts[:listed]])
        if manifest is not None and not view.degraded:
            with self._lock:
                # Held with its manifest, so that no other object can come to have the same identity.
                self._held[id(manifest)] = (manifest, order)
                while len(self._held) > _HELD:
                    self._held.pop(next(iter(self._held)))
        return order
