"""A task survives the queue, and nothing else is taken for one."""

from __future__ import annotations

import json

import pytest

from lodestore.domain.upkeep_task import CONTINUED_MOST, NOTES_MOST, UpkeepTask
from lodestore.format import keys
from lodestore.format.upkeep_tasks import InvalidTask, decode_task, encode_task

NOTE = keys.due("2026-03-09T01", "acme")
TASK = UpkeepTask(
    tenant="acme", steps=frozenset({"index", "report"}), notes=(NOTE,), compare=True, continued=3
)


def test_a_task_comes_back_as_it_went() -> None:
    assert decode_task(encode_task(TASK)) == TASK
    least = UpkeepTask(tenant="acme", steps=frozenset({"index"}))
    assert decode_task(encode_task(least)) == least


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"task": "dispatch"}, "task"),
        ({"tenant": "-acme"}, "tenant"),
        ({"tenant": 7}, "tenant"),
        ({"steps": []}, "steps"),
        ({"steps": "index"}, "steps"),
        ({"steps": ["x" * 65]}, "steps"),
        ({"steps": [f"s{n}" for n in range(33)]}, "steps"),
        ({"notes": [keys.due("2026-03-09T01", "acme-corp")]}, "notes"),
        ({"notes": ["index/acme/manifest.json"]}, "notes"),
        ({"notes": [NOTE] * (NOTES_MOST + 1)}, "notes"),
        ({"compare": 1}, "compare"),
        ({"continued": -1}, "continued"),
        ({"continued": CONTINUED_MOST + 1}, "continued"),
        ({"continued": True}, "continued"),
        ({"dry_run": True}, "an unknown field"),
    ],
)
def test_what_is_no_task_is_refused_by_the_field_and_without_its_value(
    changed: dict[str, object], field: str
) -> None:
    with pytest.raises(InvalidTask) as refused:
        decode_task(json.dumps(json.loads(encode_task(TASK)) | changed))
    assert str(refused.value) == field


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidTask):
        decode_task(text)
