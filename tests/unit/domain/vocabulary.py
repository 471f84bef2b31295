"""Counts of tokens by a real vocabulary: npm gpt-tokenizer, o200k. In tests and benchmarks only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from tests.clients.environments import NODE, npm_package

TOKENIZER = "gpt-tokenizer@4.0.0"
NODE_SECONDS = 60.0
_COUNT = """
const { createRequire } = require('node:module');
const { countTokens } = createRequire(process.argv[1] + '/')('gpt-tokenizer/encoding/o200k_base');
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(JSON.parse(text).map((one) => countTokens(one)))));
"""
_TOKENS = """
const { createRequire } = require('node:module');
const { default: ranks } = createRequire(process.argv[1] + '/')('gpt-tokenizer/bpeRanks/o200k_base');
console.log(JSON.stringify([...ranks].filter((one) => one != null).map((one) => Buffer.from(one).toString('hex'))));
"""


def count_tokens(texts: Sequence[str]) -> list[int]:
    """One count a text. Raises NotInstallable."""
    counts: list[int] = json.loads(_node(_COUNT, json.dumps(texts)))
    return counts


def tokens() -> list[bytes]:
    """Every token of the vocabulary but the special ones. Raises NotInstallable."""
    return [bytes.fromhex(one) for one in json.loads(_node(_TOKENS, ""))]


def _node(program: str, given: str) -> str:
    command = [str(NODE / "bin" / "node"), "-e", program, str(npm_package("tokenizer", TOKENIZER))]
    ran = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=NODE_SECONDS, check=True
    )
    return ran.stdout
