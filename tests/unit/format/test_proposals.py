"""Proposals and undo records as JSON: golden, and nothing else is taken for one."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lodestore.domain.memory import Member
from lodestore.domain.proposal import Proposal, ProposalKind, ProposalStatus
from lodestore.domain.undo_record import UndoKind, UndoRecord
from lodestore.format.proposals import InvalidProposal, decode_proposal, encode_proposal
from lodestore.format.undo_records import InvalidUndo, decode_undo, encode_undo

GOLDEN = Path(__file__).with_name("golden")
NOW = datetime(2026, 3, 9, 1, 30, tzinfo=UTC)
MEMBERS = (
    Member("m1", "01JNX2A5X0AAAAAAAAAAAAAAAA", "0" * 64),
    Member("m2", "01JNX2A5X0BBBBBBBBBBBBBBBB", "f" * 64),
)
PROPOSAL = Proposal(
    id="p0",
    tenant="acme",
    kind=ProposalKind.SUPERSEDE,
    status=ProposalStatus.DECLINED,
    members=MEMBERS,
    conversation="chat-1",
    keeps="m2",
    evidence={"rule": "same attribute", "shared words": 4, "similarity": 0.5, "same conversation": True},
    created_at=NOW,
    decided_at=NOW,
    decided_by="admin",
    note="Über 年",
    reason=None,
    done=False,
)
UNDO = UndoRecord(
    id="p0",
    tenant="acme",
    kind=UndoKind.SUPERSEDE,
    by="p0",
    conversation=None,
    result="m2",
    originals=MEMBERS[:1],
    made_at=NOW,
    undone_at=NOW,
    undone_by="admin",
)


def test_a_text_is_kept_to_the_letter_and_goes_with_the_other_words() -> None:
    text = 'Jörg said "no".\n二号'
    merge = replace(PROPOSAL, kind=ProposalKind.MERGE, keeps=None, text=text)
    assert decode_proposal(encode_proposal(merge), merge.tenant, merge.id) == merge
    assert merge.has_words
    assert merge.without_words().text is None


def test_golden_proposals_and_undo_records_are_written_and_read_as_they_always_were() -> None:
    proposal, undo = (GOLDEN / "proposal-schema-1.json"), (GOLDEN / "undo-schema-1.json")
    assert encode_proposal(PROPOSAL) == proposal.read_bytes()
    assert decode_proposal(proposal.read_bytes(), "acme", "p0") == PROPOSAL
    assert encode_undo(UNDO) == undo.read_bytes()
    assert decode_undo(undo.read_bytes(), "acme", "p0") == UNDO


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema", 2),
        ("tenant", "acme-corp"),
        ("id", "p1"),
        ("kind", "erase"),
        ("status", "done"),
        ("members", [{"id": "../x", "revision": MEMBERS[0].revision, "digest": ""}]),
        ("members", [{"id": "m1", "revision": "now", "digest": ""}]),
        ("members", "m1"),
        ("evidence", {"list": [1]}),
        ("evidence", {str(number): 1 for number in range(17)}),
        ("evidence", {"word": "x" * 201}),
        ("created_at", "yesterday"),
        ("note", 4),
        ("done", 1),
    ],
)
def test_what_is_malformed_is_no_proposal(field: str, value: object) -> None:
    fields = json.loads(encode_proposal(PROPOSAL)) | {field: value}
    with pytest.raises(InvalidProposal):
        decode_proposal(json.dumps(fields).encode(), "acme", "p0")


@pytest.mark.parametrize(
    ("field", "value"), [("schema", 2), ("tenant", "x"), ("id", "x"), ("kind", "x"), ("originals", None)]
)
def test_what_is_malformed_is_no_undo_record(field: str, value: object) -> None:
    fields = json.loads(encode_undo(UNDO)) | {field: value}
    with pytest.raises(InvalidUndo):
        decode_undo(json.dumps(fields).encode(), "acme", "p0")


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff", b"[" * 100_000, b"{}"])
def test_other_bytes_are_neither(body: bytes) -> None:
    with pytest.raises(InvalidProposal):
        decode_proposal(body, "acme", "p0")
    with pytest.raises(InvalidUndo):
        decode_undo(body, "acme", "p0")
