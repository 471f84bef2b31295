"""What is deployed: this tree with a vector engine, the same with changed code, and the same with data retained.

Owns: copies of the tree with some texts replaced, and their synths. Guarantees: all three are written by `app.py`'s own
`synthesise`; a text to replace that is not there once is an error. One process writes them, beside whatever else is
done, because loading aws-cdk-lib takes longer than a synth. The vector bucket and the embedder are those of
`tests.cloud.beside`.
Gives up: the form of the command line; `tests/infra` runs that.

    python -m tests.cloud.assemblies FOLDER PYTHON
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lodestore import __version__
from tests.structure.source_tree import ROOT

PARTS = ("functions", "infra/environments", "layers", "requirements")
CHANGED_VERSION = f"{__version__}+changed"
_INIT, _SETTINGS = "layers/core/python/lodestore/__init__.py", "infra/environments/test.toml"
_VERSION = '__version__ = "{}"'
VECTOR_BUCKET = "lodestore-test-vectors"
_ENGINE = f"""vectors = false
vector_bucket = "{VECTOR_BUCKET}"
vector_index_threshold = 0
embeddings = "bedrock"
"""


@dataclass(frozen=True, slots=True)
class Change:
    """`new` for `old` in the file `place`."""

    place: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Variant:
    """A tree to synthesise: this one, changed."""

    name: str
    changes: tuple[Change, ...]


_WITH_ENGINE = Change(_SETTINGS, "vectors = false\n", _ENGINE)
FIRST = Variant("first", (_WITH_ENGINE,))
CHANGED = Variant(
    "changed", (_WITH_ENGINE, Change(_INIT, _VERSION.format(__version__), _VERSION.format(CHANGED_VERSION)))
)
RETAINED = Variant("retained", (Change(_SETTINGS, _WITH_ENGINE.old, f"{_ENGINE}retain = true\n"),))
VARIANTS = (FIRST, CHANGED, RETAINED)


def outdir(folder: Path, variant: Variant) -> Path:
    """Where the assembly of a variant is."""
    return folder / f"assembly-{variant.name}"


def tree_of(folder: Path, variant: Variant) -> Path:
    """The tree of a variant, a copy below the folder."""
    tree = folder / f"tree-{variant.name}"
    for part in PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / part, tree / part, ignore=ignored)
    # A layer is named by all that decides what it holds, so that the trees may share them.
    (ROOT / "build" / "layers").mkdir(parents=True, exist_ok=True)
    (tree / "build").mkdir()
    (tree / "build" / "layers").symlink_to(ROOT / "build" / "layers")
    for change in variant.changes:
        text = (tree / change.place).read_text(encoding="utf-8")
        if text.count(change.old) != 1:
            raise ValueError(f"{change.place} holds {change.old!r} {text.count(change.old)} times")
        (tree / change.place).write_text(text.replace(change.old, change.new), encoding="utf-8")
    return tree


def variables(folder: Path, variant: Variant, python: str) -> Mapping[str, str]:
    """What `app.py` is told: env=test, for the Python that runs the functions."""
    return {"ENV": "test", "LAYER_PYTHON": python, "CDK_OUTDIR": str(outdir(folder, variant))}


def main(folder: Path, python: str) -> None:
    """Write all of them; what each synth says goes to stdout."""
    # Whoever only asks where an assembly lies need not load aws-cdk-lib.
    from infra.application import synthesise

    for variant in VARIANTS:
        tree = tree_of(folder, variant)
        print("\n".join(synthesise(tree, variables(folder, variant, python))), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
