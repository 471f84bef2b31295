"""Counts of tokens by a real vocabulary: npm gpt-tokenizer, o200k. In tests and benchmarks only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from tests.clients.environments import NODE, npm_package

TOKENIZER = "gpt-tokenizer@4.0.0"
COUNT_SECONDS = 60.0
PROGRAM = """
const { createRequire } = require('node:module');
const { countTokens } = createRequire(process.argv[1] + '/')('gpt-tokenizer/encoding/o200k_base');
let text = '';
process.stdin.on('data', (chunk) => (text += chunk));
process.stdin.on('end', () => console.log(JSON.stringify(JSON.parse(text).map((one) => countTokens(one)))));
"""


def count_tokens(texts: Sequence[str]) -> list[int]:
    """One count a text. Raises NotInstallable."""
    command = [str(NODE / "bin" / "node"), "-e", PROGRAM, str(npm_package("tokenizer", TOKENIZER))]
    ran = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, timeout=COUNT_SECONDS, check=True
    )
    counts: list[int] = json.loads(ran.stdout)
    return counts
