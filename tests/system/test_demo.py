"""`lodestore demo` tells a true story and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from tests.system.processes import run_lodestore, variables


def test_the_demo_shows_each_call_what_the_folder_holds_and_what_a_forgotten_memory_leaves(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    answer = run_lodestore(
        variables(tmp_path / "mine", TMPDIR=str(elsewhere), AUTH="keys", TENANT=""), "demo"
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    story = answer.stdout
    calls = [
        line.partition("(")[0] for line in story.splitlines() if line.endswith(")") and line[0].isalpha()
    ]
    assert calls == ["remember", "recall", "update_memory", "recall", "forget", "recall"]
    before, _, after = story.partition("forget(")
    assert '"content": "Nora leads the Oslo migration; the cut-over has moved to 19 March."' in before
    assert "state/memories/demo/" in before
    assert "no hit" in after
    assert '"status": "forgotten"' in after
    assert "19 March" not in after
    assert list(elsewhere.iterdir()) == []
    assert not (tmp_path / "mine").exists()
