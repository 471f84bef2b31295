"""Proposals as JSON that people read too.

Owns: schema 1 of the objects under `proposals/`. Guarantees: what decodes agrees with its key in tenant and id; what is
malformed or of a newer schema raises InvalidProposal, and is never half read. Gives up: repair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lodestore.domain.moments import format_moment, parse_moment
from lodestore.domain.proposal import Evidence, Proposal, ProposalKind, ProposalStatus, checked_evidence
from lodestore.format.members import (
    as_json,
    fields_at,
    member_fields,
    members,
    optional_moment,
    optional_text,
    text,
    written,
)

SCHEMA = 1


class InvalidProposal(Exception):
    """The bytes are no proposal for this key."""


def encode_proposal(proposal: Proposal) -> bytes:
    """The proposal as UTF-8 JSON."""
    fields = {
        "schema": SCHEMA,
        "id": proposal.id,
        "tenant": proposal.tenant,
        "kind": str(proposal.kind),
        "status": str(proposal.status),
        "conversation": proposal.conversation,
        "members": [member_fields(member) for member in proposal.members],
        "keeps": proposal.keeps,
        # Objects of before there were texts have none.
        **({} if proposal.text is None else {"text": proposal.text}),
        "evidence": dict(proposal.evidence),
        "created_at": format_moment(proposal.created_at),
        "decided_at": written(proposal.decided_at),
        "decided_by": proposal.decided_by,
        "note": proposal.note,
        "reason": proposal.reason,
        "done": proposal.done,
    }
    return as_json(fields)


def decode_proposal(body: bytes, tenant: str, proposal_id: str) -> Proposal:
    """The proposal at the key of this tenant and id. Raises InvalidProposal."""
    try:
        return _proposal(fields_at(body, SCHEMA, tenant, proposal_id))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InvalidProposal("proposal") from error


def _proposal(fields: Mapping[str, Any]) -> Proposal:
    done = fields["done"]
    if not isinstance(done, bool):
        raise TypeError("done")
    return Proposal(
        id=text(fields, "id"),
        tenant=text(fields, "tenant"),
        kind=ProposalKind(text(fields, "kind")),
        status=ProposalStatus(text(fields, "status")),
        members=members(fields["members"]),
        conversation=optional_text(fields, "conversation"),
        keeps=optional_text(fields, "keeps"),
        text=optional_text(fields, "text") if "text" in fields else None,
        evidence=_evidence(fields["evidence"]),
        created_at=parse_moment(text(fields, "created_at")),
        decided_at=optional_moment(fields, "decided_at"),
        decided_by=optional_text(fields, "decided_by"),
        note=optional_text(fields, "note"),
        reason=optional_text(fields, "reason"),
        done=done,
    )


def _evidence(value: object) -> Evidence:
    if not isinstance(value, dict) or not all(isinstance(item, str | int | float) for item in value.values()):
        raise TypeError("evidence")
    json.dumps(value, ensure_ascii=False).encode()
    return checked_evidence(value)
