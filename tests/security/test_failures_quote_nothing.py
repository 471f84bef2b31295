"""A failure that nobody foresaw may quote a memory in its message; no log and no answer repeats it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.handlers.stand_ins import SECRET_TEXT, stand_in
from tests.handlers.test_observability import Watched
from tests.handlers.wire import call, post


@pytest.mark.promise("P-UNTRUSTED")
def test_what_fails_unforeseen_is_told_to_nobody_in_its_own_words(tmp_path: Path) -> None:
    watched = Watched(stand_in(tmp_path))
    answer = post(watched.endpoint, call("remember", {"content": "boom"}))
    told = [answer.text, *map(json.dumps, watched.lines()), *map(json.dumps, watched.metrics())]
    assert any("RuntimeError" in line for line in told)
    assert not [line for line in told if SECRET_TEXT in line or json.dumps(SECRET_TEXT)[1:-1] in line]
