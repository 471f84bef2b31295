"""File names for the segments of keys, on any file system.

Owns: the escaping, both ways. Guarantees: two different segments never get names that differ only by case
or Unicode form (names are lower-case ASCII); no name is a reserved device name, begins with a dot, ends in
one, or is over 255 bytes; `segment_of(name_of(s)) == s`, and a name that is not exactly what `name_of`
gives is no segment's.
Gives up: upper-case names put there by hand. They are no key's, and a listing passes over them.

A plain segment is its own name: `note-7.json`. Otherwise one mark `^` stands before the first dot, or at
the end where there is none, followed by which characters are upper case, five to a digit (base 32,
`0-9a-v`, the first character the highest bit, trailing zeros left out): `Acme` is `acme^g`, `CON.json` is
`con^s.json`. A segment that is reserved as it stands, or begins with a dot, has the mark alone:
`con^.json`, `^.x`. One that ends in a dot gets a second mark at the end: `acme.^`.
"""

from __future__ import annotations

import re

from lodestore.adapters.object_keys import MAX_SEGMENT, is_segment

MARK = "^"
DIGITS = "0123456789abcdefghijklmnopqrstuv"
BITS = 5

# Windows, "Naming Files, Paths, and Namespaces": reserved with any extension.
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])", re.ASCII)
ITSELF = rf"[a-z0-9_~-][a-z0-9._~-]{{0,{MAX_SEGMENT - 1}}}(?<!\.)"
PLAIN = re.compile(rf"(?!{RESERVED.pattern}(\.|$)){ITSELF}", re.ASCII)
NAME = re.compile(r"(?P<base>[^.^]*)(?P<mark>\^(?P<digits>[0-9a-v]*))?(?P<rest>(\.[^^]*)?)\^?", re.ASCII)


def name_of(segment: str) -> str:
    """The file name of a segment; at most 242 bytes."""
    lower = segment.lower()
    base, dot, rest = lower.partition(".")
    digits = _upper_case_digits(segment)
    mark = MARK if digits or not base or RESERVED.fullmatch(base) else ""
    end = MARK if lower.endswith(".") else ""
    return f"{base}{mark}{digits}{dot}{rest}{end}"


def segment_of(name: str) -> str | None:
    """The segment whose file name this is; None where it is no segment's."""
    if PLAIN.fullmatch(name):
        return name
    parts = NAME.fullmatch(name)
    if parts is None:
        return None
    segment = _with_upper_case(parts["base"] + parts["rest"], parts["digits"] or "")
    return segment if is_segment(segment) and name_of(segment) == name else None


def _upper_case_digits(segment: str) -> str:
    groups = (segment[start : start + BITS] for start in range(0, len(segment), BITS))
    return "".join(DIGITS[_bits(group)] for group in groups).rstrip(DIGITS[0])


def _bits(group: str) -> int:
    return sum(1 << (BITS - 1 - place) for place, character in enumerate(group) if character.isupper())


def _with_upper_case(lower: str, digits: str) -> str:
    bits = "".join(f"{DIGITS.index(digit):0{BITS}b}" for digit in digits)
    cased = (c.upper() if bit == "1" else c for c, bit in zip(lower, bits, strict=False))
    return "".join(cased) + lower[len(bits) :]
