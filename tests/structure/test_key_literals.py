"""Only `lodestore.format.keys` knows a key."""

from __future__ import annotations

import re

from tests.structure.source_tree import Module, product_modules, strings_of

OWNER = "lodestore.format.keys"
# Every first segment of a key in either bucket.
PREFIXES = "memories tombstones pending access index counts proposals undo reports due".split()
KEY_LITERAL = re.compile(rf"(?<![\w.-])(?:{'|'.join(PREFIXES)})/")


def _literals(module: Module) -> list[str]:
    return [
        f"{module.place}:{line}: {text!r}"
        for line, text in strings_of(module.tree)
        if KEY_LITERAL.search(text)
    ]


def test_no_other_module_spells_a_key() -> None:
    assert not [
        literal for module in product_modules() if module.name != OWNER for literal in _literals(module)
    ]


def test_the_owner_spells_keys_so_the_search_finds_them() -> None:
    owner = next(module for module in product_modules() if module.name == OWNER)
    assert _literals(owner)
