"""What a query asks for, between the tokenizer that reads it and the scoring that answers it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word, name or pair of characters of a query: the forms it may be indexed under, its own first.

    A document that has several of the forms is scored by the best of them.
    """

    forms: tuple[str, ...]

    @property
    def is_identifier(self) -> bool:
        """Whether it is a name of more than letters: a number, a code, a path, a version."""
        return any(character.isdigit() or character in "_/\\:@.#-" for character in self.forms[0])
