"""From a lock file to what must be installed for the functions' platform.

Owns: the target (processor, Python), the choice of lines by their markers, and pip's arguments.
Guarantees: markers are read for the target and not for the machine that synthesises, because pip evaluates them for
its own interpreter; only wheels, only with the hashes of the lock. Gives up: building from source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import Marker

# glibc 2.34 of Amazon Linux 2023 runs all of these.
_PLATFORMS = ("manylinux_2_28", "manylinux_2_17", "manylinux2014", "manylinux_2_27", "manylinux_2_24")
_MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}


@dataclass(frozen=True, slots=True)
class Target:
    """Where the functions run: `architecture` as Lambda names it, `python` as "3.13"."""

    architecture: str
    python: str

    @property
    def machine(self) -> str:
        """As Python names the processor."""
        return _MACHINES[self.architecture]

    def pip_arguments(self) -> list[str]:
        """Which wheels pip may take."""
        platforms = [f"--platform={platform}_{self.machine}" for platform in _PLATFORMS]
        return [*platforms, f"--python-version={self.python}", "--implementation=cp", "--only-binary=:all:"]

    def markers(self) -> dict[str, str]:
        """The environment that markers are read in."""
        return {
            "python_version": self.python,
            "python_full_version": f"{self.python}.0",
            "platform_machine": self.machine,
            "sys_platform": "linux",
            "platform_system": "Linux",
            "os_name": "posix",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "extra": "",
        }


def requirements_for(lock: Path, target: Target) -> str:
    """The lock's requirements that hold for the target, one a line, with hashes and without markers."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = [entry.strip() for entry in re.sub(r"\\\n", "", text).splitlines() if entry.strip()]
    return "".join(f"{line}\n" for entry in entries if (line := _line(entry, target)) is not None)


def _line(entry: str, target: Target) -> str | None:
    requirement, *hashes = re.split(r"\s+--hash=", entry)
    pin, _, marker = (part.strip() for part in requirement.partition(";"))
    if marker and not Marker(marker).evaluate(target.markers()):
        return None
    return " ".join([pin, *(f"--hash={digest.strip()}" for digest in hashes)])
