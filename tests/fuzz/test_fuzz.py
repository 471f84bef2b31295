"""A short part of `make fuzz`, and that it finds what is there to be found."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from lodestore.services.tool_schemas import SCHEMAS
from tests.fuzz import faulty_handlers
from tests.fuzz.__main__ import files_of, main, replay, stacks_in, summary
from tests.fuzz.campaign import Campaign, strategies
from tests.fuzz.judging import HANG, LEAK, RAISED, SERVER_FAULT, Answered, judge
from tests.fuzz.targets import HandlerTarget, server_target

Json = dict[str, Any]

INPUTS = 40
KINDS = ("tool arguments", "message", "function-URL event", "raw HTTP")
BROKEN = {
    "shows_a_stack": LEAK,
    "raises": RAISED,
    "answers_500": SERVER_FAULT,
    "says_internal_error": SERVER_FAULT,
}


class FaultyTarget:
    """A faulty handler in this process."""

    def __init__(self, name: str) -> None:
        self._handler = getattr(faulty_handlers, name)

    def send(self, sent: Json) -> Answered:
        try:
            answer = self._handler(json.loads(json.dumps(sent["event"])))
        # The process around a real one tells the type alone.
        except Exception as error:  # noqa: BLE001
            return Answered(raised=type(error).__name__)
        return Answered(answer["statusCode"], answer["headers"], answer["body"])


class StuckTarget:
    """Hangs at every tenth input."""

    def __init__(self) -> None:
        self._sent = 0

    def send(self, sent: Json) -> Answered:
        assert sent
        self._sent += 1
        return Answered(hung=self._sent % 10 == 0, status=200)


TOOLS: list[Json] = [{"name": name, "inputSchema": schema} for name, schema in SCHEMAS.items()]


@pytest.mark.case("B64", "B38", "B31")
@pytest.mark.promise("P-BOUNDED", "P-UNTRUSTED")
def test_hostile_inputs_get_answers_that_show_nothing_internal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["--inputs", str(INPUTS), "--found", str(tmp_path)]) == 0, capsys.readouterr().out
    figures = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in figures if any(f"  {kind} " in line for kind in KINDS)] == [
        str(INPUTS)
    ] * 4
    assert figures[-1].startswith(
        f"seed 1, inputs {INPUTS * 4}, exception texts 0, stacks logged 0, 5xx 0, hangs 0"
    )


@pytest.mark.parametrize("name", BROKEN)
def test_a_fault_of_a_handler_is_found_by_a_small_input(name: str) -> None:
    campaign, target = Campaign(1, lambda: True), FaultyTarget(name)
    campaign.batch("message", strategies(TOOLS)["message"], target, 120)
    assert {discovery.finding.kind for discovery in campaign.tally.found.values()} == {BROKEN[name]}
    (discovery, *_) = campaign.tally.found.values()
    assert judge(target.send(discovery.sent)) is not None
    assert len(json.dumps(discovery.sent)) < 700


def test_a_finding_is_written_to_a_file_that_finds_it_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    campaign = Campaign(1, lambda: True)
    campaign.batch("message", strategies(TOOLS)["message"], FaultyTarget("answers_500"), 120)
    said = files_of(campaign.tally, tmp_path)
    assert f"    again: make fuzz REPLAY={tmp_path}/finding-1.json" in said
    assert "5xx 1, hangs 0" in summary(campaign.tally, 1, 0)[-1]
    assert replay(tmp_path / "finding-1.json", f"{faulty_handlers.__name__}:answers_500") == 1
    assert f"found {SERVER_FAULT}" in capsys.readouterr().out


def test_a_hang_is_found_once_and_the_campaign_goes_on() -> None:
    campaign, target = Campaign(1, lambda: True), StuckTarget()
    for _ in range(2):
        assert campaign.batch("message", strategies(TOOLS)["message"], target, 30)
    assert campaign.tally.of(HANG) == 1
    assert campaign.tally.inputs["message"] > 30


def test_a_process_that_hangs_is_ended_and_another_answers(tmp_path: Path) -> None:
    target = HandlerTarget(tmp_path, f"{faulty_handlers.__name__}:hangs", seconds=0.5)
    try:
        assert target.send({"event": {"body": "hang"}}).hung
        assert target.send({"event": {"body": "x"}}).status == 200
    finally:
        target.close()


def test_a_stack_in_the_log_is_seen(tmp_path: Path) -> None:
    target = HandlerTarget(tmp_path, f"{faulty_handlers.__name__}:logs_a_stack")
    try:
        assert target.send({"event": {"body": "é"}}).status == 200
        assert stacks_in(target) == 1
    finally:
        target.close()


def test_a_server_that_was_cut_off_answers_the_next_request() -> None:
    with server_target() as target:
        cut = {"bytes": "UE9TVCAvbWNwIEhUVFAvMS4xDQo=", "cut": True}
        assert target.send(cut).closed
        health = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        assert target.send({"bytes": base64.b64encode(health.encode()).decode(), "cut": False}).status == 200


@pytest.mark.parametrize(
    ("answered", "kind"),
    [
        (Answered(hung=True), HANG),
        (Answered(raised="KeyError"), RAISED),
        (Answered(503, {}, "{}"), SERVER_FAULT),
        (Answered(400, {}, '{"message":"ValueError: no"}'), LEAK),
        (Answered(200, {"x-y": "memories/acme/x.json"}, "{}"), LEAK),
        (Answered(200, {"content-type": "application/json"}, '{"a":NaN}'), "no JSON"),
        (Answered(200, {"content-type": "application/json"}, "half of \ud83d"), "no JSON"),
    ],
)
def test_the_judge_knows_what_no_answer_may_hold(answered: Answered, kind: str) -> None:
    finding = judge(answered)
    assert finding is not None
    assert finding.kind == kind
