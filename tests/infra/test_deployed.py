"""A deployment is found by its own outputs, and nothing of the run time is imported to make one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.deployed import NotDeployed, variables
from tests.structure.source_tree import deployment_modules, imports_of

RUN_TIME = {"lodestore", "mcp_server", "indexer", "maintenance", "local_runner", "tests"}


def test_infra_imports_nothing_of_the_run_time() -> None:
    modules = deployment_modules()
    assert len(modules) > 10
    strays = {
        module.place: name
        for module in modules
        for _, name in imports_of(module.tree)
        if name.partition(".")[0] in RUN_TIME
    }
    assert not strays


def test_a_key_is_made_for_the_buckets_of_the_deployment(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    said = {
        "Lodestore-dev-Storage": {"StateBucket": "s", "IndexBucket": "i"},
        "Lodestore-dev-Service": {"Url": "u"},
    }
    (tmp_path / "build/outputs-dev.json").write_text(json.dumps(said), encoding="utf-8")
    assert variables("dev", tmp_path) == {"STORE": "s3://s", "INDEX_STORE": "s3://i"}


def test_a_deployment_that_is_not_known_here_is_said_to_be_unknown(tmp_path: Path) -> None:
    with pytest.raises(NotDeployed, match="make deploy ENV=prod"):
        variables("prod", tmp_path)
