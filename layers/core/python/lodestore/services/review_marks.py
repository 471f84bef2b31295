"""The mark of the step `review`, as stored.

Owns: `index/<tenant>/reviewed.json`. Guarantees: it is put over what was read and never over another's, so of two
reviews at once one counts; without one, or with that of another model, a review begins anew. Gives up: history.
"""

from __future__ import annotations

from typing import Final

from lodestore.format import keys
from lodestore.format.review_marks import ReviewMark, decode_mark, encode_mark
from lodestore.ports.object_store import Found, ObjectStore, ObjectTooLarge

MARK_BYTES: Final = 65_536


class ReviewMarks:
    """The marks of all tenants."""

    def __init__(self, index: ObjectStore) -> None:
        self._index = index

    def get(self, tenant: str, asker: str) -> tuple[ReviewMark, str | None]:
        """The mark of this asker, and the ETag of what stands there. Raises StoreUnavailable."""
        try:
            found = self._index.get(keys.reviewed(tenant), max_bytes=MARK_BYTES)
        except ObjectTooLarge:
            return ReviewMark(asker), None
        if not isinstance(found, Found):
            return ReviewMark(asker), None
        mark = decode_mark(found.body)
        return mark if mark is not None and mark.asker == asker else ReviewMark(asker), found.etag

    def put(self, tenant: str, mark: ReviewMark, etag: str | None) -> None:
        """Store it over what was read; what lost, or failed unseen, is asked again. Raises StoreUnavailable."""
        key, body = keys.reviewed(tenant), encode_mark(mark)
        if etag is None:
            self._index.create(key, body)
        else:
            self._index.replace(key, body, expected=etag)
