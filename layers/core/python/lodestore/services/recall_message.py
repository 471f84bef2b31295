"""What a recall says of its answer, in a sentence or two for whoever asked.

Owns: the `message`. Guarantees: what was read as syntax in a question is said with every answer that it narrowed, and
where nothing is left, which of it no memory passes: nobody takes "nothing" for the store's word (P-SILENT-NEVER).
Gives up: naming all of a long list; the first NAMED are, each shortened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lodestore.domain.text import shorten_to_characters
from lodestore.retrieval.query_syntax import Said, take_apart
from lodestore.services import columns
from lodestore.services.query_vectors import FAILED
from lodestore.services.selection import NO_FILTERS, narrowed
from lodestore.services.tenant_view import TenantView

NAMED: Final = 4
_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What there is to say beside the hits.

    gated       rows that matched too weakly
    narrowing   what was read as syntax, as written; emptying: that of it which no memory passes
    """

    gated: int
    embeddings: str
    narrowing: tuple[str, ...] = ()
    emptying: tuple[str, ...] = ()

    def message(self, count: int, *, left_out: int = 0) -> str:
        """The message of an answer with so many hits."""
        said = [self._found(count, left_out)]
        if count and self.narrowing:
            said.append(f"Only what passes {_named(self.narrowing)}; in quotes it is plain text.")
        if self.embeddings == FAILED:
            said.append("Searched by words only: the embedding model did not answer.")
        return " ".join(said)

    def _found(self, count: int, left_out: int) -> str:
        if count:
            more = f" {left_out} more did not fit max_bytes." if left_out else ""
            return f"{count} {'memory' if count == 1 else 'memories'} found.{more}"
        weakly = f"{self.gated} matched too weakly (mode=exploratory or min_score=0 shows them)"
        if self.emptying:
            return f"No memory passes {_named(self.emptying)}, read as a filter; in quotes it is plain text."
        if self.narrowing:
            weak = f"; {weakly}" if self.gated else ""
            return (
                f"Nothing relevant passes {_named(self.narrowing)}, read as a filter; in quotes it is plain "
                f"text{weak}."
            )
        return f"Nothing relevant is stored; {weakly}." if self.gated else "Nothing relevant is stored."


def emptying(view: TenantView, live: columns.Masks, said: Said) -> tuple[str, ...]:
    """Those filters of the query, as written, which none of the live rows passes."""
    return tuple(
        written
        for written in said.filters
        if not columns.count(
            columns.both(live, columns.admitted(view, narrowed(NO_FILTERS, take_apart(written))))
        )
    )


def _named(written: Sequence[str]) -> str:
    named = [shorten_to_characters(one, _CHARACTERS)[0] for one in written[:NAMED]]
    more = f" and {len(written) - NAMED} more" if len(written) > NAMED else ""
    return ", ".join(named) + more
