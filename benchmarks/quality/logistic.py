"""Logistic regression: from evidence to a probability.

Owns: the fit. Guarantees: the same data give the same curve; with few examples or evidence that never varies the
factors stay small (ridge) instead of running away. Gives up: factors of which nothing was seen; they come out as 0.

Source: Newton's method on the penalised likelihood (Hastie, Tibshirani, Friedman 2009, section 4.4).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lodestore.retrieval.calibration import Curve

STEPS = 30
RIDGE = 1.0
Floats = NDArray[np.float64]


def fit(evidence: Mapping[str, Floats], holds: Floats, weights: Floats) -> Curve:
    """The likeliest curve.

    evidence   name to a value for each example
    holds      1 where what is to be predicted is so, else 0
    weights    what each example counts for, at least 0
    """
    given = np.stack(list(evidence.values()), axis=1)
    middle, spread = np.average(given, axis=0, weights=weights), given.std(axis=0) + 1e-9
    rows = np.column_stack([np.ones(len(given)), (given - middle) / spread])
    factors = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(rows @ factors, -30, 30)))
        slope = rows.T @ (weights * (p - holds)) + RIDGE * factors
        bend = (rows * (weights * p * (1 - p))[:, None]).T @ rows + RIDGE * np.eye(len(factors))
        factors -= np.linalg.solve(bend, slope)
    plain = factors[1:] / spread
    base = float(factors[0] - plain @ middle)
    of = {name: round(float(value), 2) for name, value in zip(evidence, plain, strict=True)}
    return Curve(base=round(base, 2), of=of)
