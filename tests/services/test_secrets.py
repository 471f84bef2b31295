"""Secrets do not get into the store by any field."""

from __future__ import annotations

import json

import pytest

from lodestore.format import keys
from tests.services.world import Instance, World

KEY = "AKIA" + "0000EXAMPLE00000"


@pytest.mark.case("B27")
def test_a_pasted_key_is_redacted_in_every_field_before_anything_is_hashed(
    world: World, acme: Instance
) -> None:
    answer = acme.remember(
        f"use key {KEY} for staging",
        tags=["aws", KEY],
        source=f"mail with {KEY}",
        category=f"c {KEY}",
        metadata={"note": KEY, KEY: 1},
    )
    assert answer["redacted"] == ["content", "category", "tags", "source", "metadata"]
    assert KEY not in json.dumps(answer)
    body = world.state.get(keys.memory("acme", str(answer["id"]))).body  # type: ignore[union-attr]
    assert KEY.encode() not in body
    again = acme.remember(f"use key {'AKIA' + '1111EXAMPLE11111'} for staging")
    assert again["id"] == answer["id"]


def test_an_update_is_screened_too(acme: Instance) -> None:
    memory_id = acme.stored("use a key")
    answer = acme.call("update_memory", id=memory_id, content=f"use key {KEY}")
    assert answer["redacted"] == ["content"]
    assert KEY not in json.dumps(acme.call("get_memory", id=memory_id, history=True))


def test_a_note_of_feedback_is_screened_too(world: World, acme: Instance) -> None:
    memory_id = acme.stored("use a key")
    acme.call("memory_feedback", id=memory_id, useful=True, note=f"it was {KEY}")
    found = [
        world.index.get(entry.key)
        for page in world.index.list(keys.deltas_of("acme"))
        for entry in page.entries
    ]
    assert len(found) == 1
    assert b"[redacted:" in found[0].body  # type: ignore[union-attr]
    assert KEY.encode() not in found[0].body  # type: ignore[union-attr]


def test_the_policy_refuse_names_the_field_and_stores_nothing(world: World) -> None:
    strict = world.instance(variables={"SECRETS": "refuse"})
    for arguments, field in (
        ({"content": f"key {KEY}"}, "content"),
        ({"content": "x", "tags": [KEY]}, "tags"),
        ({"content": "x", "metadata": {"k": KEY}}, "metadata"),
    ):
        error = strict.error("remember", **arguments)
        assert (error["error"], error["field"], error["written"]) == ("invalid_argument", field, False)
        assert KEY not in json.dumps(error)
    assert world.state.count() == 0


def test_the_policy_allow_stores_what_was_given(world: World) -> None:
    lax = world.instance(variables={"SECRETS": "allow"})
    assert lax.remember(f"key {KEY}")["content"] == f"key {KEY}"


def test_ordinary_sentences_about_keys_stay_as_they_are(acme: Instance) -> None:
    for text in (
        "The API key rotates every 90 days",
        "Ask Nora for the password of the printer",
        "token limit = 4096",
    ):
        answer = acme.remember(text)
        assert (answer["content"], answer["redacted"]) == (text, [])
