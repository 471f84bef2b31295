"""The settings of one environment: `infra/environments/<name>.toml`, read strictly.

Owns: every key that an environment may set, its default and its bounds. Guarantees: an unknown key, a wrong value
or a contradiction stops the synth with the file and the key named; nothing is read but that file.
Gives up: settings of one machine; those are variables of `make run`.
"""

from __future__ import annotations

import json
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

ENVIRONMENTS = ("dev", "test", "prod")
TENANT = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
PRINCIPAL = r"^arn:aws[a-z-]*:(iam|sts)::\d{12}:(role|user|assumed-role|root)(/.+)?$"
PROFILE = r"^(us|eu|apac|jp|au|ca|us-gov|global)\."
HTTPS = r"^https://[^\s?#]+$"
UPKEEP_CHARACTERS = 2_500
# US dollars for a million tokens.
Price = Annotated[float, Field(ge=0, le=10_000)]
# The longest that one run of the indexer takes.
INDEXER_SECONDS = 600


class WrongSettings(Exception):
    """The settings can't be used; one line that names file, key and fault."""


class Auth(StrEnum):
    """Who may call. Open mode is missing: it is for loopback only."""

    KEYS = "keys"
    OAUTH = "oauth"
    IAM = "iam"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class OAuth(_Strict):
    """The issuer whose tokens are taken. `client_ids`: Cognito's shape, tokens without an audience."""

    issuer: Annotated[str, Field(pattern=HTTPS)]
    audience: str = ""
    tenant_claim: str = "tenant"
    client_ids: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _bound_to_us(self) -> OAuth:
        if not self.audience and not self.client_ids:
            raise ValueError("set audience, or client_ids for an issuer without audiences (Cognito)")
        return self


class Principal(_Strict):
    """What one IAM principal may do."""

    tenants: Annotated[tuple[Annotated[str, Field(pattern=TENANT)], ...], Field(min_length=1, max_length=256)]
    role: Literal["reader", "writer", "admin"]


class Environment(_Strict):
    """One environment. Sizes in MB, times as their names say.

    retain       the buckets and queues outlive the stack; False destroys them with it
    vectors      the S3 Vectors bucket; without it, `vector_bucket` names one that was made elsewhere (the emulator
                 makes none)
    vector_index_threshold  tenants with more memories than this use it; vector_text: contents go there, too
    concurrency  how many MCP requests run at once at most (reserved); None: the account's pool
    visibility_seconds   how long a change that an indexer was given is kept from others: six times what it runs at
                         most, as Lambda advises, so that no batch is worked on twice; short for the emulator alone
    receives_most        how often a change or a task is given out before it goes to a dead-letter queue
    maintenance_workers  how many batches of tenants are looked after at once at most (Lambda takes 2 as the least)
    forget_window_hours  for which a forgotten memory can be restored
    prune, sleep_off, tenant_upkeep   what maintenance may do (docs/maintenance.md); the functions refuse to work with
                 rules that are none, each by name
    sleep_model  bedrock: maintenance, and nothing else, may invoke `sleep_model_id` (docs/consolidation.md)
    embeddings   local needs the model layer, bedrock the permission to invoke `embed_model`
    """

    name: Literal["dev", "test", "prod"]
    architecture: Literal["arm64", "x86_64"] = "arm64"
    python: Literal["3.11", "3.12", "3.13"] = "3.13"
    auth: Auth = Auth.KEYS
    oauth: OAuth | None = None
    principals: dict[Annotated[str, Field(pattern=PRINCIPAL)], Principal] = {}
    embeddings: Literal["none", "local", "bedrock"] = "none"
    embed_model: Annotated[str, Field(pattern=r"^[a-z0-9.:-]{1,128}$")] = "amazon.titan-embed-text-v2:0"
    sleep_model: Literal["none", "bedrock"] = "none"
    sleep_model_id: Annotated[str, Field(pattern=r"^[a-z0-9.:-]{1,128}$")] | None = None
    sleep_model_budget: Annotated[int, Field(ge=2_000, le=100_000_000)] | None = None
    sleep_model_price: tuple[Price, Price] | None = None
    retain: bool = False
    kms: bool = False
    vectors: bool = True
    vector_bucket: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-.]{1,61}[a-z0-9]$")] | None = None
    vector_index_threshold: Annotated[int, Field(ge=0, le=2_000_000_000)] = 100_000
    vector_text: bool = False
    history_days: Annotated[int, Field(ge=2, le=3650)] = 365
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = 20
    requests_per_second: Annotated[float, Field(gt=0, le=10_000)] = 20.0
    burst: Annotated[int, Field(ge=1, le=100_000)] = 60
    allowed_origins: tuple[Annotated[str, Field(pattern=r"^https://[^\s/,]+$")], ...] = ()
    visibility_seconds: Annotated[int, Field(ge=10, le=43_200)] = 6 * INDEXER_SECONDS
    receives_most: Annotated[int, Field(ge=1, le=1000)] = 5
    forget_window_hours: Annotated[float, Field(ge=1, le=8_760)] = 24
    prune: tuple[dict[str, Any], ...] = ()
    sleep_off: tuple[Annotated[str, Field(pattern=r"^[a-z_]+$")], ...] = ()
    tenant_upkeep: dict[str, dict[str, Any]] = {}
    maintenance_minutes: Annotated[int, Field(ge=1, le=1440)] = 60
    maintenance_workers: Annotated[int, Field(ge=2, le=1000)] = 4
    memory_mb: Annotated[int, Field(ge=256, le=10_240)] = 1769
    log_days: Literal[1, 3, 5, 7, 14, 30, 60, 90, 180, 365] = 30
    alarms: bool = False
    dashboard: bool = False
    alarm_email: Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$")] | None = None

    @model_validator(mode="after")
    def _together(self) -> Environment:
        if (self.auth is Auth.OAUTH) is not (self.oauth is not None):
            raise ValueError("auth = oauth and the table [oauth] go together")
        if (self.auth is Auth.IAM) is not bool(self.principals):
            raise ValueError("auth = iam and the table [principals] go together")
        if self.embeddings == "bedrock" and re.match(PROFILE, self.embed_model):
            raise ValueError("embed_model: an inference profile spans regions; name a model of this region")
        self._check_model()
        if self.vectors and self.vector_bucket is not None:
            raise ValueError("vector_bucket names a bucket made elsewhere, and needs vectors = false")
        if self.alarm_email is not None and not self.alarms:
            raise ValueError("alarm_email needs alarms = true")
        if self.visibility_seconds < INDEXER_SECONDS and self.name != "test":
            raise ValueError(f"visibility_seconds must be {INDEXER_SECONDS} or more: Lambda refuses less")
        if sum(map(len, self.upkeep_variables.values())) > UPKEEP_CHARACTERS:
            raise ValueError(
                f"prune, sleep_off and tenant_upkeep must be {UPKEEP_CHARACTERS:,} characters of JSON at most:"
                " a function's variables hold 4 kB in all"
            )
        return self

    def _check_model(self) -> None:
        given = (self.sleep_model_id, self.sleep_model_budget, self.sleep_model_price)
        if self.sleep_model == "none" and given != (None, None, None):
            raise ValueError(
                "sleep_model_id, sleep_model_budget and sleep_model_price need sleep_model = bedrock"
            )
        if self.sleep_model == "bedrock" and self.sleep_model_id is None:
            raise ValueError("sleep_model = bedrock needs sleep_model_id")
        if re.match(PROFILE, self.sleep_model_id or ""):
            raise ValueError(
                "sleep_model_id: an inference profile spans regions; name a model of this region"
            )

    @property
    def model_variables(self) -> dict[str, str]:
        """What maintenance alone is told of the language model; none where there is none."""
        if self.sleep_model_id is None:
            return {}
        told = {"SLEEP_MODEL": self.sleep_model, "SLEEP_MODEL_ID": self.sleep_model_id}
        if self.sleep_model_budget is not None:
            told["SLEEP_MODEL_BUDGET"] = str(self.sleep_model_budget)
        if self.sleep_model_price is not None:
            told["SLEEP_MODEL_PRICE"] = " ".join(f"{price:g}" for price in self.sleep_model_price)
        return told

    @property
    def upkeep_variables(self) -> dict[str, str]:
        """What the functions are told of maintenance; "" where nothing is."""
        return {
            "FORGET_WINDOW": f"{self.forget_window_hours * 3600:g}",
            "PRUNE": _compact(self.prune) if self.prune else "",
            "SLEEP_OFF": " ".join(self.sleep_off),
            "TENANT_UPKEEP": _compact(self.tenant_upkeep) if self.tenant_upkeep else "",
        }

    @property
    def prefix(self) -> str:
        """What the names of this environment begin with."""
        return f"lodestore-{self.name}"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load(folder: Path, name: str, *, python: str | None = None) -> Environment:
    """The environment `name`; `python` takes the place of the file's. Raises WrongSettings."""
    if name not in ENVIRONMENTS:
        raise WrongSettings(f"ENV must be one of {' | '.join(ENVIRONMENTS)}, not {name!r}")
    path = folder / f"{name}.toml"
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongSettings(f"{path.name}: can't be read: {error}") from error
    if "name" in given:
        raise WrongSettings(f"{path.name}: name: the file's own name decides it")
    chosen = {} if python is None else {"python": python}
    try:
        return Environment.model_validate({**given, **chosen, "name": name})
    except ValidationError as error:
        raise WrongSettings(f"{path.name}: " + "; ".join(_lines(error))) from None


def _lines(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(map(str, fault['loc'])) or 'settings'}: "
        + re.sub(r"^Extra inputs are not permitted$", "unknown key", fault["msg"])
        for fault in error.errors(include_url=False, include_input=False)
    ]
