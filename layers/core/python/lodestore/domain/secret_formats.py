"""Credentials that can be told by their own form, whatever stands around them.

Owns: the table of issuers' key formats. A new issuer is one line here and one in the tests.
Guarantees: each pattern begins with a literal and repeats one character class a bounded number of times, so a search
is linear by construction. Sources: the issuers' own documents of their prefixes and lengths.
Gives up: formats without a prefix of their own (those need a name beside them: `secret_assignments`), keys that
are split over lines or encoded once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lodestore.domain.secret_finding import Finding
from lodestore.domain.secret_values import has_letter_and_digit, is_varied

_START = r"(?<![A-Za-z0-9])"
_GLUED = re.compile(r"[A-Za-z0-9]*")


@dataclass(frozen=True, slots=True)
class Format:
    """One issuer's format. `literal` must be in a text for `pattern` to be tried; `accepts` judges the match."""

    kind: str
    literal: str
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool] = is_varied


def _format(kind: str, literal: str, rest: str, accepts: Callable[[str], bool] = is_varied) -> Format:
    return Format(kind, literal, re.compile(_START + re.escape(literal) + rest), accepts)


def _any(_: str) -> bool:
    return True


_URL_SAFE = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"

FORMATS = (
    *(_format("aws_access_key_id", prefix, "[A-Z0-9]{16}", _any) for prefix in ("AKIA", "ASIA")),
    _format("lodestore_key", "lode_", _URL_SAFE + "{43}"),
    *(_format("github_token", f"gh{letter}_", _ALNUM + "{30,255}") for letter in "pousr"),
    _format("github_token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
    *(
        _format("gitlab_token", prefix, "[A-Za-z0-9_.-]{20,255}")
        for prefix in ("glpat-", "gldt-", "glrt-", "glptt-")
    ),
    _format("slack_token", "xox", "[abeoprs]-[A-Za-z0-9-]{10,255}", has_letter_and_digit),
    _format("slack_token", "xapp-", "[A-Za-z0-9-]{20,255}", has_letter_and_digit),
    _format("slack_webhook", "hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,128}"),
    _format("discord_webhook", "discord.com/api/webhooks/", "[0-9]{8,24}/[A-Za-z0-9_-]{40,128}"),
    *(
        _format("stripe_key", prefix, _ALNUM + "{16,255}")
        for prefix in ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_")
    ),
    _format("anthropic_key", "sk-ant-", _URL_SAFE + "{20,255}", has_letter_and_digit),
    *(
        _format("openai_key", prefix, _URL_SAFE + "{20,255}", has_letter_and_digit)
        for prefix in ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-")
    ),
    _format("openai_key", "sk-", _ALNUM + "{20,255}", has_letter_and_digit),
    _format("google_api_key", "AIza", _URL_SAFE + "{35}"),
    _format("google_oauth_secret", "GOCSPX-", _URL_SAFE + "{24,64}"),
    _format("google_access_token", "ya29.", _URL_SAFE + "{20,512}"),
    _format("npm_token", "npm_", _ALNUM + "{36,255}"),
    _format("pypi_token", "pypi-", _URL_SAFE + "{40,512}", has_letter_and_digit),
    _format("huggingface_token", "hf_", _ALNUM + "{30,64}"),
    _format("twilio_key", "SK", "[0-9a-f]{32}"),
    _format("sendgrid_key", "SG.", "[A-Za-z0-9_-]{16,32}[.][A-Za-z0-9_-]{16,64}"),
    Format("telegram_token", ":AA", re.compile(_START + "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}")),
    _format("age_key", "AGE-SECRET-KEY-1", "[A-Z0-9]{40,80}"),
    _format("vault_token", "hvs.", _URL_SAFE + "{24,255}"),
    _format("digitalocean_token", "dop_v1_", "[0-9a-f]{64}"),
    _format("databricks_token", "dapi", "[0-9a-f]{32}"),
    *(_format("shopify_token", prefix, "[0-9a-fA-F]{32}") for prefix in ("shpat_", "shpss_", "shpca_")),
    _format("linear_key", "lin_api_", _ALNUM + "{32,64}"),
    _format("notion_token", "ntn_", _ALNUM + "{40,64}"),
    _format("groq_key", "gsk_", _ALNUM + "{40,64}"),
    _format("grafana_token", "glsa_", "[A-Za-z0-9_]{32,64}"),
    _format("postman_key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"),
    _format("replicate_token", "r8_", _ALNUM + "{37,40}"),
    _format("docker_token", "dckr_pat_", _URL_SAFE + "{24,64}"),
)


def find_formats(text: str) -> Iterator[Finding]:
    """Each credential of a known format in `text`, in no order."""
    for known in FORMATS:
        if known.literal not in text:
            continue
        for match in known.pattern.finditer(text):
            if known.accepts(match[0][len(known.literal) :]):
                # What is glued on goes too: else the rest could be read as the start of another one.
                yield Finding(known.kind, match.start(), _glued_end(text, match.end()))


def _glued_end(text: str, end: int) -> int:
    glued = _GLUED.match(text, end)
    return glued.end() if glued else end
