"""The commands of upkeep: sleep, report, erase.

Owns: their arguments and what they print. Guarantees: standard output holds the report or the receipt alone; nothing is
erased without `--yes`, and nothing at all where a name could mean two things. Safe beside a running server.
Gives up: several tenants at once, except a sleep of all of them where TENANT is empty.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from local_runner.sleep_progress import showing
from lodestore.domain.identity import is_memory_id
from lodestore.format.reports import InvalidReport, as_markdown, report_fields
from lodestore.settings import DEFAULT_TENANT, TENANT_PATTERN, is_tenant

if TYPE_CHECKING:
    from lodestore.bootstrap import Lodestore

Variables = Mapping[str, str]
_SWITCH = ("0", "1")


class Refused(Exception):
    """The command can't be carried out; the text says why, in one line."""


def add_to(commands: Any) -> None:
    """Add the commands to the parser's."""
    sleep = commands.add_parser("sleep", help="run maintenance of a tenant now and print its report")
    sleep.add_argument("tenant", nargs="?", help="the tenant (default: TENANT)")
    sleep.add_argument(
        "--dry-run", action="store_true", help="change nothing, list what would be done (or DRY_RUN=1)"
    )
    sleep.add_argument("--steps", help="these steps only, with blanks between (default: STEPS, or all)")
    sleep.set_defaults(run=_sleep)

    report = commands.add_parser("report", help="print the newest stored report of a tenant as Markdown")
    report.add_argument("tenant", nargs="?", help="the tenant (default: TENANT)")
    report.add_argument("--json", action="store_true", help="as JSON (or FORMAT=json)")
    report.set_defaults(run=_report)

    erase = commands.add_parser("erase", help="erase a tenant, or one memory of it, for good")
    erase.add_argument("name", nargs="?", metavar="TENANT|ID", help="what to erase (default: TENANT, or ID)")
    erase.add_argument("--yes", action="store_true", help="really do it")
    erase.add_argument(
        "--verify", action="store_true", help="only look whether all of it is gone (or VERIFY=1)"
    )
    erase.add_argument("--dry-run", action="store_true", help="only count what there is (or DRY_RUN=1)")
    erase.set_defaults(run=_erase)


def _sleep(chosen: argparse.Namespace, variables: Variables) -> None:
    from lodestore.services.maintain import read_steps
    from lodestore.services.upkeep_steps import STEPS

    tenant = tenant_of(chosen.tenant, variables, "sleep", unset=DEFAULT_TENANT)
    steps = read_steps(tuple((chosen.steps or variables.get("STEPS", "")).split()))
    dry_run = chosen.dry_run or switch("DRY_RUN", variables)
    lodestore = built(variables)
    with showing(tenant, [step for step in STEPS if step in steps]) as progress:
        slept = lodestore.sleeping.run(tenant, steps, dry_run=dry_run, progress=progress)
    lodestore.counts.flush()
    print(json.dumps(report_fields(slept.report), ensure_ascii=False, indent=2))
    if not slept.report.complete:
        raise Refused("a step failed or was cut; the report says which, and running it again is safe")


def _report(chosen: argparse.Namespace, variables: Variables) -> None:
    tenant = tenant_of(chosen.tenant, variables, "report", unset=DEFAULT_TENANT)
    shape = variables.get("FORMAT", "") or "markdown"
    if shape not in ("markdown", "json"):
        raise Refused(f"FORMAT must be one of markdown | json, not {shape!r}")
    fields = built(variables).reports.latest(tenant)
    if fields is None:
        raise Refused(f"no report of the tenant {tenant!r} is stored; make sleep TENANT={tenant}")
    try:
        print(json.dumps(fields, indent=2) if chosen.json or shape == "json" else as_markdown(fields), end="")
    except InvalidReport:
        raise Refused("the newest report can't be read") from None


def _erase(chosen: argparse.Namespace, variables: Variables) -> None:
    lodestore = built(variables)
    tenant, memory_id = _what(chosen.name, variables, lodestore)
    verify = chosen.verify or switch("VERIFY", variables)
    dry_run = chosen.dry_run or switch("DRY_RUN", variables)
    if not (verify or dry_run or chosen.yes):
        raise Refused(f"erasing can't be undone; say --yes to erase {memory_id or 'the tenant ' + tenant}")
    if memory_id is not None:
        _erase_memory(lodestore, tenant, memory_id, verify=verify, dry_run=dry_run)
    elif verify:
        found = lodestore.erasing.verify(tenant)
        receipt = None if found.receipt is None else json.loads(found.receipt)
        print(
            json.dumps(
                {"tenant": tenant, "erased": receipt is not None, "left": found.left, "receipt": receipt}
            )
        )
        if found.left or receipt is None:
            said = f"{found.left} objects are there" if found.left else "no receipt is stored"
            raise Refused(f"not verified: {said}")
    elif dry_run:
        print(json.dumps({"tenant": tenant, "dry_run": True, "objects": lodestore.erasing.count(tenant)}))
    else:
        from lodestore.services.erasing import receipt_fields

        erased = lodestore.erasing.run(tenant)
        if not erased.versions:
            # Most often a mistyped name or another DATA.
            print(
                f"lodestore: nothing was stored for the tenant {tenant!r} in this DATA or STORE",
                file=sys.stderr,
            )
        print(json.dumps({"tenant": tenant, **receipt_fields(tenant, erased)}))
        if erased.left:
            raise Refused(f"{erased.left} objects came meanwhile; stop the writers and run it again")


def _erase_memory(lodestore: Lodestore, tenant: str, memory_id: str, *, verify: bool, dry_run: bool) -> None:
    erasing = lodestore.erasing_memory
    if not erasing.is_known(tenant, memory_id):
        # Most often a mistyped id.
        print(f"lodestore: the tenant {tenant!r} has no memory {memory_id!r}, nor its stub", file=sys.stderr)
    outcome = erasing.look(tenant, memory_id) if verify or dry_run else erasing.run(tenant, memory_id)
    print(json.dumps({"tenant": tenant, "id": memory_id, "dry_run": dry_run, **asdict(outcome)}))
    if verify and not outcome.gone:
        raise Refused("not verified: the memory or an old version of it is there")


def _what(name: str | None, variables: Variables, lodestore: Lodestore) -> tuple[str, str | None]:
    """(tenant, None) or (tenant, id)."""
    tenant, memory_id = variables.get("TENANT", ""), variables.get("ID", "") or None
    if name is None:
        return tenant_of(None, variables, "erase"), _checked_id(memory_id)
    if memory_id is not None:
        raise Refused("give either a name or ID, not both")
    if tenant == name or not tenant:
        if not is_tenant(name):
            raise Refused(f"a tenant must match {TENANT_PATTERN}, not {name!r}")
        return name, None
    is_memory = is_memory_id(name) and lodestore.erasing_memory.is_known(tenant, name)
    if is_memory and is_tenant(name) and lodestore.erasing.count(name):
        raise Refused(
            f"{name!r} is a tenant, and a memory of {tenant!r}: say TENANT={name}, or TENANT={tenant} ID={name}"
        )
    return (tenant, name) if is_memory else (tenant_of(name, variables, "erase"), None)


def _checked_id(memory_id: str | None) -> str | None:
    if memory_id is not None and not is_memory_id(memory_id):
        raise Refused(f"ID must match {TENANT_PATTERN}, not {memory_id!r}")
    return memory_id


def built(variables: Variables) -> Lodestore:
    """The services over the store of these variables; TENANT names whom a command is about, not a default."""
    from lodestore.bootstrap import build

    return build({**variables, "TENANT": ""})


def tenant_of(given: str | None, variables: Variables, command: str, *, unset: str = "") -> str:
    """The tenant that a command is about. Raises Refused."""
    tenant = given or variables.get("TENANT", unset)
    if not is_tenant(tenant):
        raise Refused(
            f"which tenant? make {command} TENANT=acme; it must match {TENANT_PATTERN}, not {tenant!r}"
        )
    return tenant


def switch(name: str, variables: Variables) -> bool:
    """Whether a variable is 1. Raises Refused where it is neither 0 nor 1."""
    value = variables.get(name, "") or "0"
    if value not in _SWITCH:
        raise Refused(f"{name} must be one of 0 | 1, not {value!r}")
    return value == "1"
