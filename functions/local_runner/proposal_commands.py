"""The commands of an admin's decisions: proposals, decide, undo.

Owns: their arguments and what they print. Guarantees: they are the admin tools of the same names, called with the
tenant and, where set, the CONVERSATION of the variables; standard output holds the answer as JSON alone.
Gives up: several tenants at once.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from local_runner.upkeep_commands import Refused, Variables, built, tenant_of
from lodestore.domain.caller import Caller, Role
from lodestore.settings import DEFAULT_TENANT

if TYPE_CHECKING:
    from collections.abc import Mapping

_DECISIONS = {"1": True, "0": False}


def add_to(commands: Any) -> None:
    """Add the commands to the parser's."""
    listing = commands.add_parser(
        "proposals", help="list what maintenance proposes and does not do by itself"
    )
    listing.add_argument(
        "--status", help="pending | accepted | declined | lapsed | all (default: STATUS, or pending)"
    )
    listing.add_argument("--cursor", help="next_cursor of the page before (default: CURSOR)")
    listing.set_defaults(run=_proposals)

    decide = commands.add_parser(
        "decide", help="accept a proposal, which is then done, or decline it for good"
    )
    decide.add_argument("id", nargs="?", help="the proposal's id (default: ID)")
    accept = decide.add_mutually_exclusive_group()
    accept.add_argument("--accept", action="store_const", const="1", dest="accept", help="(or ACCEPT=1)")
    accept.add_argument("--decline", action="store_const", const="0", dest="accept", help="(or ACCEPT=0)")
    decide.add_argument("--note", help="why (default: NOTE)")
    decide.set_defaults(run=_decide)

    undo = commands.add_parser("undo", help="take back what consolidation or an accepted proposal did")
    undo.add_argument("id", nargs="?", help="the merged memory's or the proposal's id (default: ID)")
    undo.set_defaults(run=_undo)


def _proposals(chosen: argparse.Namespace, variables: Variables) -> None:
    given = {
        "status": chosen.status or variables.get("STATUS", ""),
        "cursor": chosen.cursor or variables.get("CURSOR", ""),
    }
    _call("list_proposals", given, variables)


def _decide(chosen: argparse.Namespace, variables: Variables) -> None:
    accept = chosen.accept or variables.get("ACCEPT", "")
    if accept not in _DECISIONS:
        raise Refused(
            f"accept or decline? make decide ID=... ACCEPT=1 or ACCEPT=0, not {accept!r} (--accept | --decline)"
        )
    note = chosen.note or variables.get("NOTE", "")
    given = {"id": _id(chosen, variables, "decide"), "accept": _DECISIONS[accept], "note": note}
    _call("decide_proposal", given, variables)


def _undo(chosen: argparse.Namespace, variables: Variables) -> None:
    _call("undo", {"id": _id(chosen, variables, "undo")}, variables)


def _id(chosen: argparse.Namespace, variables: Variables, command: str) -> str:
    found: str = chosen.id or variables.get("ID", "")
    if not found:
        raise Refused(f"which one? make {command} ID=...")
    return found


def _call(tool: str, given: Mapping[str, object], variables: Variables) -> None:
    caller = Caller(
        tenant_of(None, variables, tool, unset=DEFAULT_TENANT),
        variables.get("CONVERSATION") or None,
        Role.ADMIN,
    )
    lodestore = built(variables)
    print(json.dumps(lodestore.toolbox.call(caller, tool, given), ensure_ascii=False, indent=2))
