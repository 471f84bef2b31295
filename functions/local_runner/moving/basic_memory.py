"""Notes of basic-memory as statements.

Owns: a folder of Markdown notes with frontmatter (title, type, permalink, tags, created), observations
`- [category] content #tag (context)` and relations `- type [[Target]] (context)`. Guarantees: each observation, each
relation and each other piece of a note is a statement that says the note's title first.
Gives up: the graph; permalinks and targets stand in the metadata.

Source: basicmachines-co/basic-memory, src/basic_memory/markdown/plugins.py (`parse_observation`, `parse_relation`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from local_runner.moving.frontmatter import Document, split_frontmatter
from local_runner.moving.markdown_blocks import Block, blocks
from local_runner.moving.markdown_files import markdown_paths, read_markdown
from local_runner.moving.provenance import stated
from lodestore.services.import_runs import Entry, Flaw

NAME = "basic-memory"
_OBSERVATION = re.compile(r"\[([^\[\]()]+)\]\s+(.+)", re.DOTALL)
# Clock times and boxes of tasks have the shape of a category, and are none.
_NO_CATEGORY = re.compile(r"\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?(\s+-\s+\d{1,3}:\d{2}.*)?|[xX\W_]")
_RELATION = re.compile(r"""(?:"([^"]+)"|'([^']+)'|([^\s\[\]"']+))\s+\[\[([^\[\]]+)\]\]\s*(?:\(([^()]*)\))?""")
_TAG = re.compile(r"(?<!\S)#([^\s#]+)")
_OWN_HEADINGS = frozenset({"observations", "relations"})


def note_entries(source: Path) -> Iterator[Entry]:
    """The statements of a note, or of a folder of notes. Raises TooManyFiles, OSError."""
    for place in markdown_paths(source):
        file = read_markdown(source, place)
        document = file.text if isinstance(file.text, Flaw) else split_frontmatter(file.text)
        if isinstance(document, Flaw):
            yield Entry(file.place, document)
            continue
        title = document.text("title") or Path(file.place).stem
        for block in blocks(document.body):
            yield Entry(
                f"{file.place}:{document.line + block.line}", _statement(document, title, file.place, block)
            )


def _statement(document: Document, title: str, place: str, block: Block) -> Mapping[str, object]:
    about = {
        "title": title,
        "note_type": document.text("type"),
        "permalink": document.text("permalink"),
        "modified": document.text("modified"),
    }
    kept: dict[str, object] = {
        "source": place,
        "valid_from": document.text("created") or document.text("date"),
    }
    tags = document.texts("tags")
    relation = _RELATION.fullmatch(block.text) if block.item else None
    if relation is not None:
        kind, target, context = relation[1] or relation[2] or relation[3], relation[4].strip(), relation[5]
        said = f"{title} {kind.replace('_', ' ')} {target}" + (f" ({context})" if context else "")
        links = {**about, "relation_type": kind, "to": target}
        return stated(said, origin=NAME, tags=tags, metadata=links, category="relation", **kept)
    observation = _OBSERVATION.fullmatch(block.text) if block.item else None
    category = observation[1].strip() if observation is not None else None
    text = block.text
    if observation is None or not category or _NO_CATEGORY.fullmatch(category):
        category = None
    else:
        text = observation[2].strip()
    found = _TAG.findall(text) if block.item else []
    path = " > ".join(
        [title, *(name for name in block.path if name.lower() not in {*_OWN_HEADINGS, title.lower()})]
    )
    return stated(
        f"{path}: {text}", origin=NAME, tags=[*tags, *found], metadata=about, category=category, **kept
    )
