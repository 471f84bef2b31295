"""Reports of sleeps: stored, read, and the oldest removed.

Owns: `reports/`. Guarantees: a report that could not be stored is counted and fails nothing; at most 100 of a tenant
stay. Gives up: reports older than those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lodestore.domain.moments import parse_moment
from lodestore.domain.sleep_report import SleepReport
from lodestore.format import keys
from lodestore.format.reports import InvalidReport, decode_report, encode_report
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Won

KEPT = 100
REPORT_BYTES = 4 * 1_048_576


@dataclass(frozen=True, slots=True)
class Before:
    """What the newest stored report says that the next one goes on from, and how many old ones were removed."""

    next_due: datetime | None = None
    incomplete_in_a_row: int = 0
    removed: int = 0


class Reports:
    """The reports of all tenants."""

    def __init__(self, index: ObjectStore, meter: Meter) -> None:
        self._index = index
        self._meter = meter

    def make_room(self, tenant: str) -> Before:
        """Remove the oldest, so that with one more there are at most 100, and read the newest. Never raises."""
        try:
            names = self._names(tenant)
            old = names[: max(0, len(names) - (KEPT - 1))]
            for name in old:
                self._index.delete(keys.report(tenant, name))
            fields = self._newest(tenant, names) or {}
        except StoreUnavailable:
            self._meter.count("report_before_not_read")
            return Before()
        return replace(_before(fields), removed=len(old))

    def store(self, report: SleepReport) -> bool:
        """Store it; whether it is stored. Never raises."""
        try:
            key = keys.report(report.tenant, report.id)
            stored = isinstance(self._index.create(key, encode_report(report)), Won)
        except StoreUnavailable:
            stored = False
        if not stored:
            self._meter.count("report_not_stored")
        return stored

    def latest(self, tenant: str) -> dict[str, Any] | None:
        """The fields of the newest report that can be read; None: there is none. Raises StoreUnavailable."""
        return self._newest(tenant, self._names(tenant))

    def _newest(self, tenant: str, names: Sequence[str]) -> dict[str, Any] | None:
        for name in reversed(names):
            try:
                found = self._index.get(keys.report(tenant, name), max_bytes=REPORT_BYTES)
                if isinstance(found, Found):
                    return decode_report(found.body)
            except (InvalidReport, ObjectTooLarge):
                self._meter.count("report_quarantined")
        return None

    def _names(self, tenant: str) -> list[str]:
        return [
            name
            for page in self._index.list(keys.reports_of(tenant))
            for entry in page.entries
            if (name := keys.parse_report(entry.key)) is not None
        ]


def _before(fields: Mapping[str, Any]) -> Before:
    """A report of before these fields were in it, and one that a hand edited, says nothing of what was before."""
    due, incomplete = fields.get("next_due"), fields.get("incomplete_in_a_row")
    try:
        moment = parse_moment(due) if isinstance(due, str) else None
    except ValueError:
        moment = None
    return Before(moment, incomplete if isinstance(incomplete, int) and incomplete > 0 else 0)
