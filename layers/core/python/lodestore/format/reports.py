"""Reports of sleeps as JSON, and as Markdown for people.

Owns: the objects under `reports/`. Guarantees: both say the same; a body that is no report raises InvalidReport.
Gives up: reading JSON back into values; what is stored is shown as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lodestore.domain.moments import format_moment
from lodestore.domain.sleep_report import PRICES_OF, SleepReport, StepReport, Traffic

SCHEMA = 1


class InvalidReport(Exception):
    """The bytes are no report of this schema."""


def report_fields(report: SleepReport) -> dict[str, object]:
    """The report as JSON fields. Times are UTC, bytes are of bodies, costs in US dollars."""
    return {
        "schema": SCHEMA,
        "id": report.id,
        "tenant": report.tenant,
        "dry_run": report.dry_run,
        "complete": report.complete,
        "begun_at": format_moment(report.begun_at),
        "ended_at": format_moment(report.ended_at),
        "seconds": round(report.seconds, 3),
        "steps": [_step_fields(step) for step in report.steps],
        **_traffic_fields(report.traffic),
        "prices_of": PRICES_OF.isoformat(),
        "next_due": None if report.next_due is None else format_moment(report.next_due),
        "late_seconds": round(report.late_seconds),
        "incomplete_in_a_row": report.incomplete_in_a_row,
        "missed": report.missed,
        "cut_short_twice": report.cut_short_twice,
    }


def encode_report(report: SleepReport) -> bytes:
    """The report as stored."""
    return json.dumps(report_fields(report), ensure_ascii=False, indent=2).encode()


def decode_report(body: bytes) -> dict[str, Any]:
    """The fields of a stored report. Raises InvalidReport."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidReport("no JSON") from error
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise InvalidReport("schema")
    return fields


def as_markdown(fields: Mapping[str, Any]) -> str:
    """A stored report for people to read. Raises InvalidReport where a field is missing."""
    try:
        return "\n".join(_lines(fields)) + "\n"
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidReport("fields") from error


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Sleep of {fields['tenant']}, {fields['begun_at']}{' (dry run)' if fields['dry_run'] else ''}"
    yield ""
    requests = sum(fields["requests"].values())
    yield (
        f"{'Complete' if fields['complete'] else 'Not complete'}, {fields['seconds']} s, {requests:,} requests, "
        f"{fields['bytes_read']:,} bytes read, {fields['bytes_written']:,} written, {fields['cost_usd']:.6f} USD. "
        f"Next due: {fields['next_due'] or 'nothing'}."
    )
    yield from _warnings(fields)
    yield ""
    yield "| step | status | what moved | requests | kB read | kB written | seconds |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for step in fields["steps"]:
        moved = ", ".join(f"{name} {count:,}" for name, count in step["counts"].items() if count) or "nothing"
        why = f": {step['why']}" if step["why"] else ""
        sent = sum(step["requests"].values())
        read, written = (f"{step[name] / 1000:,.1f}" for name in ("bytes_read", "bytes_written"))
        yield (
            f"| {step['step']} | {step['status']}{why} | {moved} | {sent:,} | {read} | {written} |"
            f" {step['seconds']} |"
        )
    for step in fields["steps"]:
        if step["actions"]:
            yield from ("", f"## {step['step']}", "")
            yield from (f"- {action['what']} `{action['id']}`: {action['why']}" for action in step["actions"])
            if step["actions_left"]:
                yield f"- and {step['actions_left']:,} more"


def _warnings(fields: Mapping[str, Any]) -> Iterator[str]:
    # A report of before has none of these.
    if fields.get("missed"):
        yield f"A sleep was missed: this one began {fields['late_seconds']:,} s after it was due."
    if fields.get("cut_short_twice"):
        yield f"{fields['incomplete_in_a_row']} sleeps in a row were not complete."


def _step_fields(step: StepReport) -> dict[str, object]:
    return {
        "step": step.step,
        "status": step.status,
        "why": step.why,
        "counts": dict(step.counts),
        "actions": [{"what": action.what, "id": action.id, "why": action.why} for action in step.actions],
        "actions_left": step.actions_left,
        "seconds": round(step.seconds, 3),
        **_traffic_fields(step.traffic),
    }


def _traffic_fields(traffic: Traffic) -> dict[str, object]:
    return {
        "requests": dict(traffic.requests),
        "bytes_read": traffic.bytes_read,
        "bytes_written": traffic.bytes_written,
        "cost_usd": round(traffic.cost_usd, 9),
    }
