"""The filter arguments that recall and list_memories share, and those that a query brings itself.

Owns: reading them. Guarantees: an empty span of time is an error, not an empty answer; what a query says narrows what
the arguments say, and never widens it. Gives up: nothing.
"""

from __future__ import annotations

from dataclasses import replace

from lodestore.domain import limits
from lodestore.domain.filters import Filters
from lodestore.domain.memory import MemoryType
from lodestore.errors import InvalidArgument
from lodestore.retrieval.query_syntax import Said
from lodestore.services.arguments import Arguments

NO_FILTERS = Filters()
FILTER_ARGUMENTS = ("type", "category", "tags", "since", "until")


def read_filters(arguments: Arguments) -> Filters:
    """The filters that were given. Raises InvalidArgument, TooLarge."""
    filters = Filters(
        types=arguments.choices("type", MemoryType),
        category=arguments.text("category", most_bytes=limits.CATEGORY_BYTES),
        tags=arguments.texts("tags", most=limits.TAGS, most_bytes=limits.TAG_BYTES),
        since=arguments.moment("since"),
        until=arguments.moment("until"),
    )
    if filters.since is not None and filters.until is not None and filters.since >= filters.until:
        raise InvalidArgument(
            "since is not before until, so nothing could match.",
            field="until",
            limit="a time after since",
            got=str(filters.until),
            next_step="Give until a later time; until itself is not included.",
        )
    return filters


def narrowed(filters: Filters, said: Said) -> Filters:
    """What passes the filters and those that the query names."""
    types = filters.types
    if said.types is not None:
        types = said.types if types is None else tuple(kind for kind in types if kind in said.types)
    return replace(
        filters,
        types=types,
        tags=tuple(dict.fromkeys([*(filters.tags or ()), *said.tags])) or None,
        since=max(filter(None, (filters.since, said.since)), default=None),
        until=min(filter(None, (filters.until, said.until)), default=None),
    )
