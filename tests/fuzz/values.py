"""Values that break readers: texts, numbers and JSON that no polite client sends.

Owns: strategies of single values. Guarantees: every text of a value fits into one body (`BODY_BYTES`), most are short.
Gives up: meaning; `arguments` knows which value a tool would take.
"""

from __future__ import annotations

from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Value = object
Drawn = TypeVar("Drawn")

# One text for each kind of trouble: white space, controls, surrogates, planes, direction, width, joining, folding,
# decomposition, paths, encodings, templates, commands, JSON in text, numbers in text, credentials.
ATOMS = (
    "",
    " ",
    "\t\r\n",
    "\x00",
    "a\x00b",
    "\x1b[2J\x07",
    "\x7f\x80\x85",
    "\ud83d",
    "\udf78",
    "a\udc80b",
    "\U0001f378",
    "\U0010ffff",
    "\ufffe\uffff",
    "\ufeffx",
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "\u200b\u200c\u200d\u2060",
    "\u00ad",
    "\u2028\u2029",
    "👨‍👩‍👧",
    "🏳️‍🌈",
    "e\u0301" + "\u0301" * 30,
    "\u0e49" * 20,
    "שלום עולם",
    "مرحبا",
    "公司年会",
    "회의",
    "しりとり",
    "ﷺ",
    "İıſK",
    "ﬃ",
    "\u1160\u3164",
    "../../../etc/passwd",
    "..%2f..%2fother",
    "..\\..\\x",
    "/absolute",
    "C:\\x",
    "%00",
    "%252e%252e",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "%s%n%x",
    "' OR 1=1 --",
    "<script>x</script>",
    "</memory>",
    "```",
    "$(id)",
    "=cmd|x",
    "[",
    "{",
    '{"a":',
    "[[[[[[[[",
    '["a", 1, null]',
    '{"a": {"b": []}}',
    "null",
    "true",
    "NaN",
    "-Infinity",
    "1e999",
    "0x10",
    "1_000",
    "٣",
    "9" * 400,
    "2026-02-30",
    "2026-03-09T25:61:61Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59.999999-23:59",
    "AKIA0000EXAMPLE00000",
    "password=hunter2hunter2",
    "-----BEGIN PRIVATE KEY-----",
    "postgres://u:p@h/d",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "aA1" * 20,
)
NUMBERS = (
    0, -0.0, -1, 1, 0.5, 1.0000000001, 2**31, 2**53 + 1, -(2**63), 2**64, 10**400, 1e308, 5e-324,
    36_500, 36_500.1,
)  # fmt: skip
REPEATED_BYTES = 33_000
LEVELS = 70


def weighted(*choices: tuple[int, SearchStrategy[Drawn]]) -> SearchStrategy[Drawn]:
    """One of the strategies, each as often as its weight says; `one_of` would count the branches inside them."""
    lots = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.sampled_from(range(len(lots))).flatmap(lots.__getitem__)


def texts() -> SearchStrategy[str]:
    """Any text, lone surrogates included: an atom, several, free characters, or one atom many times over."""
    atoms = st.sampled_from(ATOMS)
    joined = st.lists(atoms, min_size=2, max_size=6).map("".join)
    free = st.text(st.characters(), max_size=40)
    repeated = st.tuples(atoms, st.integers(2, 4_000)).map(_repeated)
    return weighted((4, atoms), (2, joined), (3, free), (1, repeated))


def _repeated(drawn: tuple[str, int]) -> str:
    atom, times = drawn
    return (atom * times)[: REPEATED_BYTES // 3 if len(atom) == 1 else REPEATED_BYTES]


def numbers() -> SearchStrategy[int | float]:
    """Numbers at and past every edge; those that JSON has not are `endless`."""
    return st.one_of(
        st.sampled_from(NUMBERS), st.integers(), st.floats(allow_nan=False, allow_infinity=False)
    )


def endless() -> SearchStrategy[float]:
    """Numbers that Python writes as JSON and JSON has not."""
    return st.sampled_from((float("inf"), float("-inf"), float("nan")))


def json_values() -> SearchStrategy[Value]:
    """Any JSON value; some deep, some wide, some with names that are hostile themselves."""
    leaves = st.one_of(st.none(), st.booleans(), numbers(), texts())
    trees = st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts(), inner, max_size=4)),
        max_leaves=12,
    )
    nested = st.tuples(st.integers(1, LEVELS), st.booleans()).map(_nested)
    return weighted((4, leaves), (3, trees), (1, nested), (1, _wide()))


def _nested(drawn: tuple[int, bool]) -> Value:
    levels, named = drawn
    value: Value = 1
    for _ in range(levels):
        value = {"a": value} if named else [value]
    return value


def _wide() -> SearchStrategy[Value]:
    return st.tuples(st.integers(0, 300), st.sampled_from(ATOMS)).map(lambda drawn: [drawn[1]] * drawn[0])
