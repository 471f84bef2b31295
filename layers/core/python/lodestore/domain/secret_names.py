"""Names that promise a secret: in code, settings, headers and sentences, in ten languages.

Owns: which identifiers and words name a secret, and what kind theirs is.
Guarantees: the last words of an identifier decide, so `password_policy`, `token_limit`, `secret_name`, `api_key_id`
and plurals name none; one pass over the text, each name looked at once.
Gives up: names that say nothing (`k`, `value`), and bare `key`, which is mostly a mapping's.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

from lodestore.domain.secret_values import Role

MAX_IDENTIFIER = 64
MAX_KEY = 512
# Same length as the text, unlike str.lower(), so that places in one are places in the other.
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)} | {
    upper: upper + 32 for upper in range(ord("\u0410"), ord("\u042f") + 1)
}
_KEYS = "api|access|secret|private|signing|encryption|account|shared|auth|master|service|deploy|webhook|license|client"
_NAME = re.compile(
    r"(?P<password>pass(?:word|wd|phrase|code|wort)|passwd|kennwort|contraseña|contrasena|mot de passe|motdepasse|senha"
    r"|wachtwoord|identified by|пароль|密码|密碼|口令|パスワード|비밀번호)"
    r"|(?P<loose>pass|pwd|pw)"
    r"|(?P<secret>secret(?:[ _-]?access)?(?:[ _-]?(?:key|token))?)"
    rf"|(?P<token>token|credential|_auth|(?:{_KEYS})[ _-]?(?:access[ _-]?)?key)"
)
_SUFFIX = re.compile(
    r"(?:[_-](?:value|prod|production|dev|test|staging|live|old|new|current|primary|main|\d{1,3})|\d{1,3})?"
)
# What may follow a name that has a value; looked at first, since most names in a text have none.
_MAY_HAVE_VALUE = re.compile(r"[\s\"'`\\\]*_):=>|\uff1a\uff1d是为は]|$")
_GOES_ON = re.compile(r"[a-z0-9_-]")
_IDENTIFIER_CHARACTERS = frozenset(string.ascii_letters + string.digits + "_.-")
_ROLES = {role.value: role for role in Role}
# Positions in a list and vocabulary entries of models, not credentials.
_HARMLESS_TOKEN = re.compile(
    r"(?:next|page|continuation|sync|cancel|cancellation|pad|eos|bos|unk|mask|sep|cls|stop|first|last|special|per)[_-]?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a secret. `identifier`: all of it, as far as it goes; `end`: where in the text it ends."""

    role: Role
    kind: str
    identifier: str
    start: int
    end: int

    @property
    def is_shouted(self) -> bool:
        """Written as an environment variable is: `DB_PASSWORD`."""
        return self.identifier.isupper()


def lowered(text: str) -> str:
    """ASCII and Cyrillic capitals as small letters, every character in its place."""
    return text.translate(_LOWER)


def next_name(text: str, small: str, at: int) -> Name | None:
    """The first name of a secret at or after `at`. `small` is `lowered(text)`, made once by the caller."""
    while (match := _NAME.search(small, at)) is not None:
        suffix = _SUFFIX.match(small, match.end())
        at = suffix.end() if suffix else match.end()
        if not _GOES_ON.match(small, at) and _MAY_HAVE_VALUE.match(small, at):
            name = _named(match, text, _identifier_start(text, match.start()), at)
            if name is not None:
                return name
    return None


def name_of(key: str) -> Name | None:
    """The name of a secret that `key`, a whole key of a mapping, ends in; None where it names none."""
    key = key.strip()[-MAX_KEY:]
    small = lowered(key)
    name = next_name(key, small, 0)
    while name is not None and name.end < len(key):
        name = next_name(key, small, name.end)
    return name


def _named(match: re.Match[str], text: str, start: int, end: int) -> Name | None:
    before = text[start : match.start()]
    role = _ROLES[match.lastgroup or ""]
    if role is Role.LOOSE:
        if before[-1:].isalnum() and not before[-2:].isupper():
            return None
        role = Role.PASSWORD if match[0] == "pwd" or before.strip("-.") else Role.LOOSE
    if match[0] == "token" and _HARMLESS_TOKEN.search(before):
        return None
    identifier = text[start:end]
    return Name(role, _kind(role, match[0], identifier.lower()), identifier, start, end)


def _kind(role: Role, word: str, identifier: str) -> str:
    if role in (Role.PASSWORD, Role.LOOSE):
        return "password"
    if "secret" in word and ("aws" in identifier or "access" in word):
        return "aws_secret_key"
    if word == "accountkey" or (word == "accesskey" and "shared" in identifier):
        return "azure_key"
    if word == "token" or word == "_auth":
        return "token"
    return "api_key" if role is Role.TOKEN else "secret"


def _identifier_start(text: str, start: int) -> int:
    least = max(start - MAX_IDENTIFIER, 0)
    while start > least and text[start - 1] in _IDENTIFIER_CHARACTERS:
        start -= 1
    return start
