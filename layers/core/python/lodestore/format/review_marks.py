"""How far the step `review` has come in a tenant, as JSON.

Owns: schema 1 of `index/<tenant>/reviewed.json`. Guarantees: what is malformed reads as none, and the review begins
anew, which costs tokens and changes nothing. Gives up: nothing of a memory is in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from lodestore.domain.revision import is_revision

SCHEMA: Final = 1
REFUSED_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class ReviewMark:
    """asker: the model and the versions of the prompts, since another one may say otherwise; `revision`: of the last
    memory that was compared, "" of none; `refused`: proposals whose text was refused, so that none is asked for again.
    """

    asker: str
    revision: str = ""
    refused: tuple[str, ...] = ()


def encode_mark(mark: ReviewMark) -> bytes:
    """The mark; of what was refused, the last."""
    fields = {
        "schema": SCHEMA,
        "asker": mark.asker,
        "revision": mark.revision,
        "refused": mark.refused[-REFUSED_MOST:],
    }
    return (json.dumps(fields, ensure_ascii=False, indent=2) + "\n").encode()


def decode_mark(body: bytes) -> ReviewMark | None:
    """The mark; None where these bytes are none."""
    try:
        fields = json.loads(body)
        asker, revision, refused = fields["asker"], fields["revision"], fields["refused"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    known = fields.get("schema") == SCHEMA and isinstance(asker, str) and isinstance(refused, list)
    if not known or not (revision == "" or (isinstance(revision, str) and is_revision(revision))):
        return None
    return ReviewMark(asker, revision, tuple(one for one in refused if isinstance(one, str))[-REFUSED_MOST:])
