"""From an IAM principal whose signature AWS has checked to what it may do.

Owns: the map of principals, and how a session of a role is matched with the role. Guarantees: a principal that is not
in the map is refused, and no pattern ever matches more than the role or user that it names.
Gives up: checking signatures. The function URL does, and writes the principal where no caller can.

Source: "IAM identifiers" (ARNs of roles, users and assumed-role sessions) in the IAM user guide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from lodestore.domain.caller import Grant, Role
from lodestore.errors import Forbidden, SettingsError, Unauthenticated
from lodestore.services.caller_headers import FOR_THE_OPERATOR
from lodestore.settings import is_tenant

MOST_PRINCIPALS = 256
_SESSION = re.compile(r"arn:([a-z-]+):sts::(\d{12}):assumed-role/([^/]+)/[^/]+")
_ROLE = re.compile(r"arn:([a-z-]+):iam::(\d{12}):role/(?:.+/)?([^/]+)")


class IamAccess:
    """Grants by principal: ARN of a user, a role or one session of a role, to a Grant."""

    def __init__(self, principals: Mapping[str, Grant]) -> None:
        self._exact = dict(principals)
        # A session's ARN has the role's name without its path.
        self._roles = {
            found.groups(): grant for arn, grant in principals.items() if (found := _ROLE.fullmatch(arn))
        }

    def grant(self, _credential: str | None, principal: str | None) -> Grant:
        """What the principal may do. Raises Unauthenticated, Forbidden."""
        if principal is None:
            raise Unauthenticated(
                "This server takes requests that are signed for AWS, and this one is not.",
                next_step=f"Sign it with Signature Version 4 for the service lambda. {FOR_THE_OPERATOR}",
            )
        session = _SESSION.fullmatch(principal)
        grant = self._exact.get(principal) or (self._roles.get(session.groups()) if session else None)
        if grant is None:
            raise Forbidden(
                "This IAM principal has no tenant here.",
                field="principal",
                next_step=f"Add it to [principals] in the environment's settings and deploy. {FOR_THE_OPERATOR}",
            )
        return grant


def parse_principals(text: str) -> dict[str, Grant]:
    """IAM_PRINCIPALS as a map. Raises SettingsError."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise SettingsError("IAM_PRINCIPALS is no JSON") from None
    if not isinstance(given, dict) or not 1 <= len(given) <= MOST_PRINCIPALS:
        raise SettingsError(f"IAM_PRINCIPALS must be an object of 1 to {MOST_PRINCIPALS} principals")
    return {arn: _grant(arn, entry) for arn, entry in given.items()}


def _grant(arn: str, entry: object) -> Grant:
    fields = entry if isinstance(entry, dict) else {}
    tenants, role = fields.get("tenants"), fields.get("role")
    fit = (
        isinstance(tenants, list)
        and tenants
        and all(isinstance(name, str) and is_tenant(name) for name in tenants)
    )
    if (
        not isinstance(tenants, list)
        or not fit
        or role not in list(Role)
        or set(fields) != {"tenants", "role"}
    ):
        form = '{"tenants": [...], "role": "reader|writer|admin"}'
        raise SettingsError(f"IAM_PRINCIPALS: {arn} must be {form}")
    return Grant(Role(role), tuple(tenants))
