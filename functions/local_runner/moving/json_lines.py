"""JSON from files: line by line, or a file as a whole, never more in memory than the limit says.

Owns: bytes into JSON values. Guarantees: a line that is too long, no UTF-8, no JSON or nested too deep is a flaw with
its number, and the next line is read as if nothing were; no number that JSON does not have. Gives up: a line's content.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from lodestore.domain.limits import IMPORT_FILE_BYTES, IMPORT_LINE_BYTES
from lodestore.services.import_runs import Flaw

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 65_536


def json_lines(stream: BinaryIO, most_bytes: int = IMPORT_LINE_BYTES) -> Iterator[tuple[int, object | Flaw]]:
    """(number from 1, JSON value or flaw) of each line that is not blank."""
    number = 0
    while line := stream.readline(most_bytes + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if len(line) > most_bytes and not line.endswith(b"\n"):
            _skip_line(stream)
            yield number, Flaw(f"longer than {most_bytes:,} bytes")
        elif line.strip():
            yield number, parse_json(line)


def whole_json(stream: BinaryIO) -> object | Flaw:
    """The one JSON value of a file."""
    body = stream.read(IMPORT_FILE_BYTES + 1)
    if len(body) > IMPORT_FILE_BYTES:
        return Flaw(f"larger than {IMPORT_FILE_BYTES:,} bytes")
    return parse_json(body.removeprefix(_BYTE_ORDER_MARK))


def parse_json(body: bytes) -> object | Flaw:
    """The value that the bytes are."""
    try:
        value: object = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        return Flaw("not UTF-8")
    except RecursionError:
        return Flaw("nested too deep")
    except ValueError:
        return Flaw("not JSON")
    return value


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number in JSON")
