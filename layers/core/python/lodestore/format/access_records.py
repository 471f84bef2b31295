"""What an API key allows, as JSON: the objects under the access prefix.

Owns: schema 1 of `{schema, tenants, role, created_at}`. The key is nowhere in it; its SHA-256 is the name.
Guarantees: what decodes has at least one well-formed tenant and a known role.
Gives up: fields that a later schema may add; they are ignored, and a higher schema is refused.
"""

from __future__ import annotations

import json
from datetime import datetime

from lodestore.domain.caller import Grant, Role
from lodestore.domain.moments import format_moment
from lodestore.settings import is_tenant

SCHEMA = 1
MOST_BYTES = 65_536


def encode_access(tenants: tuple[str, ...], role: Role, created_at: datetime) -> bytes:
    """UTF-8 JSON, two spaces deep."""
    fields = {
        "schema": SCHEMA,
        "tenants": list(tenants),
        "role": str(role),
        "created_at": format_moment(created_at),
    }
    return (json.dumps(fields, indent=2) + "\n").encode()


def decode_access(body: bytes) -> Grant:
    """The grant that `body` holds. Raises ValueError, with nothing of the body in it."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError) as cause:
        raise ValueError("not JSON") from cause
    if not isinstance(fields, dict) or fields.get("schema") != SCHEMA:
        raise ValueError("unknown schema")
    tenants = fields.get("tenants")
    if not isinstance(tenants, list) or not tenants:
        raise ValueError("no tenants")
    if not all(isinstance(tenant, str) and is_tenant(tenant) for tenant in tenants):
        raise ValueError("a tenant is malformed")
    return Grant(Role(str(fields.get("role"))), tuple(tenants))
