"""How much one tenant may ask of one process: a token bucket each.

Owns: the buckets. Guarantees: within any time of t seconds a tenant is let through at most burst + rate x t times by
this process, and no tenant's requests take another's; no storage request; a bounded number of buckets.
Gives up: a limit over all processes. Reserved concurrency bounds those.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from lodestore.ports.clock import Clock

BUCKETS_MOST = 10_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Throttle:
    """Thread-safe. `rate` None: everything is let through."""

    def __init__(self, clock: Clock, *, rate: float | None, burst: int) -> None:
        self._clock = clock
        self._rate = rate
        self._burst = float(burst)
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str) -> float:
        """0 where the request may pass; otherwise the seconds after which one may."""
        if self._rate is None:
            return 0.0
        with self._lock:
            now = self._clock.elapsed()
            bucket = self._buckets.pop(name, None) or _Bucket(self._burst, now)
            bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._rate)
            bucket.at = now
            self._buckets[name] = bucket
            # The one that was asked longest ago is the fullest, so that little is lost with it.
            if len(self._buckets) > BUCKETS_MOST:
                self._buckets.popitem(last=False)
            if bucket.left < 1.0:
                return (1.0 - bucket.left) / self._rate
            bucket.left -= 1.0
            return 0.0
