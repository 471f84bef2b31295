"""Clocks and sources of chance: the machine's own, and the tests'."""

from __future__ import annotations

from datetime import timedelta

import pytest

from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.ports.clock import Clock, Entropy
from tests.stores.still_clock import StillClock


@pytest.fixture(params=[SystemClock, StillClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


@pytest.mark.case("B42")
def test_now_is_utc_in_whole_milliseconds_whatever_the_machines_zone(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    now = clock.now()
    assert now.utcoffset() == timedelta(0)
    assert now.microsecond % 1000 == 0


def test_elapsed_time_never_goes_back_and_a_pause_shows_in_it(clock: Clock) -> None:
    before = clock.elapsed()
    clock.pause(0.002)
    assert clock.elapsed() - before >= 0.002
    clock.pause(0)


def test_a_pause_of_less_than_nothing_is_none() -> None:
    SystemClock().pause(-1)


def test_tokens_have_their_size_and_do_not_repeat() -> None:
    entropy: Entropy = SystemEntropy()
    assert [len(entropy.token(size)) for size in (1, 10, 32)] == [1, 10, 32]
    assert len({entropy.token(10) for _ in range(1000)}) == 1000


def test_fractions_lie_in_the_unit_interval_and_spread_over_it() -> None:
    drawn = [SystemEntropy().fraction() for _ in range(2000)]
    assert all(0 <= fraction < 1 for fraction in drawn)
    assert {int(fraction * 10) for fraction in drawn} == set(range(10))
