"""What is deployed: this tree, the tree with changed code, and the tree with data that is retained.

Owns: copies of the tree with one text replaced, and their synths. Guarantees: all three are written by `app.py`'s own
`synthesise`; a text to replace that is not there once is an error. One process writes them, beside whatever else is
done, because loading aws-cdk-lib takes longer than a synth.
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


@dataclass(frozen=True, slots=True)
class Variant:
    """A tree to synthesise: this one, with `new` for `old` in the file `place`."""

    name: str
    place: str = ""
    old: str = ""
    new: str = ""


FIRST = Variant("first")
CHANGED = Variant("changed", _INIT, _VERSION.format(__version__), _VERSION.format(CHANGED_VERSION))
RETAINED = Variant("retained", _SETTINGS, "vectors = false", "vectors = false\nretain = true")
VARIANTS = (FIRST, CHANGED, RETAINED)


def outdir(folder: Path, variant: Variant) -> Path:
    """Where the assembly of a variant is."""
    return folder / f"assembly-{variant.name}"


def tree_of(folder: Path, variant: Variant) -> Path:
    """The tree of a variant; a copy below the folder where something is changed."""
    if not variant.place:
        return ROOT
    tree = folder / f"tree-{variant.name}"
    for part in PARTS:
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / part, tree / part, ignore=ignored)
    # A layer is named by all that decides what it holds, so that the trees may share them.
    (ROOT / "build" / "layers").mkdir(parents=True, exist_ok=True)
    (tree / "build").mkdir()
    (tree / "build" / "layers").symlink_to(ROOT / "build" / "layers")
    text = (tree / variant.place).read_text(encoding="utf-8")
    if text.count(variant.old) != 1:
        raise ValueError(f"{variant.place} holds {variant.old!r} {text.count(variant.old)} times")
    (tree / variant.place).write_text(text.replace(variant.old, variant.new), encoding="utf-8")
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
