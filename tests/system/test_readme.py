"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from local_runner.child_server import child_server
from tests.system.processes import LODESTORE, ROOT, run_lodestore, variables

README = (ROOT / "README.md").read_text()
CONSOLE = re.search(r"```console\n(.*?)```", README, re.DOTALL)
PYTHON = re.search(r"```python\n(.*?)```", README, re.DOTALL)
ADDRESS = "http://127.0.0.1:8765/mcp"


def shown_after(command: str) -> list[str]:
    """The lines that the README shows below a command."""
    assert CONSOLE is not None
    lines = CONSOLE.group(1).splitlines()
    start = lines.index(f"$ {command}") + 1
    end = next((at for at in range(start, len(lines)) if lines[at].startswith("$ ")), len(lines))
    return lines[start:end]


def test_the_server_prints_the_lines_that_the_readme_shows(tmp_path: Path) -> None:
    shown = shown_after("make run")
    assert shown
    with subprocess.Popen(
        [*LODESTORE, "serve"], env=variables(tmp_path, PORT="0"), stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        printed = [server.stdout.readline().rstrip("\n") for _ in shown]
        server.terminate()
    url = printed[0].removeprefix("Lodestore ready: ")
    assert printed == [line.replace(ADDRESS, url) for line in shown]


def test_the_demo_prints_the_lines_that_the_readme_shows(tmp_path: Path) -> None:
    printed = run_lodestore(variables(tmp_path), "demo").stdout.splitlines()
    for line in shown_after("make demo"):
        assert line in printed


def test_the_python_of_the_readme_stores_and_finds(tmp_path: Path) -> None:
    assert PYTHON is not None
    with child_server(variables(tmp_path)) as server:
        program = PYTHON.group(1).replace(ADDRESS, server.url)
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stdout == "The office moved to Bergen\n", done.stderr
