"""One deployment for all of these tests, its steps, and the summary at the end.

Owns: the order of setting up and the lives of the processes. Guarantees: a program that can't be had fails the run
with the reason and is no skip; an end by a time limit leaves nothing running.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.environments import NODE, NotInstallable
from tests.cloud.assemblies import FIRST, outdir
from tests.cloud.beside import Beside, beside
from tests.cloud.deployment import Caller, Deployment, eventually
from tests.cloud.emulator import Emulator, emulator
from tests.cloud.processes import LAST_WORDS, interrupt_on_sigterm, running
from tests.cloud.stacks import OFFLINE, Cdk, pinned_cdk
from tests.cloud.timeline import Timeline
from tests.stores.servers import MINISTACK
from tests.structure.source_tree import ROOT

_TIMELINE = pytest.StashKey[Timeline]()
POISON = "no notification of S3"
SYNTH_SECONDS = 300.0
FUNCTIONS = ("mcp_server", "indexer", "maintenance")


def pytest_configure(config: pytest.Config) -> None:
    def say(line: str) -> None:
        capture = config.pluginmanager.getplugin("capturemanager")
        terminal = config.pluginmanager.getplugin("terminalreporter")
        with capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(line)

    config.stash[_TIMELINE] = Timeline(say)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    timeline = config.stash[_TIMELINE]
    if timeline.steps:
        terminalreporter.section("steps of the deployment: begun, took")
        for line in timeline.summary():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def timeline(pytestconfig: pytest.Config) -> Timeline:
    return pytestconfig.stash[_TIMELINE]


@pytest.fixture(scope="session")
def place(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder for everything; it stays where a test failed, so that its logs can be read."""
    interrupt_on_sigterm()
    (ROOT / "build").mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="cloud-", dir=ROOT / "build"))
    yield folder
    if not request.session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def stand_ins(place: Path, timeline: Timeline) -> Iterator[Beside]:
    """The vector engine and the embedding model."""
    with ExitStack() as ends:
        with timeline.step("start S3 Vectors and the model"):
            held = ends.enter_context(beside(place))
        yield held


@pytest.fixture(scope="session")
def aws(place: Path, stand_ins: Beside, timeline: Timeline) -> Iterator[Emulator]:
    """The emulator, with every call allowed by a policy or denied."""
    if not MINISTACK.exists():
        pytest.fail(f"{MINISTACK} is missing: make test-cloud installs requirements/emulators.txt")
    with ExitStack() as ends:
        with timeline.step("start the emulator"):
            held = ends.enter_context(emulator(place / "emulator", stand_ins.environment))
        yield held


@pytest.fixture(scope="session")
def cdk(aws: Emulator, place: Path, timeline: Timeline) -> Cdk:
    """The CDK's command line."""
    with timeline.step(f"fetch {pinned_cdk()}"):
        try:
            return Cdk(aws, place)
        except NotInstallable as absent:
            pytest.fail(f"make test-cloud needs the CDK's command line from npm: {absent}")


@pytest.fixture(scope="session")
def synths(aws: Emulator, place: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process that writes every assembly, beside the bootstrap."""
    command = [sys.executable, "-m", "tests.cloud.assemblies", str(place), aws.python]
    # As app.py sets it: the Node of a wheel.
    variables = {**OFFLINE, "JSII_NODE": str(NODE / "bin" / "node")}
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "layers/core/python", "functions"))
    variables["PYTHONPATH"] = paths
    with running(command, variables, ROOT, place / "synth.log") as process:
        yield process


@pytest.fixture(scope="session")
def assemblies(synths: subprocess.Popen[bytes], place: Path, timeline: Timeline) -> Path:
    """The folder of all assemblies, once they are written."""
    with timeline.step("synthesise env=test: as it is, with changed code, with retained data"):
        code = synths.wait(SYNTH_SECONDS)
    said = (place / "synth.log").read_text(encoding="utf-8", errors="replace")
    assert code == 0, said[-LAST_WORDS:]
    return place


@pytest.fixture(scope="session")
def bootstrapped(synths: subprocess.Popen[bytes], cdk: Cdk, timeline: Timeline) -> None:
    """What `cdk deploy` needs; `synths` runs meanwhile."""
    assert synths.pid
    with timeline.step("cdk bootstrap"):
        cdk.bootstrap()


@pytest.fixture(scope="session")
def deployment(request: pytest.FixtureRequest, aws: Emulator, cdk: Cdk, timeline: Timeline) -> Deployment:
    """Deployed from nothing."""
    request.getfixturevalue("bootstrapped")
    assemblies = request.getfixturevalue("assemblies")
    with timeline.step("cdk deploy --all"):
        return Deployment(aws, cdk.deploy(outdir(assemblies, FIRST)))


@pytest.fixture(autouse=True)
def logs_of_a_failure(request: pytest.FixtureRequest, deployment: Deployment, place: Path) -> Iterator[None]:
    """Where a test fails, what the functions logged until then stays beside the other logs."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        for function in FUNCTIONS:
            lines = "".join(f"{line.rstrip()}\n" for line in deployment.logged(function))
            (place / f"{function}.log").write_text(lines, encoding="utf-8")


@pytest.fixture(scope="session")
def writer(deployment: Deployment, timeline: Timeline) -> Caller:
    """A client of the tenant acme."""
    with timeline.step("make a key"):
        return Caller(deployment.url, deployment.new_key("acme", "writer"), deployment.emulator)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory that the index shows. `generation` is of the index that first showed it."""

    id: str
    content: str
    generation: int


@pytest.fixture(scope="session")
def remembered(writer: Caller, timeline: Timeline) -> Remembered:
    """A memory that came into the index by itself."""
    content = "Nora leads the Oslo migration; the cut-over is on 12 March"
    with timeline.step("remember, the first call of a cold function"):
        stored = writer.call("remember", content=content)
    with timeline.step("S3 event, queue, indexer: the index shows it"):
        return Remembered(stored["id"], content, shown(writer, stored["id"], content))


def shown(caller: Caller, memory_id: str, query: str, *, after: int = 0) -> int:
    """The generation of the index, once it is later than `after`, nothing is pending and the memory is found."""

    def look() -> int | None:
        answer = caller.recall(query)
        fresh = answer["freshness"]
        found = memory_id in [hit["id"] for hit in answer["hits"]]
        is_there = found and fresh["generation"] > after and not fresh["pending"] and not fresh["degraded"]
        return int(fresh["generation"]) if is_there else None

    return eventually(f"the index shows {query!r}", look)


@pytest.fixture(scope="session")
def poisoned(deployment: Deployment) -> str:
    """The queue of changes, after a message that no indexer can read."""
    queue = deployment.resource("Storage", "AWS::SQS::Queue", "Changes5")
    deployment.emulator.client("sqs").send_message(QueueUrl=queue, MessageBody=POISON)
    return queue
