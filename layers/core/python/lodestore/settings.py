"""Settings: what an operator may choose, read once from a mapping of variables.

Owns: names, defaults and checks of every variable (`interface.md`, "One machine").
Guarantees: an unknown value is refused by name before anything starts; nothing is read from the
environment here, so a test passes a plain dict.
Gives up: changing a setting at run time; restart instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from lodestore.errors import SettingsError


class Auth(StrEnum):
    """Who may call: anyone on loopback, holders of a key, an OAuth token's bearer, an IAM principal."""

    OPEN = "open"
    KEYS = "keys"
    OAUTH = "oauth"
    IAM = "iam"


class Embeddings(StrEnum):
    """Where vectors come from."""

    LOCAL = "local"
    NONE = "none"
    BEDROCK = "bedrock"
    OPENAI = "openai"


class SleepModel(StrEnum):
    """Whose language model the sleep asks, and nothing else does."""

    NONE = "none"
    BEDROCK = "bedrock"
    OPENAI = "openai"


class SecretPolicy(StrEnum):
    """What happens to a credential found in what a caller stores."""

    REDACT = "redact"
    REFUSE = "refuse"
    ALLOW = "allow"


DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One process's settings. Seconds are whole or fractional; `sleep_every` and `index_every` 0 = never.

    embed_*      what an embedder is told; None: its own default (docs/embedders.md)
    forget_window  seconds for which a forgotten memory can be restored; then the purge removes its old versions
    prune, sleep_off, tenant_upkeep   what maintenance may do, as `domain/upkeep_rules` reads it
    sleep_model_id, sleep_model_budget (tokens in one sleep of a tenant), sleep_model_price (US dollars for a million
                 tokens in, and out)   of the language model; None: not given
    pinned_instructions   the trusted sources of each tenant whose pinned memories go into its instructions
    index_store  s3://bucket of the index where it has one of its own (a deployment), and `store` names the state's
    maintenance_queue_url  the SQS queue of maintenance's tasks (a deployment); "": one process does them in turn
    iam_principals  JSON: an IAM principal's ARN to {"tenants": [...], "role": ...}
    requests_per_second, burst  what one tenant may ask of one process; None: no limit
    vector_bucket  the S3 Vectors bucket of tenants with more than `vector_index_threshold` memories; None: of none
    vector_text  full texts go there too, and are searched there
    encryption   None, "AES256", or "aws:kms" with `kms_key` (S3 server-side encryption of every object written)
    """

    host: str = "127.0.0.1"
    port: int = 8765
    data: str = ".lodestore"
    store: str = ""
    index_store: str = ""
    maintenance_queue_url: str = ""
    tenant: str = DEFAULT_TENANT
    auth: Auth = Auth.OPEN
    embeddings: Embeddings = Embeddings.LOCAL
    sleep_every: float = 3600.0
    index_every: float = 1.0
    forget_window: float = 86_400.0
    prune: str = ""
    sleep_off: str = ""
    tenant_upkeep: str = ""
    sleep_model: SleepModel = SleepModel.NONE
    sleep_model_id: str | None = None
    sleep_model_budget: int | None = None
    sleep_model_price: tuple[float, float] | None = None
    read_only: bool = False
    secrets: SecretPolicy = SecretPolicy.REDACT
    encryption: str | None = None
    kms_key: str | None = None
    pinned_instructions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    embed_model: str | None = None
    embed_dim: int | None = None
    embed_span_bytes: int | None = None
    embed_ask_dim: bool | None = None
    embed_query_prefix: str | None = None
    embed_passage_prefix: str | None = None
    oauth_issuer: str = ""
    oauth_audience: str = ""
    oauth_tenant_claim: str = "tenant"
    oauth_client_ids: tuple[str, ...] = ()
    iam_principals: str = ""
    vector_bucket: str = ""
    vector_index_threshold: int | None = None
    vector_text: bool = False
    requests_per_second: float | None = None
    burst: int = 60
    openai_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)

    @property
    def store_url(self) -> str:
        """`file://<folder>` or `s3://bucket[/prefix]`."""
        return self.store or f"file://{self.data}"


CONVERSATION_PATTERN = r"[!-+\--~]{1,512}"
TENANT_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"


def is_tenant(text: str) -> bool:
    """Whether `text` is a tenant's name; matching is exact, so `Acme` and `acme` are two tenants (P-TENANT)."""
    return re.fullmatch(TENANT_PATTERN, text, re.ASCII) is not None


SLEEP_TOKENS_MOST = 100_000_000
VECTOR_BUCKET_PATTERN = r"[a-z0-9][a-z0-9-.]{1,61}[a-z0-9]"
# What one index of S3 Vectors takes.
VECTORS_MOST = 2_000_000_000
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
# Set by the Lambda runtime and by nothing else.
ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"
_KNOWN = (
    "HOST PORT DATA STORE TENANT AUTH EMBEDDINGS SLEEP_EVERY INDEX_EVERY READ_ONLY SECRETS"
    " ENCRYPTION KMS_KEY FORGET_WINDOW PRUNE SLEEP_OFF TENANT_UPKEEP PINNED_INSTRUCTIONS"
    " INDEX_STORE OAUTH_ISSUER OAUTH_AUDIENCE OAUTH_TENANT_CLAIM OAUTH_CLIENT_IDS IAM_PRINCIPALS"
    " VECTOR_BUCKET VECTOR_INDEX_THRESHOLD VECTOR_TEXT"
    " REQUESTS_PER_SECOND BURST EMBED_MODEL EMBED_DIM EMBED_SPAN_BYTES EMBED_ASK_DIM OPENAI_BASE_URL OPENAI_API_KEY"
    " MAINTENANCE_QUEUE_URL SLEEP_MODEL SLEEP_MODEL_ID SLEEP_MODEL_BUDGET SLEEP_MODEL_PRICE"
).split()


def parse_settings(variables: Mapping[str, str]) -> Settings:
    """Settings from environment variables; unknown values raise SettingsError naming the variable.

    Variables outside the interface are ignored here: an environment always holds others.
    """
    given = {name: variables[name].strip() for name in _KNOWN if variables.get(name, "").strip()}
    settings = Settings(
        host=given.get("HOST", "127.0.0.1"),
        port=int(_number("PORT", given.get("PORT", "8765"), 0, 65_535, whole=True)),
        data=given.get("DATA", ".lodestore"),
        store=given.get("STORE", ""),
        index_store=given.get("INDEX_STORE", ""),
        maintenance_queue_url=given.get("MAINTENANCE_QUEUE_URL", ""),
        # An empty TENANT is a choice (no default tenant), unlike an empty value elsewhere.
        tenant=variables.get("TENANT", DEFAULT_TENANT).strip(),
        auth=_choice("AUTH", given.get("AUTH", "open"), Auth),
        embeddings=_choice("EMBEDDINGS", given.get("EMBEDDINGS", "local"), Embeddings),
        sleep_every=_number("SLEEP_EVERY", given.get("SLEEP_EVERY", "3600"), 0, 31_536_000),
        index_every=_number("INDEX_EVERY", given.get("INDEX_EVERY", "1"), 0, 86_400),
        forget_window=_number("FORGET_WINDOW", given.get("FORGET_WINDOW", "86400"), 0, 31_536_000),
        prune=given.get("PRUNE", ""),
        sleep_off=given.get("SLEEP_OFF", ""),
        tenant_upkeep=given.get("TENANT_UPKEEP", ""),
        sleep_model=_choice("SLEEP_MODEL", given.get("SLEEP_MODEL", "none"), SleepModel),
        sleep_model_id=given.get("SLEEP_MODEL_ID"),
        sleep_model_budget=_whole_or_none("SLEEP_MODEL_BUDGET", given, 2_000, SLEEP_TOKENS_MOST),
        sleep_model_price=_price(given),
        read_only=_choice("READ_ONLY", given.get("READ_ONLY", "0"), _Switch) is _Switch.ON,
        secrets=_choice("SECRETS", given.get("SECRETS", "redact"), SecretPolicy),
        encryption=given.get("ENCRYPTION"),
        kms_key=given.get("KMS_KEY"),
        pinned_instructions=_pinned_instructions(given.get("PINNED_INSTRUCTIONS", "")),
        embed_model=given.get("EMBED_MODEL"),
        embed_dim=_whole_or_none("EMBED_DIM", given, 1, 4_096),
        embed_span_bytes=_whole_or_none("EMBED_SPAN_BYTES", given, 700, 8_000),
        embed_ask_dim=_switch_or_none("EMBED_ASK_DIM", given),
        # A prefix such as "query: " ends in a blank that means something.
        embed_query_prefix=variables.get("EMBED_QUERY_PREFIX") or None,
        embed_passage_prefix=variables.get("EMBED_PASSAGE_PREFIX") or None,
        oauth_issuer=given.get("OAUTH_ISSUER", ""),
        oauth_audience=given.get("OAUTH_AUDIENCE", ""),
        oauth_tenant_claim=given.get("OAUTH_TENANT_CLAIM", "tenant"),
        oauth_client_ids=tuple(given.get("OAUTH_CLIENT_IDS", "").replace(",", " ").split()),
        iam_principals=given.get("IAM_PRINCIPALS", ""),
        vector_bucket=given.get("VECTOR_BUCKET", ""),
        vector_index_threshold=_whole_or_none("VECTOR_INDEX_THRESHOLD", given, 0, VECTORS_MOST),
        vector_text=_choice("VECTOR_TEXT", given.get("VECTOR_TEXT", "0"), _Switch) is _Switch.ON,
        requests_per_second=_rate(given),
        burst=int(_number("BURST", given.get("BURST", "60"), 1, 100_000, whole=True)),
        openai_base_url=given.get("OPENAI_BASE_URL"),
        openai_api_key=given.get("OPENAI_API_KEY"),
    )
    _check_together(settings)
    _check_vectors(settings)
    _check_access(settings)
    if ON_LAMBDA in variables:
        _check_deployed(settings)
    _check_conversation(variables.get("CONVERSATION", ""))
    return settings


class _Switch(StrEnum):
    OFF = "0"
    ON = "1"


_Kind = TypeVar("_Kind", bound=StrEnum)


def _choice(name: str, value: str, kind: type[_Kind]) -> _Kind:
    allowed = [str(member) for member in kind]
    if value not in allowed:
        raise SettingsError(f"{name} must be one of {' | '.join(allowed)}, not {value!r}")
    return kind(value)


def _number(name: str, value: str, least: float, most: float, *, whole: bool = False) -> float:
    try:
        number = int(value) if whole else float(value)
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        kind = "a whole number" if whole else "a number"
        raise SettingsError(f"{name} must be {kind} from {least:g} to {most:g}, not {value!r}")
    return number


def _whole_or_none(name: str, given: Mapping[str, str], least: int, most: int) -> int | None:
    return int(_number(name, given[name], least, most, whole=True)) if name in given else None


def _switch_or_none(name: str, given: Mapping[str, str]) -> bool | None:
    return _choice(name, given[name], _Switch) is _Switch.ON if name in given else None


def _pinned_instructions(value: str) -> dict[str, frozenset[str]]:
    """`tenant:source` pairs with commas between."""
    sources: dict[str, frozenset[str]] = {}
    for pair in filter(None, (part.strip() for part in value.split(","))):
        tenant, _, source = pair.partition(":")
        if not is_tenant(tenant) or not source:
            raise SettingsError(f"PINNED_INSTRUCTIONS must be TENANT:SOURCE pairs with commas, not {pair!r}")
        sources[tenant] = sources.get(tenant, frozenset()) | {source}
    return sources


def _check_conversation(name: str) -> None:
    if name and not re.fullmatch(CONVERSATION_PATTERN, name, re.ASCII):
        raise SettingsError(f"CONVERSATION must match {CONVERSATION_PATTERN}, not {name!r}")


def _check_together(settings: Settings) -> None:
    if settings.auth is Auth.OPEN and settings.host not in LOOPBACK_HOSTS:
        raise SettingsError(
            f"AUTH=open lets everyone in, so HOST must be loopback (127.0.0.1), not {settings.host!r}; set AUTH=keys"
        )
    if not settings.store_url.startswith(("file://", "s3://")):
        raise SettingsError(f"STORE must be file://FOLDER or s3://BUCKET[/PREFIX], not {settings.store!r}")
    if settings.index_store and not (
        settings.index_store.startswith("s3://") and settings.store.startswith("s3://")
    ):
        raise SettingsError(
            f"INDEX_STORE must be s3://BUCKET, beside STORE=s3://BUCKET, not {settings.index_store!r}"
        )
    if settings.maintenance_queue_url and not re.fullmatch(
        r"https?://[^\s?#]+", settings.maintenance_queue_url
    ):
        raise SettingsError(
            "MAINTENANCE_QUEUE_URL must be the https:// address of an SQS queue, not"
            f" {settings.maintenance_queue_url!r}"
        )
    if settings.encryption not in (None, "AES256", "aws:kms"):
        raise SettingsError(f"ENCRYPTION must be AES256 or aws:kms, not {settings.encryption!r}")
    if (settings.kms_key is not None) is not (settings.encryption == "aws:kms"):
        raise SettingsError("ENCRYPTION=aws:kms and KMS_KEY (the key's id) go together")
    if settings.tenant and not is_tenant(settings.tenant):
        raise SettingsError(f"TENANT must match {TENANT_PATTERN}, not {settings.tenant!r}")


def _check_vectors(settings: Settings) -> None:
    if settings.vector_bucket and not re.fullmatch(VECTOR_BUCKET_PATTERN, settings.vector_bucket):
        raise SettingsError(
            f"VECTOR_BUCKET must match {VECTOR_BUCKET_PATTERN}, not {settings.vector_bucket!r}"
        )
    for name, given in (
        ("VECTOR_INDEX_THRESHOLD", settings.vector_index_threshold is not None),
        ("VECTOR_TEXT=1", settings.vector_text),
    ):
        if given and not settings.vector_bucket:
            raise SettingsError(f"{name} needs VECTOR_BUCKET: the S3 Vectors bucket that vectors go to")


def _check_access(settings: Settings) -> None:
    if settings.auth is Auth.IAM and not settings.iam_principals:
        raise SettingsError("AUTH=iam needs IAM_PRINCIPALS: which principal may do what")
    if settings.auth is not Auth.OAUTH:
        return
    if not _is_issuer(settings.oauth_issuer):
        raise SettingsError(
            "AUTH=oauth needs OAUTH_ISSUER: https://HOST[/PATH] (http:// on loopback only), not"
            f" {settings.oauth_issuer!r}"
        )
    if not settings.oauth_audience and not settings.oauth_client_ids:
        raise SettingsError(
            "AUTH=oauth needs OAUTH_AUDIENCE, the endpoint's own address in its tokens (or OAUTH_CLIENT_IDS,"
            " where the issuer writes no audience)"
        )


def _is_issuer(text: str) -> bool:
    if not re.fullmatch(r"https?://[^\s?#]+", text):
        return False
    host = re.sub(r":\d+$", "", text.partition("://")[2].partition("/")[0]).strip("[]")
    return text.startswith("https://") or host in LOOPBACK_HOSTS


def _check_deployed(settings: Settings) -> None:
    if settings.auth is Auth.OPEN:
        raise SettingsError(
            "AUTH is missing or open: a deployed function lets in holders of a credential only"
        )
    if not settings.store.startswith("s3://"):
        raise SettingsError("STORE is missing: a deployed function keeps memories in s3://BUCKET")


def _rate(given: Mapping[str, str]) -> float | None:
    if "REQUESTS_PER_SECOND" not in given:
        return None
    return _number("REQUESTS_PER_SECOND", given["REQUESTS_PER_SECOND"], 0.001, 10_000)


def _price(given: Mapping[str, str]) -> tuple[float, float] | None:
    if "SLEEP_MODEL_PRICE" not in given:
        return None
    parts = given["SLEEP_MODEL_PRICE"].split()
    if len(parts) != 2:
        raise SettingsError(
            "SLEEP_MODEL_PRICE must be two numbers, US dollars for a million tokens in and out, not"
            f" {given['SLEEP_MODEL_PRICE']!r}"
        )
    read, written = (_number("SLEEP_MODEL_PRICE", part, 0, 10_000) for part in parts)
    return read, written
