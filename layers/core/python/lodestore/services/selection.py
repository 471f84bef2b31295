"""The filter arguments that recall and list_memories share.

Owns: reading them. Guarantees: an empty span of time is an error, not an empty answer.
Gives up: nothing.
"""

from __future__ import annotations

from lodestore.domain import limits
from lodestore.domain.filters import Filters
from lodestore.domain.memory import MemoryType
from lodestore.errors import InvalidArgument
from lodestore.services.arguments import Arguments

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
