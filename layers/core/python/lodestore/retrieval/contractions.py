"""Words with an apostrophe: clitics fall off, names are found with and without it.

Owns: what `Caroline's`, `l'homme`, `don't`, `O'Brien`, `Ankara'da` and `п'ять` are found by.
"""

from __future__ import annotations

import re
from typing import Final

_APOSTROPHE: Final = re.compile("['\u2018\u2019\u02bc\u02bb]")
_ENCLITICS: Final = frozenset({"s", "t", "re", "ve", "ll", "d", "m"})
_ELISIONS: Final = frozenset(
    """
    l d j m t s c n qu jusqu lorsqu puisqu quoiqu quelqu presqu
    un dell all nell sull dall coll quell quest sant bell anch cos
    """.split()
)


def parts(word: str) -> tuple[str, ...]:
    """What stands between the apostrophes of `word`, in order; the word itself where it has none."""
    return (word,) if word.isalnum() else tuple(filter(None, _APOSTROPHE.split(word)))


def contained_words(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The words that a contraction of these `parts` is found by: never empty if `parts` is not."""
    if len(parts) == 1:
        return parts
    if parts[-1].lower() in _ENCLITICS:
        return ("".join(parts[:-1]),)
    if parts[0].lower() in _ELISIONS:
        return ("".join(parts[1:]),)
    return ("".join(parts), *(part for part in parts if len(part) > 1))
