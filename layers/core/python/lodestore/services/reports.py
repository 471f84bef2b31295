"""Reports of sleeps: stored, read, and the oldest removed.

Owns: `reports/`. Guarantees: a report that could not be stored is counted and fails nothing; at most 100 of a tenant
stay. Gives up: reports older than those.
"""

from __future__ import annotations

from typing import Any

from lodestore.domain.sleep_report import SleepReport
from lodestore.format import keys
from lodestore.format.reports import InvalidReport, decode_report, encode_report
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge, StoreUnavailable, Won

KEPT = 100
REPORT_BYTES = 4 * 1_048_576


class Reports:
    """The reports of all tenants."""

    def __init__(self, index: ObjectStore, meter: Meter) -> None:
        self._index = index
        self._meter = meter

    def store(self, report: SleepReport) -> bool:
        """Store it, and remove the oldest where there are more than 100; whether it is stored. Never raises."""
        try:
            stored = isinstance(
                self._index.create(keys.report(report.tenant, report.id), encode_report(report)), Won
            )
            for name in self._names(report.tenant)[:-KEPT]:
                self._index.delete(keys.report(report.tenant, name))
        except StoreUnavailable:
            stored = False
        if not stored:
            self._meter.count("report_not_stored")
        return stored

    def latest(self, tenant: str) -> dict[str, Any] | None:
        """The fields of the newest report that can be read; None: there is none. Raises StoreUnavailable."""
        for name in reversed(self._names(tenant)):
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
