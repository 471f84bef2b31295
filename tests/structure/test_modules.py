"""Small rooms with telling names."""

from __future__ import annotations

from statistics import median

from tests.structure.source_tree import (
    benchmark_modules,
    deployment_modules,
    modules_of_tests,
    product_modules,
)

MOST_LINES = 400
MEDIAN_LINES = 120
EMPTY_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "manager",
    "managers",
    "common",
    "misc",
    "stuff",
    "base",
    "core",
}


def test_no_module_is_longer_than_a_person_reads_at_once() -> None:
    every = product_modules() + deployment_modules() + benchmark_modules() + modules_of_tests()
    too_long = {module.place: module.lines for module in every if module.lines > MOST_LINES}
    assert not too_long, f"over {MOST_LINES} lines: {too_long}"


def test_the_usual_module_is_short() -> None:
    lengths = [module.lines for module in product_modules() + benchmark_modules()]
    assert median(lengths) <= MEDIAN_LINES


def test_a_modules_name_says_what_it_holds() -> None:
    every = product_modules() + deployment_modules() + benchmark_modules() + modules_of_tests()
    nameless = [
        module.place
        for module in every
        for part in module.name.split(".")
        if EMPTY_NAMES & set(part.split("_"))
    ]
    assert not nameless


def test_every_folder_of_code_is_a_package() -> None:
    every = product_modules() + deployment_modules() + benchmark_modules() + modules_of_tests()
    folders = {module.path.parent for module in every}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]
