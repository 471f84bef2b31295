"""The official conformance suite finds nothing that the baseline does not say, in both eras."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from local_runner.child_server import child_server
from tests.clients.environments import NODE, NotInstallable, node_variables, npm_package
from tests.system.processes import variables

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2026-07-28", "2025-11-25")
SUITE_SECONDS = 120.0
HERE = Path(__file__).parent
# What a baseline may excuse, and nothing else.
NOT_OFFERED = {"logging", "sampling", "elicitation", "tasks", "subscriptions", "multi-round-trip requests"}
PASSING_LEAST = {"2026-07-28": 27, "2025-11-25": 22}


def baseline(revision: str) -> Path:
    return HERE / f"baseline-{revision}.yml"


def entries(text: str) -> dict[str, tuple[str, str]]:
    """Each scenario that a baseline excuses, with its feature and reason. A line in another form is refused."""
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        if line.startswith("#") or line == "server:":
            continue
        entry = re.fullmatch(r"  - ([a-z0-9:-]+) # ([a-z -]+): (\S.*)", line)
        assert entry, f"no entry with a feature and a reason: {line!r}"
        found[entry[1]] = (entry[2], entry[3])
    return found


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_baseline_excuses_only_what_is_not_offered_each_with_its_reason(revision: str) -> None:
    excused = entries(baseline(revision).read_text(encoding="utf-8"))
    assert excused
    assert not {name: why for name, why in excused.items() if why[0] not in NOT_OFFERED}


def test_an_entry_without_a_reason_is_refused() -> None:
    with pytest.raises(AssertionError, match="no entry"):
        entries("server:\n  - tools-list\n")


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_suite_finds_nothing_that_the_baseline_does_not_say(revision: str, tmp_path: Path) -> None:
    try:
        suite = npm_package("conformance", SUITE) / "dist" / "index.js"
    except NotInstallable:
        pytest.skip("the conformance suite could not be installed from npm")
    environment = variables(tmp_path / "data", EMBEDDINGS="none")
    with child_server(environment, ("-m", "tests.conformance.fixture_server")) as server:
        said = _run(suite, server.url, revision, tmp_path)
    scored, _, unscored = said.stdout.partition(f"Not scored for {revision}:")
    beside = set(re.findall(r"^  [✓✗] ([a-z0-9-]+) \(", unscored, re.MULTILINE))
    failed = set(re.findall(r"^✗ ([a-z0-9-]+):", scored, re.MULTILINE)) - beside
    passed = set(re.findall(r"^✓ ([a-z0-9-]+): [1-9]\d* passed, 0 failed$", scored, re.MULTILINE))
    assert failed == set(entries(baseline(revision).read_text(encoding="utf-8"))), scored[-4_000:]
    assert {"tools-list", "tools-call-with-progress", "dns-rebinding-protection"} <= passed
    assert len(passed) >= PASSING_LEAST[revision]


def _run(suite: Path, url: str, revision: str, place: Path) -> subprocess.CompletedProcess[str]:
    node = str(NODE / "bin" / "node")
    # Not by its --expected-failures, which takes the warning "no session id" for a failure.
    command = [node, str(suite), "server", "--url", url, "--requirements", revision]
    return subprocess.run(
        command, cwd=place, env=node_variables(), capture_output=True, text=True, timeout=SUITE_SECONDS
    )
