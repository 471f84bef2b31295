"""One POST to an OpenAI-compatible service, with every wait bounded.

Owns: the connection, the key, retries. Guarantees: at most ATTEMPTS requests, on 429, 5xx and lost connections only;
waits as long as the service asks (Retry-After) if that is no longer than LONGEST_WAIT, and not at all if it is; all
of it ends within DEADLINE_SECONDS and one attempt; no redirect is followed (the key would follow too); the answer is
read up to a bound; an error holds the status and the service's short code, never a text, a body or the key.
Gives up: proxies, and certificates that the system does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import urllib3

from lodestore.adapters.sdk_logs import keep_content_out
from lodestore.ports.clock import Clock, Entropy

CONNECT_SECONDS = 2
READ_SECONDS = 10
ATTEMPTS = 3
DEADLINE_SECONDS = 30
FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
REPEATED = frozenset({408, 429, 500, 502, 503, 504})
_CHUNK = 65_536
_ERROR_BYTES = 16_384
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class ServiceFailed(Exception):
    """No answer that can be used; the text is for the log, and holds nothing of what was sent.

    status   of the answer; None where none came
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """What the service is called in errors, and how long it may take between two bytes, and in all."""

    service: str = "the embedding service"
    read_seconds: float = READ_SECONDS
    deadline_seconds: float = DEADLINE_SECONDS


@dataclass(frozen=True, slots=True)
class _Refusal:
    """An attempt that gave no answer: why, if it may be repeated, and the wait that the service asked for."""

    reason: str
    again: bool
    wait: float | None = None
    status: int | None = None


class Endpoint:
    """The service at `base` (an address that ends in its version, such as `.../v1`). Thread-safe."""

    def __init__(
        self, base: str, key: str | None, clock: Clock, entropy: Entropy, patience: Patience | None = None
    ) -> None:
        self._base = base.rstrip("/")
        self._patience = patience or Patience()
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._clock = clock
        self._entropy = entropy
        keep_content_out()
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=self._patience.read_seconds)
        self._http = urllib3.PoolManager(maxsize=8, retries=False, timeout=timeout)

    def post(self, path: str, body: Mapping[str, object], most_bytes: int) -> Mapping[str, object]:
        """The JSON object that the service answers, of at most `most_bytes` bytes. Raises ServiceFailed."""
        content = json.dumps(body).encode()
        ends = self._clock.elapsed() + self._patience.deadline_seconds
        attempt = 1
        while True:
            answer = self._attempt(f"{self._base}/{path}", content, most_bytes, ends)
            if not isinstance(answer, _Refusal):
                return answer
            wait = self._wait(attempt, answer)
            over = self._clock.elapsed() + wait >= ends
            if not answer.again or attempt == ATTEMPTS or wait > LONGEST_WAIT or over:
                raise ServiceFailed(f"{answer.reason} (attempt {attempt})", answer.status)
            self._clock.pause(wait)
            attempt += 1

    def _wait(self, attempt: int, refusal: _Refusal) -> float:
        jitter = (1 + self._entropy.fraction()) / 2
        backoff: float = FIRST_WAIT * 2 ** (attempt - 1) * jitter
        return max(refusal.wait or 0.0, backoff)

    def _attempt(self, url: str, content: bytes, most: int, ends: float) -> Mapping[str, object] | _Refusal:
        try:
            response = self._http.request(
                "POST", url, body=content, headers=self._headers, redirect=False, preload_content=False
            )
            with response:
                found = self._read(response, most if response.status == 200 else _ERROR_BYTES, ends)
        except urllib3.exceptions.HTTPError as failure:
            return _Refusal(f"{self._patience.service}: {type(failure).__name__}", again=True)
        if response.status != 200:
            return self._refusal(response, found)
        if found is None:
            return _Refusal(
                f"{self._patience.service} sent more than {most} bytes or was too slow", again=False
            )
        answer = _json(found)
        if not isinstance(answer, Mapping):
            return _Refusal(
                f"{self._patience.service} answered something else than a JSON object", again=False
            )
        return answer

    def _read(self, response: urllib3.BaseHTTPResponse, most: int, ends: float) -> bytes | None:
        """The body; None where it is too long, or still not there when the time is over."""
        found = bytearray()
        while chunk := response.read1(_CHUNK):
            found += chunk
            if len(found) > most or self._clock.elapsed() >= ends:
                return None
        return bytes(found)

    def _refusal(self, response: urllib3.BaseHTTPResponse, found: bytes | None) -> _Refusal:
        answer = _json(found or b"")
        error = answer.get("error") if isinstance(answer, Mapping) else None
        named = (error.get("code") or error.get("type")) if isinstance(error, Mapping) else None
        code = f" {named}" if isinstance(named, str) and _CODE.fullmatch(named) else ""
        return _Refusal(
            f"{self._patience.service}: {response.status}{code}",
            again=response.status in REPEATED,
            wait=self._seconds(response.headers.get("Retry-After", "")),
            status=response.status,
        )

    def _seconds(self, value: str) -> float | None:
        """Retry-After as seconds from now (RFC 9110, 10.2.3: a number of them, or a date)."""
        if value.strip().isdecimal():
            return float(value)
        try:
            until = parsedate_to_datetime(value)
            return max(0.0, (until - self._clock.now()).total_seconds())
        except (ValueError, TypeError):
            return None


def _json(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
