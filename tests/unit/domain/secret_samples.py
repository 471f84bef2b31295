"""Synthetic secrets: of each, the text, the part that must go, and the kind that is to be named.

Every one is put together from pieces here, so that a scanner of code hosts does not take this file for a leak.
None has ever opened anything.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

_MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY" + "zC5bD7eF9"  # 41 characters
_HEX = "9f86d081884c7d65" + "9a2feaa0c55ad015"  # 32 characters
_AWS_SECRET = "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"
_PASSWORD = "hunter2" + "!X9"
_PEM_LINES = "\n".join(["MIIEowIBAAKCAQEA" + _MIXED * 1 + "abcdefg"] * 3)


@dataclass(frozen=True, slots=True)
class Sample:
    """`secret` is part of `text` and must be gone from what is stored; the rest of `text` is its surroundings."""

    kind: str
    text: str
    secret: str


def _sample(kind: str, secret: str, text: str = "{}") -> Sample:
    return Sample(kind, text.replace("{}", secret), secret)


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


_JWT = ".".join((_encoded({"alg": "HS256", "typ": "JWT"}), _encoded({"sub": "nora"}), _MIXED))
_BASIC = base64.b64encode(b"nora:" + _PASSWORD.encode()).decode()


def _pem(label: str, *, closed: bool = True) -> str:
    end = f"\n-----END {label}-----" if closed else ""
    return f"-----BEGIN {label}-----\n{_PEM_LINES}{end}"


FORMATS = (
    _sample("aws_access_key_id", "AKIA" + "0000EXAMPLE00000", "use key {} for staging"),
    _sample("aws_access_key_id", "ASIA" + "QWERTY1234567890", "AWS_ACCESS_KEY_ID={}"),
    _sample("aws_access_key_id", "AKIA" + "IOSFODNN7EXAMPLE", "密钥{}，仅供测试"),
    _sample("lodestore_key", "lode_" + _MIXED + "-_", "our key is {}."),
    _sample("github_token", "ghp_" + _MIXED[:36], "push with {} please"),
    _sample("github_token", "gho_" + _MIXED[:36]),
    _sample("github_token", "ghs_" + _MIXED[:36], "(`{}`)"),
    _sample("github_token", "ghu_" + _MIXED[:36], '{"t": "{}"}'),
    _sample("github_token", "github_pat_" + _MIXED + "_" + _MIXED, "export GH={}"),
    _sample("gitlab_token", "glpat-" + _MIXED[:20], "GitLab: {}"),
    _sample("slack_token", "xoxb-" + "123456789012-" + _MIXED[:24], "bot {}"),
    _sample("slack_token", "xoxp-" + "123456789012-" + _MIXED[:24]),
    _sample(
        "slack_webhook",
        "hooks.slack.com/" + "services/T0AB1CD2E/B3FG4HI5J/" + _MIXED[:24],
        "post to https://{}",
    ),
    _sample("stripe_key", "sk_live_" + _MIXED[:24], "Stripe {} is for EU"),
    _sample("stripe_key", "rk_live_" + _MIXED[:24]),
    _sample("openai_key", "sk-" + _MIXED[:32] + "T3BlbkFJ", "key: {}"),
    _sample("openai_key", "sk-proj-" + _MIXED + "_-" + _MIXED, "OPENAI_API_KEY={}"),
    _sample("anthropic_key", "sk-ant-" + "api03-" + _MIXED + "-" + _MIXED, "claude uses {} now"),
    _sample("google_api_key", "AIza" + "Sy" + _MIXED[:33], "maps?key={}"),
    _sample("google_oauth_secret", "GOCSPX-" + _MIXED[:28]),
    _sample("npm_token", "npm_" + _MIXED[:36], "//registry.example/:_authToken={}"),
    _sample("pypi_token", "pypi-" + "AgEIcHlwaS5vcmc" + _MIXED * 2, "upload with {}"),
    _sample("huggingface_token", "hf_" + _MIXED[:34], "HF: {}"),
    _sample("twilio_key", "SK" + _HEX, "twilio {}"),
    _sample("sendgrid_key", "SG." + _MIXED[:22] + "." + _MIXED + "ab", "mail {}"),
    _sample("telegram_token", "123456789:" + "AA" + _MIXED[:33], "bot {}"),
    _sample(
        "age_key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE", "{}"
    ),
    _sample("vault_token", "hvs." + _MIXED[:30]),
    _sample("shopify_token", "shpat_" + _HEX),
    _sample("groq_key", "gsk_" + _MIXED + _MIXED[:11]),
)

BLOCKS = (
    _sample("jwt", _JWT, "session {} expires soon"),
    _sample("jwt", _JWT, "Authorization: Bearer {}"),
    _sample("private_key", _pem("RSA PRIVATE " + "KEY"), "the key:\n{}\nkeep it"),
    _sample("private_key", _pem("OPENSSH PRIVATE " + "KEY"), "```\n{}\n```"),
    _sample("private_key", _pem("PGP PRIVATE " + "KEY BLOCK").replace("\n-----END", "\n=aB3d\n-----END")),
    _sample("private_key", _pem("PRIVATE " + "KEY", closed=False), "cut off: {}"),
    _sample("private_key", _pem("EC PRIVATE " + "KEY").replace("\n", "\\n"), '{"private_key": "{}\\n"}'),
    _sample("url_password", "s3cr" + "3t", "postgres://app:{}@db.internal:5432/app?sslmode=require"),
    _sample("url_password", "pa" + "ss", "postgres://user:{}@host"),
    _sample("url_password", "p@" + "ss2", "redis://:{}@cache:6379/0"),
    _sample("url_password", _MIXED[:32], "git clone https://{}@git.example/team/repo.git"),
    _sample("authorization", _MIXED[:24], "curl -H 'Authorization: Bearer {}' https://api.example"),
    _sample("authorization", _BASIC, "Authorization: Basic {}"),
    _sample("authorization", _MIXED[:32], '{"headers": {"Authorization": "Bearer {}"}}'),
    _sample("authorization", _MIXED[:28], "send it as Bearer {} every time"),
    _sample("password", _PASSWORD, "curl -u nora:{} https://api.example/v1"),
    _sample("azure_key", _MIXED[:40] + "%3D", "https://a.blob.example/c?sv=2024&sig={}"),
)

ASSIGNMENTS = (
    _sample("password", _PASSWORD, "password={}"),
    _sample("password", _PASSWORD, "passwd: {}"),
    _sample("password", "hunter" + "2", "pwd = {}"),
    _sample("password", _PASSWORD, "PASSWORD : {}"),
    _sample("password", _PASSWORD, "The staging password is {}."),
    _sample("password", "hunter" + "2x", "the password is 'hunter" + "2x', ask Nora"),
    _sample("password", _PASSWORD, '{"db": {"user": "sa", "password": "{}"}}'),
    _sample("password", _PASSWORD, '{\\"password\\": \\"{}\\"}'),
    _sample("password", "let" + "mein", "export DB_PASSWORD=let" + "mein"),
    _sample("password", "let" + "mein", 'db_password = "let' + 'mein"'),
    _sample("password", _PASSWORD, "db:\n  user: app\n  password: {}\n  host: x"),
    _sample("password", _PASSWORD, "**Password:** `{}`"),
    _sample("password", _PASSWORD, "```yaml\npassword: {}\n```"),
    _sample("password", _PASSWORD, "<password>{}</password>"),
    _sample("password", _PASSWORD, "mysql --password {} -h db"),
    _sample("password", _PASSWORD, "Server=db;User Id=sa;Password={};Encrypt=true"),
    _sample("password", _PASSWORD, "dbPassword: '{}',"),
    _sample("password", _PASSWORD, "Das Passwort lautet: {}"),
    _sample("password", _PASSWORD, "пароль: {}"),
    _sample("password", _PASSWORD, "密码：{}"),
    _sample("password", "4488" + "1207", "passcode: 4488" + "1207"),
    _sample(
        "password", "correct horse " + "battery staple", 'passphrase = "correct horse ' + 'battery staple"'
    ),
    _sample("password", _PASSWORD, "https://x.example/login?password={}&next=/home"),
    _sample("secret", _MIXED[:20], "client_secret: {}"),
    _sample("secret", _MIXED[:20], "SECRET={}"),
    _sample("token", _MIXED[:20], "token = '{}'"),
    _sample("token", _MIXED[:20], "?access_token={}&x=1"),
    _sample("token", _MIXED[:30], "_authToken={}"),
    _sample("api_key", _MIXED[:24], "X-API-Key: {}"),
    _sample("api_key", _HEX, "api_key={}"),
    _sample("api_key", "550e8400-e29b-41d4-" + "a716-446655440000", "HEROKU_API_KEY={}"),
    _sample("api_key", _MIXED[:24], "the API key is {}"),
    _sample("api_key", _MIXED[:24], "apiKey: `{}`"),
    _sample("aws_secret_key", _AWS_SECRET, "aws_secret_access_key = {}"),
    _sample("aws_secret_key", _AWS_SECRET, "AWS_SECRET_ACCESS_KEY={}"),
    _sample("aws_secret_key", _AWS_SECRET, '"SecretAccessKey": "{}"'),
    _sample(
        "azure_key",
        _MIXED * 2 + "abcd==",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
    ),
)

RANDOM = (
    _sample("random_token", _MIXED[:36], "use {} to sign in"),
    _sample("random_token", _MIXED[:34] + "_", "the signing credential we got: {}"),
    _sample("aws_secret_key", _AWS_SECRET, "The AWS secret of the sandbox: ask first, then use {} with it"),
    _sample("aws_secret_key", _AWS_SECRET[:-7] + "q3R9t5Z", "our AWS secret for the sandbox, {}"),
)

SAMPLES = FORMATS + BLOCKS + ASSIGNMENTS + RANDOM
