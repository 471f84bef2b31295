"""The fit of curves: probabilities that were put in come out, and what would change is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality.calibrate import Example, abstention, changes, fitted, reliability
from benchmarks.quality.logistic import fit
from lodestore.retrieval.calibration import Curve, Evidence, calibration_of

SHIPPED = calibration_of("all-MiniLM-L6-v2")


def made(count: int = 400) -> list[Example]:
    """Questions answered the better the more their words are met; one in eight is of another subject."""
    rng = np.random.default_rng(3)
    examples = []
    for number in range(count):
        off = number % 8 == 0
        keyword, vector, lead = rng.random(3) * (0.2 if off else 1.0)
        examples.append(
            Example(
                category="off-topic" if off else "fact",
                answerable=not off,
                evidence=Evidence(
                    keyword=keyword, vector=vector, lead=0.4 * lead, reach=keyword, unknown=1 - keyword
                ),
                whole=True,
                right=not off and bool(rng.random() < keyword),
                found=not off,
                vectors=True,
                chat=False,
            )
        )
    return examples


def test_a_curve_that_made_the_data_is_found_again() -> None:
    rng = np.random.default_rng(1)
    values = rng.random(20_000)
    likely = 1 / (1 + np.exp(3 - 5 * values))
    holds = np.zeros(20_000)
    holds[rng.random(20_000) < likely] = 1
    found = fit({"keyword": values}, holds, np.ones(20_000))
    assert found.base == pytest.approx(-3, abs=0.2)
    assert found.of["keyword"] == pytest.approx(5, abs=0.3)


def test_evidence_that_never_varies_gets_no_factor() -> None:
    found = fit({"vector": np.zeros(40)}, np.tile([0.0, 1.0], 20), np.ones(40))
    assert found.of["vector"] == 0


def test_what_was_fitted_tells_more_than_what_was_not_made_for_the_data() -> None:
    examples = made()
    wrong = replace(SHIPPED, first=Curve(base=2.0, of={"keyword": -1.0, "vector": 0.0, "lead": 0.0}))
    new = fitted(examples, wrong)
    assert new.first.of["keyword"] > 1
    for line in reliability(examples, new.first)[1:]:
        mean, right = (float(cell) for cell in line.split()[-2:])
        assert right == pytest.approx(mean, abs=0.15)


def test_the_curve_of_abstention_rises_with_the_floor() -> None:
    examples = made()
    lines = abstention(examples, fitted(examples, SHIPPED).known)[1:]
    lost, off = zip(*((float(line.split()[1]), float(line.split()[3])) for line in lines), strict=True)
    assert list(lost) == sorted(lost)
    assert list(off) == sorted(off)
    assert off[-1] > 90 > lost[0]


def test_nothing_changes_where_the_curves_are_the_same() -> None:
    for line in changes(made(), SHIPPED, SHIPPED):
        assert line.endswith("0 of them other questions")
