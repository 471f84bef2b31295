"""Long random tokens that no format and no name gives away.

Owns: how random a token looks, and which random-looking tokens are ordinary.
Guarantees: hashes, UUIDs, ULIDs, our own ids, paths, slugs, model names, CamelCase, integrity and image data, public
keys and certificates stay. Without a word for a secret before it a token must hold an unbroken run of 24 letters of
both cases and digits that change as often as random ones do (Shannon entropy, in bits a character:
-sum p log2 p over the token's own characters).
Gives up: hexadecimal and single-case secrets without a name; about one random token in twenty, which happens to
look regular.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from lodestore.domain.secret_finding import Finding
from lodestore.domain.secret_names import lowered

LEAST_LENGTH = 32
# Longer ones are data (images, archives), not keys.
MOST_LENGTH = 256
RUN_ALONE = 24
DIGITS_ALONE = 2
LEAST_RUN_NAMED = 8
CONTEXT = 64
BITS_ALONE = 4.2
BITS_NAMED = 3.8
# A random letter or digit differs in class from the one before it 62 times in 100; CamelCase about 30 times.
CHANGES_ALONE = 0.45
CHANGES_NAMED = 0.40
# Where both the issuer and "secret" were said and the length is right, little more is asked.
CHANGES_AWS = 0.30

_TOKEN = re.compile(rf"[A-Za-z0-9+][A-Za-z0-9+/_-]{{{LEAST_LENGTH - 1},}}+={{0,2}}")
_AWS_SECRET = re.compile(r"[A-Za-z0-9+/]{40}")
_RUN = re.compile(r"[A-Za-z0-9]+")
_SECRET_WORD = re.compile(
    r"secret|token|password|passwd|credential|(?:api|access|signing|private|auth|account)[ _-]?key"
)
_ORDINARY_WORD = re.compile(
    r"(?:\b(?:id|ids|sha|sha256|sha512|md5|hash|digest|etag|checksum|fingerprint|integrity|commit|nonce|cursor"
    r"|revision|version|versionid|cid|address|wallet|public[ _-]?key|base64|signature|trace|document|doc|folder|file"
    r"|video|channel)"
    r"|id)[\"'`]?[ \t]{0,2}(?:is|:|=|,|/)?[ \t]{0,2}[\"'`]?$"
)
# Integrity hashes, public keys of SSH, JSON and images in base64, addresses of IPFS and Bitcoin.
_ORDINARY_START = re.compile(
    r"sha\d{3}-|AAAA[BCE]|eyJ|Qm[1-9A-HJ-NP-Za-km-z]{44}$|[13][1-9A-HJ-NP-Za-km-z]{25,34}$|iVBOR|R0lGOD"
)
_HEX = re.compile(r"(?:0x|m)?[0-9a-fA-F-]+")
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{1,48}-----")


def find_random(text: str) -> Iterator[Finding]:
    """Every token that is too random to be a name and stands where a secret may, in order."""
    pem_open = _open_pem_ranges(text)
    for match in _TOKEN.finditer(text):
        token = match[0]
        if len(token) > MOST_LENGTH or _HEX.fullmatch(token) or _ORDINARY_START.match(token):
            continue
        if _is_in(pem_open, match.start()) or _is_wrapped_data(text, match):
            continue
        before = _before(text, match.start())
        is_named = _SECRET_WORD.search(before) is not None
        if (
            "aws" in before
            and is_named
            and _AWS_SECRET.fullmatch(token)
            and _is_random(token, BITS_NAMED, CHANGES_AWS)
        ):
            yield Finding("aws_secret_key", match.start(), match.end())
            continue
        if is_named:
            is_secret = _is_random(token, BITS_NAMED, CHANGES_NAMED)
        else:
            is_secret = _is_random_alone(token) and not _is_ordinary_place(text, match.start(), before)
        if is_secret:
            yield Finding("random_token", match.start(), match.end())


def bits_per_character(token: str) -> float:
    """Shannon entropy of the token's own characters; 0 for an empty one."""
    counts = Counter(token).values()
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts)


def class_changes(token: str) -> float:
    """Share, 0 to 1, of neighbours that differ in class: small letter, capital, digit."""
    classes = [(character.islower(), character.isdigit()) for character in token]
    pairs = list(pairwise(classes))
    return sum(one != other for one, other in pairs) / len(pairs) if pairs else 0.0


def _is_random_alone(token: str) -> bool:
    longest = max(_RUN.findall(token), key=len, default="")
    # One digit in a long name is a version or a count; random ones come to one in six.
    has_digits = sum(map(str.isdigit, longest)) >= DIGITS_ALONE
    return len(longest) >= RUN_ALONE and has_digits and _is_random(longest, BITS_ALONE, CHANGES_ALONE)


def _is_random(token: str, bits: float, changes: float) -> bool:
    plain = "".join(_RUN.findall(token))
    has_all = any(map(str.islower, plain)) and any(map(str.isupper, plain)) and any(map(str.isdigit, plain))
    if not has_all:
        return False
    longest = max(_RUN.findall(token), key=len, default="")
    return (
        len(longest) >= LEAST_RUN_NAMED
        and bits_per_character(token) >= bits
        and class_changes(plain) >= changes
    )


def _before(text: str, at: int) -> str:
    window = text[max(at - CONTEXT, 0) : at]
    return lowered(window.rpartition("\n")[2])


def _is_ordinary_place(text: str, at: int, before: str) -> bool:
    """Inside a URL, after "base64,", or after a word for an identifier or digest."""
    word = text[max(at - 512, 0) : at].rpartition(" ")[2].rpartition("\n")[2]
    return (
        "://" in word
        or word.startswith("/")
        or "base64," in word
        or _ORDINARY_WORD.search(before) is not None
    )


def _is_wrapped_data(text: str, match: re.Match[str]) -> bool:
    """One of several lines of equal length that are all such tokens: a file in base64."""
    start, end = match.span()
    if text[start - 1 : start] not in ("", "\n") or text[end : end + 1] not in ("", "\n"):
        return False
    length = end - start
    after = text[end + 1 : end + 1 + length]
    before = text[max(start - 1 - length, 0) : max(start - 1, 0)]
    return any(_TOKEN.fullmatch(line) is not None for line in (after, before))


def _is_in(ranges: list[tuple[int, int]], at: int) -> bool:
    nearest = bisect_right(ranges, (at, at)) - 1
    return nearest >= 0 and at < ranges[nearest][1]


def _open_pem_ranges(text: str) -> list[tuple[int, int]]:
    """Certificates and public keys. (Private keys are found whole elsewhere.)"""
    if "-----BEGIN " not in text:
        return []
    ranges = []
    passed = 0
    for begin in _PEM.finditer(text):
        if begin.start() >= passed and "PRIVATE" not in begin[0]:
            end = text.find("-----END ", begin.end())
            passed = len(text) if end < 0 else end
            ranges.append((begin.start(), passed))
    return ranges
