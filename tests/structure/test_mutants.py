"""The mutants fit the product as it is, and leave out no promise. What notices them is shown by `make mutants`."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import pytest

from lodestore.domain.promises import PROMISES
from tests.mutants.catalog import PRODUCT, BadPatch, apply, copy_files, mutants, read_mutant
from tests.structure.source_tree import ROOT, modules_of_tests
from tests.structure.test_promises import NOT_YET_REACHABLE

PER_PROMISE = 2
FEWEST_WORDS = 3


def test_every_patch_applies_alone_to_the_product_as_it_is(tmp_path: Path) -> None:
    for mutant in mutants():
        copy = copy_files(mutant, tmp_path / mutant.name)
        apply(mutant, copy)
        for name in mutant.files:
            assert name.startswith(PRODUCT), f"{mutant.name} changes {name}"
            text = (copy / name).read_text(encoding="utf-8")
            assert text != (ROOT / name).read_text(encoding="utf-8"), mutant.name
            compile(text, f"{mutant.name}: {name}", "exec")


def test_every_promise_is_broken_by_at_least_two_mutants() -> None:
    found = Counter(mutant.promise for mutant in mutants())
    assert set(found) <= set(PROMISES)
    few = {promise: found[promise] for promise in PROMISES if found[promise] < PER_PROMISE}
    assert set(few) <= set(NOT_YET_REACHABLE), few


def test_no_two_mutants_break_the_same_lines_in_the_same_way() -> None:
    diffs = Counter(mutant.patch.read_text(encoding="utf-8").partition("\n\n")[2] for mutant in mutants())
    assert max(diffs.values()) == 1


def test_every_mutant_says_what_it_breaks_and_names_tests_that_exist() -> None:
    functions = {module.place: module.path.read_text(encoding="utf-8") for module in modules_of_tests()}
    for mutant in mutants():
        assert len(mutant.says.split()) >= FEWEST_WORDS, mutant.name
        for selection in mutant.selections:
            place, _, test = shlex.split(selection)[0].partition("::")
            assert (ROOT / place).exists(), f"{mutant.name}: {place}"
            if test:
                assert f"def {test.partition('[')[0]}(" in functions[place], f"{mutant.name}: {test}"


def test_a_patch_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "moved-on.patch"
    place = "layers/core/python/lodestore/errors.py"
    diff = f"--- a/{place}\n+++ b/{place}\n@@ -1,1 +1,1 @@\n-a line that was never there\n+another\n"
    path.write_text(f"P-TRUTH: what was never there\ntests/structure\n\n{diff}", encoding="utf-8")
    mutant = read_mutant(path)
    with pytest.raises(BadPatch, match="moved-on: the patch no longer applies"):
        apply(mutant, copy_files(mutant, tmp_path / "copy"))


def test_a_patch_that_names_no_test_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "unnamed.patch"
    path.write_text("P-TRUTH: broken\n\n--- a/x\n+++ b/x\n", encoding="utf-8")
    with pytest.raises(BadPatch, match=r"unnamed\.patch"):
        read_mutant(path)
