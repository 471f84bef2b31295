"""The judge itself: an honest history passes, and each kind of lie in it is found and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.proof.history import Operation, Recorder
from tests.proof.judge import judge
from tests.proof.model import Json, Who
from tests.proof.one_thread import one_thread
from tests.proof.test_histories import caller_of, record
from tests.proof.workload import CONVERSATIONS, TENANTS, Board, Client, inspection
from tests.services.world import World

History = list[Operation]


@pytest.fixture(scope="module")
def honest() -> History:
    """What six callers were told one after the other."""
    recorder, board = Recorder(), Board()
    callers = [Who(tenant, conversation) for tenant, conversation in product(TENANTS, CONVERSATIONS)]
    with TemporaryDirectory() as folder, one_thread(0):
        world = World(Path(folder))
        clients = [(Client(who, board, Random(n)), caller_of(world, who)) for n, who in enumerate(callers)]
        for client, call in clients * 40:
            board.learn(record(recorder, "one", client.who, call, *client.next()))
        for client, call in clients:
            for say in inspection(client.who, board):
                record(recorder, "afterwards", client.who, call, *say)
        world.close()
    return recorder.operations


def test_an_honest_history_passes_and_every_promise_was_checked(honest: History) -> None:
    verdict = judge(honest)
    assert verdict.violations == []
    assert min(verdict.checked.values()) > 50
    assert set(verdict.checked) == {
        "P-READ-YOUR-WRITES",
        "P-FORGOTTEN",
        "P-NO-LOST-UPDATE",
        "P-TENANT",
        "P-DURABLE",
        "P-IDEMPOTENT",
    }


def answers(history: History, tool: str, fits: Callable[[Operation], bool] = lambda _: True) -> Iterator[int]:
    """Where the last answers of a tool stand, last first."""
    for at in reversed(range(len(history))):
        if history[at].tool == tool and history[at].answered and fits(history[at]):
            yield at


def doctored(history: History, at: int, change: Callable[[Json], object]) -> History:
    """The history with one answer changed."""
    answer = deepcopy(history[at].answer)
    assert answer is not None
    change(answer)
    return [*history[:at], replace(history[at], answer=answer), *history[at + 1 :]]


def without(history: History, at: int, name: str, number: int) -> History:
    return doctored(history, at, lambda answer: answer[name].pop(number))


def _lose_from_list(history: History) -> History:
    return without(history, next(answers(history, "list_memories")), "memories", 0)


def _lose_from_recall(history: History) -> History:
    return without(history, next(answers(history, "recall", lambda o: bool(o.answered["hits"]))), "hits", 0)


def _lose_from_get(history: History) -> History:
    at = next(answers(history, "get_memory"))
    lost = replace(history[at], answer={"error": "not_found", "written": False})
    return [*history[:at], lost, *history[at + 1 :]]


def _show_twice(history: History) -> History:
    at = next(answers(history, "list_memories"))
    return doctored(history, at, lambda answer: answer["memories"].append(answer["memories"][0]))


def _a_total_too_many(history: History) -> History:
    at = next(answers(history, "list_memories"))
    return doctored(history, at, lambda answer: answer.update(totals=[n + 1 for n in answer["totals"]]))


def _row_of(history: History, memory_id: str, tenant: str) -> Json:
    rows = [
        row
        for operation in history
        if operation.tool == "list_memories" and operation.who.tenant == tenant
        for row in operation.answered.get("memories", [])
        if row["id"] == memory_id
    ]
    return rows[0] if rows else {}


def _forgotten_for_good(history: History) -> tuple[Operation, Json]:
    """A keyed memory that was listed before it was forgotten."""
    for at in answers(history, "forget", lambda o: bool(o.answered["deleted"])):
        row = _row_of(history[:at], history[at].given["id"], history[at].who.tenant)
        if row and "keyed" in row["content"]:
            return history[at], row
    raise AssertionError("no keyed memory was forgotten")


def _come_back_in_a_list(history: History) -> History:
    forgotten, row = _forgotten_for_good(history)
    at = next(answers(history, "list_memories", lambda o: o.who == forgotten.who))
    return doctored(history, at, lambda answer: answer["memories"].append(row))


def _come_back_by_a_retry(history: History) -> History:
    forgotten, row = _forgotten_for_good(history)
    given = {"content": row["content"], "idempotency_key": "key a"}
    last = history[-1]
    answer = {**row, "status": "already_known", "revision": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"}
    said = replace(
        last,
        number=last.number + 1,
        who=forgotten.who,
        tool="remember",
        given=given,
        began=last.ended + 1,
        ended=last.ended + 2,
        answer=answer,
    )
    return [*history, said]


def _an_older_revision(history: History) -> History:
    at = next(answers(history, "get_memory"))
    return doctored(history, at, lambda answer: answer["memory"].update(revision="0" * 26))


def _one_revision_for_two(history: History) -> History:
    first, second = list(answers(history, "update_memory", lambda o: o.given["id"] == "chain-a"))[:2]
    revision = history[second].answered["revision"]
    return doctored(history, first, lambda answer: answer.update(revision=revision))


def _a_version_twice(history: History) -> History:
    changed = [at for at in answers(history, "update_memory") if history[at].given["id"] == "chain-b"]
    return doctored(history, changed[0], lambda answer: answer.update(version=answer["version"] - 1))


def _an_older_version(history: History) -> History:
    at = next(answers(history, "list_memories"))

    def age(answer: Json) -> None:
        row = next(row for row in answer["memories"] if row["id"].startswith("chain") and row["version"] > 1)
        row["version"] -= 1

    return doctored(history, at, age)


def _a_lost_update(history: History) -> History:
    """The version is right, and the words are those of before."""
    at = next(
        answers(history, "get_memory", lambda o: o.given["id"] == "chain-a" and o.process == "afterwards")
    )
    return doctored(history, at, lambda answer: answer["memory"].update(source="source1"))


def _a_version_skipped(history: History) -> History:
    expecting = (at for at in answers(history, "update_memory") if "expected_version" in history[at].given)
    return doctored(history, next(expecting), lambda answer: answer.update(version=answer["version"] + 7))


def _a_lost_tag(history: History) -> History:
    def tagged(operation: Operation) -> bool:
        return bool(operation.answered["memory"]["tags"])

    return doctored(
        history, next(answers(history, "get_memory", tagged)), lambda answer: answer["memory"]["tags"].pop()
    )


def _counted_twice(history: History) -> History:
    at = next(answers(history, "memory_feedback"))
    return doctored(history, at, lambda answer: answer.update(useful_count=answer["useful_count"] + 1))


def _not_counted(history: History) -> History:
    at = next(answers(history, "memory_feedback", lambda o: o.given["useful"] is True))
    return doctored(history, at, lambda answer: answer.update(useful_count=answer["useful_count"] - 1))


def _another_tenants_row(history: History) -> History:
    foreign = next(answers(history, "list_memories", lambda o: o.who.tenant == "acme"))
    at = next(answers(history, "list_memories", lambda o: o.who.tenant == "acme-corp"))
    row = history[foreign].answered["memories"][0]
    return doctored(history, at, lambda answer: answer["memories"].append(row))


def _another_conversations_note(history: History) -> History:
    mine = next(
        answers(history, "recall", lambda o: any(h["scope"] == "conversation" for h in o.answered["hits"]))
    )
    note = next(hit for hit in history[mine].answered["hits"] if hit["scope"] == "conversation")
    who = history[mine].who
    other = next(answers(history, "recall", lambda o: o.who == Who(who.tenant, None)))
    return doctored(history, other, lambda answer: answer["hits"].append(note))


def _what_was_refused_is_there(history: History) -> History:
    refused = next(o for o in history if o.tool == "update_memory" and o.refused)
    at = next(answers(history, "get_memory", lambda o: o.who == refused.who))
    return doctored(history, at, lambda answer: answer["memory"].update(source=refused.given["source"]))


def _superseded_and_active(history: History) -> History:
    at = next(answers(history, "remember", lambda o: bool(o.answered.get("supersedes"))))
    (old,) = history[at].given["supersedes"]
    read = next(
        answers(history, "list_memories", lambda o: o.who == history[at].who and o.began > history[at].ended)
    )
    row = {**_row_of(history, old, history[at].who.tenant), "superseded_by": []}
    return doctored(history, read, lambda answer: answer["memories"].append(row))


def _two_places(history: History) -> History:
    at = next(answers(history, "remember", lambda o: o.answered["status"] == "already_known"))
    return doctored(history, at, lambda answer: answer.update(id="m" + "0" * 32))


LIES = [
    (_lose_from_list, "P-READ-YOUR-WRITES"),
    (_lose_from_recall, "P-READ-YOUR-WRITES"),
    (_lose_from_get, "P-READ-YOUR-WRITES"),
    (_show_twice, "P-READ-YOUR-WRITES"),
    (_a_total_too_many, "P-READ-YOUR-WRITES"),
    (_superseded_and_active, "P-READ-YOUR-WRITES"),
    (_come_back_in_a_list, "P-FORGOTTEN"),
    (_come_back_by_a_retry, "P-FORGOTTEN"),
    (_an_older_revision, "P-NO-LOST-UPDATE"),
    (_one_revision_for_two, "P-NO-LOST-UPDATE"),
    (_a_version_twice, "P-NO-LOST-UPDATE"),
    (_an_older_version, "P-NO-LOST-UPDATE"),
    (_a_lost_update, "P-NO-LOST-UPDATE"),
    (_a_version_skipped, "P-NO-LOST-UPDATE"),
    (_a_lost_tag, "P-NO-LOST-UPDATE"),
    (_counted_twice, "P-NO-LOST-UPDATE"),
    (_not_counted, "P-NO-LOST-UPDATE"),
    (_another_tenants_row, "P-TENANT"),
    (_another_conversations_note, "P-TENANT"),
    (_what_was_refused_is_there, "P-DURABLE"),
    (_two_places, "P-IDEMPOTENT"),
]


@pytest.mark.parametrize(("lie", "promise"), LIES, ids=lambda value: getattr(value, "__name__", value))
def test_a_lie_is_found_and_named(honest: History, lie: Callable[[History], History], promise: str) -> None:
    found = {violation.promise for violation in judge(lie(honest)).violations}
    assert promise in found
