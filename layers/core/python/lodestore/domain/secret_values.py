"""Whether a value that stands where a secret would is one.

Owns: the difference between `password = hunter2!X9` and `password = settings.password`.
Guarantees: references to where a secret is kept (variables, vault paths, calls, templates), placeholders, sizes, dates,
versions, algorithms and plain words are never taken for the secret; each test is linear in the value.
Gives up: an unquoted password of letters only (`password: letmein`) reads like a word, and stays, except in a shell's
`DB_PASSWORD=letmein`; placeholders that are in real use (`changeme`) stay.
"""

from __future__ import annotations

import re
from enum import Enum

MAX_VALUE = 512
LONG_STATED = 16
LONG_MIX = 20
_SPACE = re.compile(r"\s")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_HARD_SYMBOL = re.compile(r"[!@#$%^&*+=?~]")
_INNER_SYMBOL = re.compile(r"(?<=\w)[!#$%^&*~?]+(?=\w)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


class Role(Enum):
    """What a name says of its value. LOOSE: names such as `pass` that as often mean something else."""

    PASSWORD = "password"  # noqa: S105 - a name
    SECRET = "secret"  # noqa: S105 - a name
    TOKEN = "token"  # noqa: S105 - a name
    LOOSE = "loose"


class Form(Enum):
    """How name and value are joined: `name = "v"`, `name = v`, `NAME=v`, `the name is "v"`, `the name is v.`,
    `the name is v and …`, `name v`."""

    QUOTED = "quoted"
    BARE = "bare"
    SHELL = "shell"
    STATED_QUOTED = "stated_quoted"
    STATED_LAST = "stated_last"
    STATED = "stated"
    BESIDE = "beside"


_SENTENCE_FORMS = frozenset({Form.STATED_QUOTED, Form.STATED_LAST, Form.STATED, Form.BESIDE})


_LEAST = {Role.PASSWORD: 6, Role.SECRET: 6, Role.TOKEN: 8, Role.LOOSE: 6}

_WORDS = frozenset(
    "1password absent admin anonymous basic bearer bitwarden boolean bytes changeme changed changeit contraseña default"
    " digest disabled dynamic empty enabled encrypted environment example expired expires external false forbidden"
    " generated hashed hidden ignored incorrect inherit integer internal invalid kennwort keychain keyring lastpass"
    " letters literal managed manual masked missing number object optional override passcode passphrase password"
    " passwort placeholder plaintext private prompt protected provided public redacted refresh removed required reset"
    " rotated secret secrets senha session stored string strings strong temporary testing token tokens undefined"
    " unknown unlimited unset update updated username vaulted verified wrong".split()
)
_UNITS = (
    "s|ms|m|h|d|w|k|x|days?|hours?|minutes?|mins?|seconds?|secs?|weeks?|months?|years?|chars?|characters?|bytes?|bits?"
    "|kb|mb|gb|tokens?|times|th|st|nd|rd|digits?|letters?|words?|password|factor|zeichen|tage"
)
_ORDINARY = re.compile(
    "|".join(
        (
            r"(.)\1*",  # masked, or one key held down
            r"[*.xX•#_-]+",
            r"\[?redacted(?::.*)?|n/a.*|(?:ctrl|control|alt|shift|cmd|command|option|meta)\+.*",
            r"\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$[{(].*|%[A-Za-z_]\w*%|%\(?\w*\)?[sd]|[@:][A-Za-z_]\w*",  # variables
            r"!(?:vault|ref|sub|secret|env|getatt|importvalue)\b.*",
            r"[<{].*|\w*\{\w*\}\w*|.*\.\.\..*|.*\u2026.*",  # templates, cut short
            r".*://.*|(?:arn|vault|op|ssm|env|file|keyring|keychain|secretsmanager|sha\d{1,3}):.*|sha\d{3}-.*|ref\+.*",
            r"(?:~|\.{1,2})?(?:/[A-Za-z0-9._-]{0,40}){2,16}|[A-Za-z]:\\.*",  # paths
            r"[A-Za-z_][\w.:]*[(\[].*",  # calls, elements
            r"v?\d+(?:\.\d+)+(?:[.-]?[a-z]{1,5}\.?\d{0,3})?",  # versions
            r"\d{4}-\d\d(?:-\d\d)?(?:[T ].*)?|\d{1,2}:\d\d(?::\d\d)?(?:am|pm|z)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}",
            rf"\d+(?:[.,]\d+)?-?(?:{_UNITS})|\d+(?:-|–|\.\.)\d+\w*|[a-z_]+[<>=!]{{1,2}}\d+",
            r"(?:hs|rs|es|ps|sha|md|aes|rsa|ed|oauth|base|pbkdf|argon|utf|rfc|ipv|blake|bcrypt|scrypt|x|curve|p)"
            r"[-_]?\d{1,4}(?:[-_/]?(?:id|url|gcm|cbc|oaep|sha|hmac|based?|ctr|b|s|i)\d{0,3}){0,4}",
            r"(?:u?int|float|bytes|string|char|varchar|nvarchar|text)\d{1,4}",
            r"(?:your|my|the|some|insert|enter|replace|example|dummy|sample|fake|test)[-_ ]"
            r"(?:[a-z]+[-_ ])*(?:password|passwd|secret|token|key|value|here|goes)[-_]?\w{0,8}",
            r"(?:password|passwd|secret|token|key|apikey|api_key|value|arg|var|param)_?\d{0,2}",
        )
    ),
    re.IGNORECASE,
)
_DOTTED_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\??\.[A-Za-z_][A-Za-z_0-9]*)+")
# Names of resources, steps and models: words of letters with short numbers between separators.
_CLASS_NAME = re.compile(r"(?:[A-Z]{1,6}\d{0,2})?(?:[A-Z][a-z]{2,24}){2,8}+\d{0,2}")
_SLUG = re.compile(r"[a-z]{2,24}\d{0,4}(?:[/_.:-](?:[a-z]{1,24}\d{0,4}|\d{1,4}[a-z]?))*+", re.IGNORECASE)


def is_plausible(value: str, role: Role, form: Form) -> bool:
    """Whether `value` is likely the secret that its name promises; a long one is judged by its first 512 characters."""
    value = value[:MAX_VALUE]
    if len(value) < _LEAST[role] or _SPACE.search(value):
        return False
    letters, digits, symbols = _classes(value)
    if form in _SENTENCE_FORMS or role is Role.LOOSE:
        is_likely = letters and digits and _stands_out(value, role, form, symbols)
    elif role is Role.TOKEN:
        is_likely = ((letters and digits) or _is_long_mix(value)) and not _is_slug(value)
    elif role is Role.SECRET:
        is_likely = ((letters and digits) or symbols or _is_long_mix(value)) and not _is_name(value)
    else:
        is_likely = _is_password(value, form, letters, digits, symbols)
    return is_likely and not _is_ordinary(value, role, form)


def has_letter_and_digit(value: str) -> bool:
    """Whether both occur, with enough variety not to be a placeholder."""
    letters, digits, _ = _classes(value)
    return letters and digits and is_varied(value)


def is_varied(value: str) -> bool:
    """At least six different characters: `ghp_xxxxxxxx…` in a guide is not a token."""
    return len(set(value)) >= 6


def _is_password(value: str, form: Form, letters: bool, digits: bool, symbols: bool) -> bool:
    if letters and (digits or symbols):
        return True
    # A translation table says "password": "Contraseña"; a password of non-ASCII letters only is rarer than that.
    word = value.isascii() and value.isalpha()
    return (digits and value.isdigit()) or (word and form in (Form.QUOTED, Form.SHELL)) or _is_long_mix(value)


def _stands_out(value: str, role: Role, form: Form, symbols: bool) -> bool:
    """Whether a value among words is no word: in a sentence more has to speak for it than in code."""
    if form is Form.BESIDE:
        return role is Role.PASSWORD and _INNER_SYMBOL.search(value) is not None
    if role is Role.PASSWORD and form in (Form.STATED_QUOTED, Form.STATED_LAST):
        return True
    if role is Role.LOOSE and form is Form.SHELL:
        return not _is_slug(value)
    return symbols or (len(value) >= LONG_STATED and not _is_slug(value))


def _is_ordinary(value: str, role: Role, form: Form) -> bool:
    if value.lower() in _WORDS or _ORDINARY.fullmatch(value) is not None:
        return True
    if role is not Role.PASSWORD and _ADDRESS.fullmatch(value) is not None:
        return True
    return form is not Form.QUOTED and _DOTTED_NAME.fullmatch(value) is not None


def _is_slug(value: str) -> bool:
    return _SLUG.fullmatch(value) is not None or _CLASS_NAME.fullmatch(value) is not None


def _is_name(value: str) -> bool:
    """A slug of several words. One word with a number may be a weak secret (`hunter2`)."""
    return _is_slug(value) and any(separator in value for separator in "/_.:-")


def _is_long_mix(value: str) -> bool:
    is_mixed = not value.islower() and not value.isupper() and not value.isalpha()
    return len(value) >= LONG_MIX and is_mixed and is_varied(value) and value.isascii()


def _classes(value: str) -> tuple[bool, bool, bool]:
    return (
        _LETTER.search(value) is not None,
        _DIGIT.search(value) is not None,
        _HARD_SYMBOL.search(value) is not None,
    )
