"""Counts the tokens of `token_texts/`: `python -m tests.unit.domain.count_token_texts` writes its `counts.json`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.domain.vocabulary import count_tokens

FOLDER = Path(__file__).with_name("token_texts")
COUNTS = FOLDER / "counts.json"


def texts() -> dict[str, str]:
    """Our own texts by name."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.txt"))}


def counts() -> dict[str, int]:
    """How many tokens each is. Raises NotInstallable."""
    held = texts()
    return dict(zip(held, count_tokens(list(held.values())), strict=True))


def main() -> None:
    """Write them."""
    COUNTS.write_text(json.dumps(counts(), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
