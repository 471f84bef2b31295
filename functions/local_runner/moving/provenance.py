"""What every statement from another store says of where it comes from.

Owns: the tag and the metadata of an import. Guarantees: the same piece of the same file makes the same arguments, so a
second import knows it; nothing is shortened to fit: what passes a limit is refused by the core with the field's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TAG = "imported"


def stated(
    content: str,
    *,
    origin: str,
    tags: Iterable[str] = (),
    metadata: Mapping[str, object] | None = None,
    **fields: object,
) -> dict[str, object]:
    """Arguments of `remember` for a piece of a store of the format `origin`; what is None is left out."""
    said = {name: value for name, value in (metadata or {}).items() if value not in (None, "", [], {})}
    return {
        "content": content,
        "tags": [f"{TAG}:{origin}", *tags],
        "metadata": {"imported_from": origin, **said},
        **{name: value for name, value in fields.items() if value is not None},
    }
