"""Our own export as entries.

Owns: the lines of `make export` on their way back. Gives up: the checks; those are the core's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from local_runner.moving.json_lines import json_lines
from lodestore.format.transfer_lines import InvalidLine, TransferLine, decode_line
from lodestore.services.import_runs import Entry, Flaw


def own_entries(stream: BinaryIO, tenant: str) -> Iterator[Entry]:
    """An entry for each line."""
    for number, value in json_lines(stream):
        yield Entry(f"line {number}", value if isinstance(value, Flaw) else _item(value, tenant))


def _item(value: object, tenant: str) -> TransferLine | Flaw:
    if not isinstance(value, dict):
        return Flaw("not a JSON object")
    try:
        return decode_line(value, tenant)
    except InvalidLine as why:
        return Flaw(str(why))
