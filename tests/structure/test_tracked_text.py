"""What is committed installs anywhere: no registry's address, no path of the machine that wrote it."""

from __future__ import annotations

import re

from tests.structure.source_tree import ROOT, tracked_files

LARGEST_TEXT = 5_000_000
# Split, so that this file does not hold what it looks for.
REGISTRIES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "proxy.golang" + ".org",
]
OPTIONS = ["--index" + "-url", "--extra-index" + "-url", "--find" + "-links", "--trusted" + "-host"]
PLACES = [
    "/ro" + "ot/",
    "/opt/py" + "pi",
    "/opt/wh" + "eels",
    "/wo" + "rk/",
    "/tmp/pl" + "an",
    r"/ho" + r"me/\w",
]
FOREIGN = re.compile(
    "|".join([*map(re.escape, REGISTRIES + OPTIONS), *(rf"(?<![\w.]){place}" for place in PLACES)])
)


def _foreign_lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if FOREIGN.search(line)]


def test_no_tracked_file_names_a_registry_or_a_place_on_a_machine() -> None:
    found = []
    for path in tracked_files():
        content = path.read_bytes()
        assert len(content) <= LARGEST_TEXT, f"{path.relative_to(ROOT)} is too large to be read by this test"
        text = content.decode("utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}:{number}: {line[:120]}" for number, line in _foreign_lines(text)]
    assert not found


def test_an_address_or_a_path_is_found() -> None:
    assert _foreign_lines(f"fine\nsee {REGISTRIES[0]}/simple\nin {PLACES[0]}x\nwith {OPTIONS[0]}") == [
        (2, f"see {REGISTRIES[0]}/simple"),
        (3, f"in {PLACES[0]}x"),
        (4, f"with {OPTIONS[0]}"),
    ]
