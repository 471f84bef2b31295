"""Secrets with a frame of their own: private keys, signed tokens, credentials in URLs and headers.

Owns: PEM private keys (also cut off), JWT, `scheme://user:password@host`, `Authorization` headers, `curl -u`.
Guarantees: of a URL only the password goes, so that the rest stays of use; a frame without a secret in it
("lines between BEGIN and END PRIVATE KEY") is left alone; linear in the text.
Gives up: signatures are not checked and keys are not parsed: the shape decides.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator

from lodestore.domain.secret_finding import Finding
from lodestore.domain.secret_values import Form, Role, has_letter_and_digit, is_plausible, is_varied

_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_GAP = re.compile(r"(?:\s|\\[nrt])*+")
_PEM_HEADER = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,128}")
_PEM_CHUNK = re.compile(r"[A-Za-z0-9+/=]{16,}+")
_PEM_LAST_CHUNK = re.compile(r"[A-Za-z0-9+/]{1,15}={1,2}")
_PGP_CHECKSUM = re.compile(r"=[A-Za-z0-9+/]{4}(?=\s|\\n|$)")
_PEM_PARTS = (_PEM_HEADER, _PEM_CHUNK, _PEM_LAST_CHUNK, _PGP_CHECKSUM)
_JWT = re.compile(
    r"(?<![A-Za-z0-9])(eyJ[A-Za-z0-9_-]{8,600}+)\.[A-Za-z0-9_-]{4,8192}+(?:\.[A-Za-z0-9_-]{0,2048}+){0,3}"
)
_URL_PASSWORD = re.compile(r"://[^\s:/@?#\"'<>`\[]{0,128}:([^\s/\"'<>`]{1,256})@")
_URL_TOKEN = re.compile(r"://([A-Za-z0-9_-]{20,256})@")
_BEARER = re.compile(r"(?<![A-Za-z0-9])(?:[Bb]earer|BEARER)[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,4096})")
_BASIC = re.compile(r"(?<![A-Za-z0-9])(?:[Bb]asic|BASIC)[ \t]{1,4}([A-Za-z0-9+/_-]{8,1024}={0,2})")
_AUTHORIZATION = re.compile(
    r"[Aa](?:uthorization|UTHORIZATION)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\?[\"']?"
    r"(?:(?:[Bb]earer|BEARER|[Tt]oken|[Bb]asic|ApiKey|Key)[ \t]{1,4})?([A-Za-z0-9._~+/=-]{6,4096})"
)
_CURL_USER = re.compile(r"(?<=\s)(?:-u|--user)[ =]?[\"']?[A-Za-z0-9._@-]{1,64}:([^\s\"'`]{1,256})")
_SAS_SIGNATURE = re.compile(r"[?&]sig=([A-Za-z0-9%+/=_-]{32,128})")


def find_blocks(text: str) -> Iterator[Finding]:
    """Every framed secret, in no order."""
    yield from _private_keys(text)
    yield from _signed_tokens(text)
    yield from _url_credentials(text)
    yield from _headers(text)


def _private_keys(text: str) -> Iterator[Finding]:
    passed = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < passed:
            continue
        body_end = _key_material_end(text, begin.end())
        if body_end == begin.end():
            continue
        gap = _PEM_GAP.match(text, body_end)
        closing = _PEM_END.match(text, gap.end() if gap else body_end)
        passed = closing.end() if closing else body_end
        yield Finding("private_key", begin.start(), passed)


def _key_material_end(text: str, at: int) -> int:
    """Where the base64 lines that begin at `at` end; `at` itself where there is none."""
    end = at
    while True:
        gap = _PEM_GAP.match(text, end)
        start = gap.end() if gap else end
        parts = (pattern.match(text, start) for pattern in _PEM_PARTS)
        part = next((part for part in parts if part is not None), None)
        if part is None:
            return end
        end = part.end()


def _signed_tokens(text: str) -> Iterator[Finding]:
    if "eyJ" not in text:
        return
    for match in _JWT.finditer(text):
        if _is_jose_header(match[1]):
            yield Finding("jwt", match.start(), match.end())


def _is_jose_header(encoded: str) -> bool:
    try:
        header = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and not header.keys().isdisjoint({"alg", "typ", "enc", "kid"})


def _url_credentials(text: str) -> Iterator[Finding]:
    if "://" not in text:
        return
    for match in _URL_PASSWORD.finditer(text):
        if not _is_reference(match[1]):
            yield Finding("url_password", match.start(1), match.end(1))
    for match in _URL_TOKEN.finditer(text):
        if has_letter_and_digit(match[1]):
            yield Finding("url_password", match.start(1), match.end(1))
    for match in _SAS_SIGNATURE.finditer(text):
        if is_varied(match[1]):
            yield Finding("azure_key", match.start(1), match.end(1))


def _is_reference(password: str) -> bool:
    """A variable, a template, a mask or an earlier redaction in the place of a URL's password."""
    return password[0] in "$%{[<" or password.startswith("[redacted:") or set(password) <= set("*.xX")


def _headers(text: str) -> Iterator[Finding]:
    for match in _AUTHORIZATION.finditer(text):
        if is_plausible(match[1], Role.SECRET, Form.QUOTED):
            yield Finding("authorization", match.start(1), match.end(1))
    for match in _BEARER.finditer(text):
        if is_plausible(match[1], Role.TOKEN, Form.QUOTED):
            yield Finding("authorization", match.start(1), match.end(1))
    for match in _BASIC.finditer(text):
        if _is_user_and_password(match[1]):
            yield Finding("authorization", match.start(1), match.end(1))
    for match in _CURL_USER.finditer(text):
        if not _is_reference(match[1]) and is_plausible(match[1], Role.PASSWORD, Form.QUOTED):
            yield Finding("password", match.start(1), match.end(1))


def _is_user_and_password(encoded: str) -> bool:
    try:
        decoded = base64.b64decode(
            encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True
        ).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()
