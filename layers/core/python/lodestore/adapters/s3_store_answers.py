"""What S3's answers mean, as values of the port.

Owns: the mapping from status, error code or lost connection to an outcome.
Guarantees: `Lost`, `Contended` and `Gone` only where S3 says so in its own words; whatever leaves open if a
write happened is `Unknown`; a refusal that certainly wrote nothing (no permission, no such bucket, no
credentials) is a StoreUnavailable and never `Unknown`. Causes hold S3's code, status and request id, and no
content.
Gives up: retries.

Source: S3 API reference, "Error responses", and PutObject, "Conditional writes": 412 PreconditionFailed,
409 ConditionalRequestConflict, 404 NoSuchKey on If-Match.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)
from botocore.parsers import ResponseParserError

from lodestore.adapters.s3_store_client import Response
from lodestore.adapters.store_failures import logged
from lodestore.ports.object_store import Contended, Gone, Lost, StoreUnavailable, Unknown

FAILURES = (ClientError, BotoCoreError, ResponseParserError)
# These are raised before a byte is sent.
UNSENT = (NoCredentialsError, PartialCredentialsError, CredentialRetrievalError, ParamValidationError)
# 4xx answers that do not say whether the request was carried out.
UNDECIDED_CODES = frozenset({"RequestTimeout", "Throttling", "ThrottlingException", "TooManyRequests"})
UNDECIDED_STATUSES = frozenset({408, 429})
NO_KEY_CODES = frozenset({"NoSuchKey", "NotFound", "404"})
NO_VERSION_CODES = NO_KEY_CODES | {"NoSuchVersion"}
BAD_VERSION_CODES = frozenset({"InvalidArgument", "NoSuchVersion"})


def write_outcome(failure: Exception, *, over: bool) -> Lost | Contended | Gone | Unknown:
    """What a failed conditional write means; `over`: it was to replace an object (If-Match).

    Raises StoreUnavailable where it was refused: nothing is written.
    """
    if isinstance(failure, ClientError):
        status, code = status_of(failure), code_of(failure)
        if status == 412:
            return Lost()
        if status == 409:
            return Contended()
        if over and status == 404 and code in NO_KEY_CODES:
            return Gone()
        if 300 <= status < 500 and code not in UNDECIDED_CODES and status not in UNDECIDED_STATUSES:
            raise StoreUnavailable(logged(f"nothing was written: {cause_of(failure)}")) from failure
    elif isinstance(failure, UNSENT):
        raise StoreUnavailable(logged(f"nothing was sent: {cause_of(failure)}")) from failure
    return Unknown(logged(cause_of(failure)))


def is_missing(failure: ClientError) -> bool:
    """Whether a read says that there is no such object (and not: no such bucket)."""
    return status_of(failure) == 404 and code_of(failure) in NO_KEY_CODES


def is_no_version(failure: ClientError) -> bool:
    """Whether S3 says that there is no such version: also by refusing its id, or to read a delete marker (405)."""
    status, code = status_of(failure), code_of(failure)
    return (status == 404 and code in NO_VERSION_CODES) or status == 405 or code in BAD_VERSION_CODES


@contextmanager
def reading() -> Iterator[None]:
    """Turns whatever the SDK raises into StoreUnavailable."""
    try:
        yield
    except FAILURES as failure:
        raise StoreUnavailable(logged(cause_of(failure))) from failure


def answered_at(response: Response) -> datetime:
    """The store's own clock when it answered: the `Date` header, in whole seconds. Raises StoreUnavailable."""
    date = response["ResponseMetadata"].get("HTTPHeaders", {}).get("date", "")
    try:
        return parsedate_to_datetime(date)
    except ValueError as failure:
        raise StoreUnavailable("the answer has no Date") from failure


def status_of(failure: ClientError) -> int:
    """The HTTP status; 0 where the SDK kept none."""
    return int(_metadata(failure).get("HTTPStatusCode", 0))


def code_of(failure: ClientError) -> str:
    """S3's error code; the status as text where the answer has no body."""
    return str(failure.response.get("Error", {}).get("Code", ""))


def cause_of(failure: Exception) -> str:
    """For the log: the operation, the code and the request's id, or the kind of the SDK's own error."""
    if not isinstance(failure, ClientError):
        return type(failure).__name__
    request_id = _metadata(failure).get("RequestId", "")
    return f"{failure.operation_name} {code_of(failure)} {status_of(failure)} {request_id}".rstrip()


def _metadata(failure: ClientError) -> Mapping[str, Any]:
    return failure.response.get("ResponseMetadata", {})
