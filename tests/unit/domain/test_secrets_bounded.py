"""Hostile text costs a bounded number of steps: counted, not timed."""

from __future__ import annotations

import importlib
import re
import sys
from types import FrameType
from typing import Any

import pytest

from lodestore.domain import (
    secret_assignments,
    secret_blocks,
    secret_entropy,
    secret_formats,
    secret_names,
    secret_values,
)
from lodestore.domain.secrets import scan

# The library's own reading of a pattern; there is no public one.
_PARSER = importlib.import_module("re._parser")

_HOSTILE = (
    "pw=",
    "password=",
    "password: ",
    'password="',
    "password=`a",
    'password\\":\\"',
    "token=sha1s-s-s-s-",
    "apikey=a-v1-v1-v1",
    "password=your-a-a-a-a-",
    "secret is ",
    "eyJ-",
    "://a:",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "AKIA0000EXAMPLE00000",
    "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY\n",
    "Bearer ",
    "a.b/",
)


def _calls(text: str) -> int:
    """How many Python functions a scan of `text` enters, built-in ones included."""
    count = 0

    def seen(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        scan(text)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.promise("P-BOUNDED")
@pytest.mark.parametrize("piece", _HOSTILE)
def test_twice_the_hostile_text_is_at_most_about_twice_the_work(piece: str) -> None:
    once = _calls(piece * (4_000 // len(piece)))
    twice = _calls(piece * (8_000 // len(piece)))
    assert twice <= 2.2 * once + 500


def _patterns() -> dict[str, str]:
    modules = (
        secret_assignments,
        secret_blocks,
        secret_entropy,
        secret_formats,
        secret_names,
        secret_values,
    )
    named = {
        f"{module.__name__.rpartition('.')[2]}.{name}": value.pattern
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, re.Pattern)
    }
    return named | {
        f"{known.kind} {known.literal}": known.pattern.pattern for known in secret_formats.FORMATS
    }


# What repeats without a bound is matched once from a place that is then passed over, or meets only values that were
# cut to 512 characters before.
_UNBOUNDED = {
    "secret_assignments._REST_OF_TOKEN",
    "secret_assignments._END_OF_STATEMENT",
    "secret_blocks._PEM_GAP",
    "secret_blocks._PEM_CHUNK",
    "secret_entropy._TOKEN",
    "secret_entropy._RUN",
    "secret_entropy._HEX",
    "secret_formats._GLUED",
    "secret_values._ORDINARY",
    "secret_values._DOTTED_NAME",
    "secret_values._SLUG",
    "secret_values._ADDRESS",
    "secret_values._INNER_SYMBOL",
}


def _has_unbounded_repeat(node: Any) -> bool:
    if isinstance(node, tuple) and len(node) == 3 and node[1] is _PARSER.MAXREPEAT:
        return True
    parts = node if isinstance(node, (tuple, list)) else getattr(node, "data", ())
    return any(_has_unbounded_repeat(part) for part in parts)


def test_a_pattern_that_meets_a_whole_text_repeats_a_bounded_number_of_times() -> None:
    found = {name for name, pattern in _patterns().items() if _has_unbounded_repeat(_PARSER.parse(pattern))}
    assert found == _UNBOUNDED
