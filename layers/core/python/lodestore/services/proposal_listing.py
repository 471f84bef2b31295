"""Listing proposals: what waits for a decision, what was decided, what lapsed.

Owns: the tool `list_proposals`. Guarantees: a proposal is shown as pending only where every member still says what
was read; nothing is written; of memories only what the caller may see (P-TENANT), as data under the notice
(P-UNTRUSTED); a cursor of another list is refused. Gives up: long contents; `get_memory` has them in full.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lodestore.domain import limits
from lodestore.domain.caller import Caller
from lodestore.domain.identity import digest
from lodestore.domain.member import standing_of
from lodestore.domain.memory import Member, Memory
from lodestore.domain.proposal import Proposal
from lodestore.domain.text import shorten
from lodestore.errors import InvalidArgument, Unavailable
from lodestore.ports.object_store import StoreUnavailable
from lodestore.services.arguments import Arguments
from lodestore.services.proposals import Proposals, Stored
from lodestore.services.shown import NOTICE, json_bytes, show_moment
from lodestore.services.truth import Read, Truth

ARGUMENTS = ("status", "limit", "cursor")
DEFAULT_LIMIT = 20
PREVIEW_BYTES = 400
_CURSOR_BYTES = 1_024

Position = tuple[str, str]


class Wanted(StrEnum):
    """Which proposals are listed."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    LAPSED = "lapsed"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class _Asked:
    wanted: Wanted
    limit: int
    after: Position | None
    binding: str


class ListProposals:
    """The tool `list_proposals`."""

    def __init__(self, proposals: Proposals, truth: Truth) -> None:
        self._proposals = proposals
        self._truth = truth

    def __call__(self, caller: Caller, given: Mapping[str, object]) -> dict[str, object]:
        """{untrusted, notice, proposals, total, next_cursor?}, newest first. Raises InvalidArgument, Unavailable."""
        asked = _read(Arguments("list_proposals", given, ARGUMENTS), caller)
        try:
            every = self._wanted(caller, asked)
            left = [one for one in every if asked.after is None or _position(one) < asked.after]
            page = left[: asked.limit]
            # Only looked at: the purge is what writes that one lapsed.
            lapsed = {
                one.id: one for one in self._proposals.settle_these(caller.tenant, page, dry_run=True).lapsed
            }
            end = page[-1] if len(left) > len(page) else None
            shown = [lapsed.get(one.proposal.id, one.proposal) for one in page]
            if asked.wanted is Wanted.PENDING:
                shown = [one for one in shown if one.id not in lapsed]
            total = len(every) - (len(page) - len(shown))
            return self._answer(caller, shown, asked, total=total, end=end)
        except StoreUnavailable:
            raise Unavailable("The store did not answer a read.") from None

    def _wanted(self, caller: Caller, asked: _Asked) -> list[Stored]:
        found = [
            one
            for one in self._proposals.all(caller.tenant).values()
            if shows(one.proposal, caller) and asked.wanted in (Wanted.ALL, one.proposal.status.value)
        ]
        return sorted(found, key=_position, reverse=True)

    def _answer(
        self, caller: Caller, shown: Sequence[Proposal], asked: _Asked, *, total: int, end: Stored | None
    ) -> dict[str, object]:
        """The answer. `end` is the last one of the page where more follow."""
        ids = sorted({member_id for one in shown for member_id in one.member_ids})
        truth = self._truth.read_many(caller.tenant, ids)
        rows: list[dict[str, object]] = []
        answer: dict[str, object] = {"untrusted": True, "notice": NOTICE, "proposals": rows, "total": total}
        room = limits.ANSWER_BYTES - json_bytes(answer | {"next_cursor": "x" * 2 * limits.ID_CHARACTERS})
        for one in shown:
            row = show_proposal(one, truth, caller)
            room -= json_bytes(row) + 1
            if rows and room < 0:
                break
            rows.append(row)
        if len(rows) < len(shown):
            answer["next_cursor"] = _encode_cursor(_position_of(shown[len(rows) - 1]), asked.binding)
        elif end is not None:
            answer["next_cursor"] = _encode_cursor(_position(end), asked.binding)
        return answer


def shows(proposal: Proposal, caller: Caller) -> bool:
    """Whether the caller may see it: the project's, or one of the caller's own conversation."""
    return proposal.conversation in (None, caller.conversation)


def show_proposal(proposal: Proposal, truth: Mapping[str, Read], caller: Caller) -> dict[str, object]:
    """The fields of one proposal, with its members as they are now."""
    return {
        "id": proposal.id,
        "kind": str(proposal.kind),
        "status": str(proposal.status),
        "keeps": proposal.keeps,
        "text": proposal.text,
        "members": [_show_member(member, truth, caller) for member in proposal.members],
        "evidence": dict(proposal.evidence),
        "created_at": show_moment(proposal.created_at),
        "decided_at": show_moment(proposal.decided_at),
        "decided_by": proposal.decided_by,
        "note": proposal.note,
        "reason": proposal.reason,
        "done": proposal.done,
    }


def _show_member(member: Member, truth: Mapping[str, Read], caller: Caller) -> dict[str, object]:
    record = truth[member.id].record
    seen = isinstance(record, Memory) and record.visible_to(caller)
    standing = standing_of(member, record if seen else None)
    shown: dict[str, object] = {"id": member.id, "standing": str(standing)}
    if not isinstance(record, Memory) or not seen:
        return shown
    content, truncated = shorten(record.content, PREVIEW_BYTES)
    return shown | {
        "content": content,
        "truncated": truncated,
        "type": str(record.type),
        "pinned": record.pinned,
        "created_at": show_moment(record.created_at),
        "version": record.version,
    }


def _read(arguments: Arguments, caller: Caller) -> _Asked:
    wanted = arguments.choice("status", Wanted) or Wanted.PENDING
    binding = digest("proposals", caller.tenant, json.dumps(caller.conversation), wanted)[:16]
    return _Asked(
        wanted=wanted,
        limit=arguments.whole("limit", least=1, most=limits.LIST_LIMIT) or DEFAULT_LIMIT,
        after=_decode_cursor(arguments.text("cursor", most_bytes=_CURSOR_BYTES), binding),
        binding=binding,
    )


def _position(one: Stored) -> Position:
    return _position_of(one.proposal)


def _position_of(proposal: Proposal) -> Position:
    return (str(show_moment(proposal.created_at)), proposal.id)


def _encode_cursor(position: Position, binding: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([binding, *position], separators=(",", ":")).encode()).decode()


def _decode_cursor(cursor: str | None, binding: str) -> Position | None:
    if cursor is None:
        return None
    try:
        bound, moment, proposal_id = json.loads(base64.b64decode(cursor, b"-_", validate=True))
        if bound != binding:
            raise ValueError("bound to another list")
        return (str(moment), str(proposal_id))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise InvalidArgument(
            "cursor does not belong to this list.",
            field="cursor",
            limit="the next_cursor of the page before, with the same status, tenant and conversation",
            got=f"text of {len(cursor)} characters",
            next_step="Start again without cursor.",
        ) from None
