"""Which strings are object keys, for every object store alike.

Owns: the grammar: 1 to 1,024 characters, `/`-separated segments of 1 to 200 characters that RFC 3986 §2.3
leaves unreserved (`A-Z a-z 0-9 - . _ ~`), none of them `.` or `..`.
Guarantees: a key needs no URL encoding, can't climb out of a folder or a prefix, and is the same in any
Unicode form. A string that is no key is refused with a ValueError before any request: that is a mistake of
the program, for no input of a caller becomes a key unchecked.
Gives up: other keys that S3 would take. Nothing in Lodestore's layout has them.
"""

from __future__ import annotations

import re

MAX_KEY = 1024
MAX_SEGMENT = 200

SEGMENT = re.compile(rf"[A-Za-z0-9._~-]{{1,{MAX_SEGMENT}}}", re.ASCII)


def is_segment(text: str) -> bool:
    """Whether `text` can stand between two slashes of a key."""
    return SEGMENT.fullmatch(text) is not None and text not in (".", "..")


def segments_of(key: str) -> tuple[str, ...]:
    """The segments of a whole key, at least one. Raises ValueError."""
    segments = tuple(key.split("/"))
    if len(key) > MAX_KEY or not all(map(is_segment, segments)):
        raise ValueError(f"not an object key: {key[:80]!r} ({len(key)} characters)")
    return segments


def folder_of(prefix: str) -> tuple[str, ...]:
    """The segments of a listing's prefix: none for "", otherwise it ends in `/`. Raises ValueError."""
    if not prefix:
        return ()
    if not prefix.endswith("/"):
        raise ValueError(f"the prefix of a listing ends in '/': {prefix[:80]!r}")
    return segments_of(prefix[:-1])


def check_page(delimiter: str, page_size: int) -> int:
    """The number of entries on a page, at most S3's 1,000. Raises ValueError for what S3 refuses."""
    if delimiter not in ("", "/"):
        raise ValueError(f"the delimiter is '' or '/', not {delimiter!r}")
    if page_size < 1:
        raise ValueError(f"a page has at least one entry, not {page_size}")
    return min(page_size, 1000)


def check_version_prefix(prefix: str) -> None:
    """A prefix of versions is the beginning of some key, or empty. Raises ValueError."""
    whole, _, last = prefix.rpartition("/")
    if whole:
        segments_of(whole)
    if not SEGMENT.fullmatch(last or "-"):
        raise ValueError(f"no object key begins with {prefix[:80]!r}")
