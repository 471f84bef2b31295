"""Promises and public fault cases are tied to tests, both ways."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest

from lodestore.domain.promises import PROMISES
from tests.structure.source_tree import ROOT, Module, modules_of_tests

# Promises that no test can prove yet, and the issues that bring what they speak of; the entry goes with them.
NOT_YET_REACHABLE: Mapping[str, str] = {}

FAULT_LIST = ROOT.parent / "shared/cases/public-faults.md"


def marks_of(modules: tuple[Module, ...], mark: str) -> dict[str, list[str]]:
    """Each id that `@pytest.mark.<mark>(...)` names, and where. Anything but literal ids is refused."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for call in _calls_of_mark(module.tree, mark):
            place = f"{module.place}:{call.lineno}"
            assert call.args, f"{place}: names no id"
            assert not call.keywords, f"{place}: ids are plain arguments"
            for argument in call.args:
                assert isinstance(argument, ast.Constant), f"{place}: no literal"
                assert isinstance(argument.value, str), f"{place}: no text"
                found[argument.value].append(place)
    return dict(found)


def _calls_of_mark(tree: ast.Module, mark: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"pytest.mark.{mark}":
            yield node


def test_every_mark_names_a_promise() -> None:
    unknown = {
        key: places for key, places in marks_of(modules_of_tests(), "promise").items() if key not in PROMISES
    }
    assert not unknown


def test_every_promise_is_proven_by_a_test() -> None:
    marked = marks_of(modules_of_tests(), "promise")
    assert set(PROMISES) - set(marked) - set(NOT_YET_REACHABLE) == set()


def test_a_promise_on_the_waiting_list_is_one_that_no_test_proves() -> None:
    marked = marks_of(modules_of_tests(), "promise")
    assert set(NOT_YET_REACHABLE) <= set(PROMISES)
    assert not set(NOT_YET_REACHABLE) & set(marked), "proven by now: take it off NOT_YET_REACHABLE"


def test_every_case_mark_looks_like_a_case() -> None:
    assert not [case for case in marks_of(modules_of_tests(), "case") if not re.fullmatch(r"B\d{2}", case)]


@pytest.fixture
def public_faults() -> set[str]:
    if not FAULT_LIST.exists():
        pytest.skip("the public fault list is not beside this checkout")
    known = set(re.findall(r"^\| (B\d+) \|", FAULT_LIST.read_text(encoding="utf-8"), re.MULTILINE))
    assert known
    return known


def test_every_case_mark_names_a_public_fault(public_faults: set[str]) -> None:
    marked = marks_of(modules_of_tests(), "case")
    assert not {case: places for case, places in marked.items() if case not in public_faults}


def test_every_public_fault_is_the_mark_of_a_test(public_faults: set[str]) -> None:
    assert public_faults - set(marks_of(modules_of_tests(), "case")) == set()


def test_a_mark_that_names_nothing_known_is_found() -> None:
    source = "@pytest.mark.promise('P-INVENTED')\ndef test_it(): ...\n"
    module = Module(ROOT / "tests/invented.py", "invented", 2, ast.parse(source))
    assert marks_of((module,), "promise") == {"P-INVENTED": ["tests/invented.py:1"]}
