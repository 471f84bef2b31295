"""The YAML in front of a Markdown file.

Owns: where it ends and what it says. Guarantees: every value is a text, as it was written (no date, number or truth
value is made of it); no object is built. Gives up: structures deeper than a mapping of texts and lists of texts.

Source: YAML 1.2, failsafe schema; Jekyll, "Front Matter".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from lodestore.domain.limits import FRONTMATTER_BYTES
from lodestore.services.import_runs import Flaw

_MARK = "---"


@dataclass(frozen=True, slots=True)
class Document:
    """A file's frontmatter, its body, and how many lines stand before the body."""

    body: str
    line: int = 0
    fields: Mapping[str, object] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """A field that is a text; None where it is not there, empty or something else."""
        value = self.fields.get(name)
        return value.strip() or None if isinstance(value, str) else None

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts, or a text with commas."""
        value = self.fields.get(name)
        found = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
        return [item.strip() for item in found if isinstance(item, str) and item.strip()]


def split_frontmatter(text: str) -> Document | Flaw:
    """The file's parts; without frontmatter the whole is the body."""
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _MARK:
        return Document(text)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _MARK), None)
    if end is None:
        return Document(text)
    head = "".join(lines[1:end])
    if len(head.encode("utf-8", "surrogatepass")) > FRONTMATTER_BYTES:
        return Flaw(f"frontmatter larger than {FRONTMATTER_BYTES:,} bytes")
    try:
        # Texts, lists and mappings only: this loader builds nothing else.
        fields = yaml.load(head, Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return Flaw("frontmatter is no YAML")
    if fields in (None, ""):
        fields = {}
    if not isinstance(fields, dict):
        return Flaw("frontmatter is no mapping")
    named = {name: value for name, value in fields.items() if isinstance(name, str)}
    return Document("".join(lines[end + 1 :]), end + 1, named)
