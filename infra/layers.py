"""Lambda layers without Docker: pinned wheels of the functions' platform, cut down, with bytecode.

Owns: what each layer holds, the cache under `build/layers`, sizes. Guarantees: a layer is named by a digest of all
that decides its content, so the same hashes give the same asset and nothing is built twice; several synths at once
build it whole or not at all; all layers of a function together stay under Lambda's 250 MB, or the synth stops.
Gives up: bytecode where no interpreter of the functions' version is at hand; `Layer.note` says so.

Source: "Lambda quotas" in the AWS Lambda developer guide (250 MB unzipped, layers and function together).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from infra.wheels import Target, requirements_for

UNZIPPED_BYTES_MOST = 250 * 1024 * 1024
# What the adapters make clients for; a test holds it against their code.
SDK_SERVICES = frozenset({"s3", "s3vectors", "sqs", "bedrock-runtime"})
RECIPE = 1
_TEST_FOLDERS = ("numpy/**/tests", "numpy/f2py", "bin", "**/__pycache__")


class BundlingFailed(Exception):
    """A layer can't be built; the text says which, and what pip said last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A built layer: its folder (holding `python/`), a digest of its content's inputs, its unzipped bytes.

    compiled   whether bytecode is in it
    """

    name: str
    folder: Path
    digest: str
    bytes: int
    compiled: bool

    @property
    def note(self) -> str:
        """The line that a synth prints."""
        bytecode = "bytecode" if self.compiled else "no bytecode: no interpreter of that version here"
        return f"layer {self.name}: {self.bytes / 1024 / 1024:.0f} MB unzipped, {bytecode}"


class Layers:
    """Builds layers of one target."""

    def __init__(self, root: Path, target: Target) -> None:
        self._root = root
        self._target = target
        self._cache = root / "build" / "layers"
        self._interpreter = interpreter_of(target.python)

    def libraries(self, name: str) -> Layer:
        """The wheels of requirements/<name>.txt. Raises BundlingFailed."""
        wanted = requirements_for(self._root / "requirements" / f"{name}.txt", self._target)

        def fill(folder: Path) -> None:
            install(name, wanted, folder, self._target)
            prune(folder)

        return self._layer(name, wanted, fill)

    def code(self) -> Layer:
        """The package `lodestore` itself."""
        source = self._root / "layers" / "core" / "python"

        def fill(folder: Path) -> None:
            shutil.copytree(
                source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )

        return self._layer("lodestore", digest_of_tree(source), fill)

    def _layer(self, name: str, content: str, fill: Callable[[Path], None]) -> Layer:
        compiled = self._interpreter is not None
        inputs = [RECIPE, name, content, self._target.architecture, self._target.python, compiled]
        inputs.append(sorted(SDK_SERVICES))
        digest = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
        place = self._cache / f"{name}-{digest[:16]}"
        if not place.exists():
            self._build(place, fill)
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        return Layer(name=name, folder=place, digest=digest, bytes=size, compiled=compiled)

    def _build(self, place: Path, fill: Callable[[Path], None]) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix="building-", dir=self._cache))
        try:
            content = work / "layer" / "python"
            content.mkdir(parents=True)
            fill(content)
            if self._interpreter is not None:
                compile_tree(self._interpreter, content)
            try:
                (work / "layer").rename(place)
            except OSError:
                # Another synth was first, with the same content.
                if not place.exists():
                    raise
        finally:
            shutil.rmtree(work, ignore_errors=True)


def check_size(function: str, layers: Iterable[Layer]) -> int:
    """The unzipped bytes of a function's layers together. Raises BundlingFailed over Lambda's limit."""
    held = list(layers)
    total = sum(layer.bytes for layer in held)
    if total > UNZIPPED_BYTES_MOST:
        parts = ", ".join(f"{layer.name} {layer.bytes / 1024 / 1024:.0f}" for layer in held)
        raise BundlingFailed(
            f"The layers of {function} hold {total / 1024 / 1024:.0f} MB unzipped ({parts}); Lambda takes 250 MB."
            " Set embeddings to none or bedrock."
        )
    return total


def install(name: str, requirements: str, folder: Path, target: Target) -> None:
    """The wheels into `folder`. Raises BundlingFailed."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(requirements)
        file.flush()
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--no-compile",
            "--no-deps",
        ]
        command += ["--require-hashes", "--disable-pip-version-check", f"--target={folder}"]
        answer = subprocess.run(  # noqa: S603 - the interpreter's own pip, arguments of our own
            [*command, *target.pip_arguments(), "--requirement", file.name],
            capture_output=True,
            text=True,
            check=False,
        )
    if answer.returncode:
        last = (answer.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise BundlingFailed(f"layer {name} for {target.architecture}, Python {target.python}: {last}")


def prune(folder: Path) -> None:
    """Take out what no function reads: data of other AWS services, the libraries' own tests, scripts."""
    data = folder / "botocore" / "data"
    if data.is_dir():
        for service in data.iterdir():
            if service.is_dir() and service.name not in SDK_SERVICES:
                shutil.rmtree(service)
    for pattern in _TEST_FOLDERS:
        for found in sorted(folder.glob(pattern)):
            shutil.rmtree(found, ignore_errors=True)


def compile_tree(interpreter: str, folder: Path) -> None:
    """Bytecode beside every module, valid whatever the file's time: a layer is read-only, so it's never made later."""
    options = ["-m", "compileall", "-q", "-j", "2", "--invalidation-mode", "unchecked-hash"]
    # A module for another Python (in a test, or a template) may not compile, and is then imported by nobody.
    subprocess.run(  # noqa: S603 - an interpreter found by its version
        [interpreter, *options, "-s", str(folder), "-p", "/opt/python", str(folder)],
        capture_output=True,
        check=False,
    )


def interpreter_of(python: str) -> str | None:
    """An interpreter of this version on this machine, None where none answers."""
    for candidate in (sys.executable, f"python{python}"):
        found = shutil.which(candidate)
        if found is None:
            continue
        probe = [found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(probe, capture_output=True, text=True, check=False)  # noqa: S603 - as above
        if answer.returncode == 0 and answer.stdout.strip() == python:
            return found
    return None


def digest_of_tree(folder: Path) -> str:
    """A digest of every source file below the folder, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in str(path.parent):
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
