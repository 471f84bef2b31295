"""The commands that move memories: export, import.

Owns: their arguments and what they print. Guarantees: an export's lines alone on standard output or in a file that is
there whole or not at all; everything that is refused or unreadable is said, counted, and makes the exit code 1.
Gives up: several tenants at once.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from local_runner.moving.sources import Format, NoSource, entries_of, find_source
from local_runner.upkeep_commands import Refused, built, switch, tenant_of
from lodestore.domain.arrival import OnConflict, Verdict
from lodestore.settings import DEFAULT_TENANT

if TYPE_CHECKING:
    from lodestore.services.import_runs import Outcome

Variables = Mapping[str, str]
_PROGRESS = 1_000
_PREVIEW_BYTES = 120
_VECTORS = "embedding"


def add_to(commands: Any) -> None:
    """Add the commands to the parser's."""
    export = commands.add_parser("export", help="write a tenant's memories as JSON Lines, or as Markdown")
    export.add_argument("tenant", nargs="?", help="the tenant (default: TENANT)")
    export.add_argument("--format", help="jsonl | markdown (default: FORMAT, or jsonl)")
    export.add_argument("--versions", action="store_true", help="earlier versions too (or VERSIONS=1)")
    export.add_argument(
        "--tombstones", action="store_true", help="what is left of the forgotten too (or TOMBSTONES=1)"
    )
    export.add_argument("--to", help="a file (default: TO, or standard output)")
    export.add_argument("--dry-run", action="store_true", help="read and count, write nothing (or DRY_RUN=1)")
    export.set_defaults(run=_export)

    take = commands.add_parser("import", help="store memories from an export, or from another memory's files")
    take.add_argument("source", nargs="?", metavar="FROM", help="a file or folder, - for standard input")
    take.add_argument("--tenant", help="the tenant (default: TENANT)")
    take.add_argument("--format", help=f"{' | '.join(Format)} (default: FORMAT, or told from the file)")
    take.add_argument("--on-conflict", help="skip | overwrite (default: ON_CONFLICT, or skip)")
    take.add_argument(
        "--resurrect", action="store_true", help="bring back what was forgotten here (or RESURRECT=1)"
    )
    take.add_argument(
        "--dry-run", action="store_true", help="list what would be stored, store nothing (or DRY_RUN=1)"
    )
    take.set_defaults(run=_import)


def _export(chosen: argparse.Namespace, variables: Variables) -> None:
    from lodestore.format.memory_markdown import markdown_of
    from lodestore.format.transfer_lines import encode_line
    from lodestore.services.exporting import Unreadable

    tenant = tenant_of(chosen.tenant, variables, "export", unset=DEFAULT_TENANT)
    shape = _one_of("FORMAT", chosen.format or variables.get("FORMAT", "") or "jsonl", ("jsonl", "markdown"))
    versions = chosen.versions or switch("VERSIONS", variables)
    tombstones = chosen.tombstones or switch("TOMBSTONES", variables)
    dry_run = chosen.dry_run or switch("DRY_RUN", variables)
    counts: Counter[str] = Counter()
    exporting = built(variables).moving.exporting
    with _opened("" if dry_run else chosen.to or variables.get("TO", "")) as out:
        if shape == "markdown" and not dry_run:
            out.write(f"# Memories of {tenant}\n\n".encode())
        for line in exporting.run(tenant, versions=versions, tombstones=tombstones):
            if isinstance(line, Unreadable):
                counts["unreadable"] += 1
                _say(f"{line.key}: {line.why}")
                continue
            counts["forgotten" if hasattr(line.record, "forgotten_at") else "memories"] += 1
            counts["versions"] += len(line.versions)
            if not dry_run:
                out.write(markdown_of(line).encode() if shape == "markdown" else encode_line(line))
            if sum(counts.values()) % _PROGRESS == 0:
                _say(f"{counts['memories']:,} memories")
    _say(_told(counts, ("memories", "forgotten", "versions", "unreadable"), least=1))
    if counts["unreadable"]:
        raise Refused(f"{counts['unreadable']} objects are no memories and are not in the export")


def _import(chosen: argparse.Namespace, variables: Variables) -> None:
    from lodestore.services.importing import ImportOptions

    tenant = tenant_of(chosen.tenant, variables, "import", unset=DEFAULT_TENANT)
    place = chosen.source or variables.get("FROM", "")
    if not place:
        raise Refused("what to import? make import FROM=file TENANT=acme")
    named = chosen.format or variables.get("FORMAT", "")
    conflict = chosen.on_conflict or variables.get("ON_CONFLICT", "") or OnConflict.SKIP
    options = ImportOptions(
        OnConflict(_one_of("ON_CONFLICT", conflict, tuple(OnConflict))),
        chosen.resurrect or switch("RESURRECT", variables),
        chosen.dry_run or switch("DRY_RUN", variables),
    )
    counts: Counter[str] = Counter()
    try:
        source = find_source(place, Format(_one_of("FORMAT", named, tuple(Format))) if named else None)
        imports = built(variables).moving.imports
        for outcome in imports.run(tenant, entries_of(source, tenant, _say), options):
            counts["entries"] += 1
            _count(outcome, counts, listing=options.dry_run)
            if counts["entries"] % _PROGRESS == 0:
                _say(f"{counts['entries']:,} entries")
    except NoSource as why:
        raise Refused(str(why)) from None
    except OSError as error:
        raise Refused(f"FROM can't be read: {error.strerror}") from None
    told = {name: counts[name] for name in ("entries", *Verdict, "refused", "changed", "vectors_left_out")}
    print(json.dumps({"tenant": tenant, "format": source.format, "dry_run": options.dry_run, **told}))
    if counts["refused"]:
        raise Refused(
            f"{counts['refused']} of {counts['entries']} entries were refused; the others are as counted"
        )


def _count(outcome: Outcome, counts: Counter[str], *, listing: bool) -> None:
    taken, place = outcome.taken, outcome.entry.place
    if taken is None:
        counts["refused"] += 1
        _say(f"{place}: {outcome.error}")
        return
    counts[taken.verdict] += 1
    counts["vectors_left_out"] += _VECTORS in taken.changed
    if changed := [name for name in taken.changed if name != _VECTORS]:
        counts["changed"] += 1
        _say(f"{place}: {', '.join(changed)} cleaned or redacted")
    if listing:
        print(
            json.dumps({"place": place, "id": taken.memory_id, "verdict": taken.verdict, **_preview(outcome)})
        )


def _preview(outcome: Outcome) -> dict[str, str]:
    from lodestore.domain.secrets import redact
    from lodestore.domain.text import shorten

    item = outcome.entry.item
    content = item.get("content") if isinstance(item, Mapping) else None
    if not isinstance(content, str):
        return {}
    # Whatever SECRETS says of what is stored: a terminal and a log are no place for a credential.
    return {"content": shorten(redact(content)[0], _PREVIEW_BYTES)[0]}


@contextmanager
def _opened(place: str) -> Iterator[BinaryIO]:
    """Standard output, or a file that takes its name when all is written; for its owner's eyes only."""
    if not place:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(place)
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as out:
            part.chmod(0o600)
            yield out
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    except OSError as error:
        raise Refused(f"TO can't be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise Refused(f"{name} must be one of {' | '.join(allowed)}, not {value!r}")
    return value


def _told(counts: Counter[str], names: tuple[str, ...], *, least: int) -> str:
    shown = [name for at, name in enumerate(names) if at < least or counts[name]]
    return ", ".join(f"{counts[name]:,} {name}" for name in shown)


def _say(line: str) -> None:
    print(f"lodestore: {line}", file=sys.stderr, flush=True)
