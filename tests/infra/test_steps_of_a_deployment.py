"""What `make test-cloud` says of itself: each step with its time, also the one that failed."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cloud.assemblies import FIRST, VARIANTS, Variant, tree_of
from tests.cloud.processes import CommandFailed, run
from tests.cloud.stacks import pinned_cdk
from tests.cloud.timeline import Timeline
from tests.structure.source_tree import ROOT


def test_a_step_that_fails_is_in_the_summary() -> None:
    said: list[str] = []
    ticks = iter([0.0, 1.0, 3.5, 4.0, 4.0, 5.0])
    timeline = Timeline(said.append, clock=lambda: next(ticks))
    with timeline.step("deploy"):
        pass
    with pytest.raises(RuntimeError), timeline.step("destroy"):
        raise RuntimeError
    assert said == ["    1.0 s  +  2.5 s  deploy", "    4.0 s  +  0.0 s  destroy  FAILED"]
    assert timeline.summary() == [*said, "    5.0 s  in all: 2 steps, 1 failed"]


def test_the_command_line_is_the_one_that_make_deploy_asks_for() -> None:
    assert re.fullmatch(r"aws-cdk@\d+\.\d+\.\d+", pinned_cdk())


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_differs_from_the_tree_in_its_texts(tmp_path: Path, variant: Variant) -> None:
    tree = tree_of(tmp_path, variant)
    assert variant.changes
    for change in variant.changes:
        was = (ROOT / change.place).read_text(encoding="utf-8")
        assert was.count(change.old) == 1
        assert (tree / change.place).read_text(encoding="utf-8") == was.replace(change.old, change.new)


def test_a_variant_whose_text_is_not_there_is_refused(tmp_path: Path) -> None:
    (change, *_) = FIRST.changes
    with pytest.raises(ValueError, match="0 times"):
        tree_of(tmp_path, Variant("none", (replace(change, old="no such text"),)))


def test_a_program_that_fails_or_hangs_is_ended_and_its_words_are_kept(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(CommandFailed, match=r"3\nlast words"):
        run([sys.executable, "-c", "print('last words'); raise SystemExit(3)"], {}, tmp_path, log, seconds=60)
    with pytest.raises(CommandFailed, match="not ended within"):
        run([sys.executable, "-c", "import time; time.sleep(600)"], {}, tmp_path, log, seconds=0.5)
