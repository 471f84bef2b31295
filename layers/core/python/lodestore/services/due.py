"""Which tenants have something to do at which hour, as empty objects under `due/`.

Owns: `due/<hour>/<tenant>`. Guarantees: a tenant that was noted is shown from the end of that hour on, until it is
said to be done. Bounded; what does not fit is shown the next time.
Gives up: exactness. A note is a hint to look; one that fails is counted, and the weekly look at all tenants serves.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice

from lodestore.format import keys
from lodestore.ports.clock import Clock
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore, StoreUnavailable, Unknown

NOTES_MOST = 10_000
_HOUR = "%Y-%m-%dT%H"


class Due:
    """The notes of all tenants. Thread-safe."""

    def __init__(self, index: ObjectStore, clock: Clock, meter: Meter) -> None:
        self._index = index
        self._clock = clock
        self._meter = meter
        self._noted: set[str] = set()
        self._lock = threading.Lock()

    def note(self, tenant: str, at: datetime) -> None:
        """Something of the tenant falls due in this hour. Never raises; asks the store once for each."""
        key = keys.due(at.strftime(_HOUR), tenant)
        with self._lock:
            if key in self._noted:
                return
        try:
            noted = not isinstance(self._index.create(key, b""), Unknown)
        except StoreUnavailable:
            noted = False
        if not noted:
            self._meter.count("due_not_noted")
            return
        with self._lock:
            if len(self._noted) >= NOTES_MOST:
                self._noted.clear()
            self._noted.add(key)

    def passed(self) -> Mapping[str, tuple[str, ...]]:
        """Tenant to its notes of hours that are over, earliest first. Raises StoreUnavailable."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for key in islice(self._passed_keys(), NOTES_MOST):
            tenant = keys.parse_due(key)
            if tenant is None:
                self._meter.count("foreign_object_skipped")
            else:
                found[tenant].append(key)
        return {tenant: tuple(notes) for tenant, notes in found.items()}

    def done(self, notes: Iterable[str]) -> None:
        """Remove notes. Never raises; one that stays is shown again."""
        for key in notes:
            with self._lock:
                self._noted.discard(key)
            try:
                self._index.delete(key)
            except StoreUnavailable:
                self._meter.count("due_left_behind")

    def _passed_keys(self) -> Iterable[str]:
        now = keys.due(self._clock.now().strftime(_HOUR), "")
        for page in self._index.list(keys.DUE, delimiter="/"):
            for hour in page.prefixes:
                if hour < now:
                    for inner in self._index.list(hour):
                        yield from (entry.key for entry in inner.entries)
