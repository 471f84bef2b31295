"""What a hand does to the folder is the truth from then on."""

from __future__ import annotations

from pathlib import Path

import pytest

from lodestore.format import keys
from tests.services.world import Instance, World


def place(folder: Path, memory_id: str) -> Path:
    return folder / "state" / keys.memory("acme", memory_id)


@pytest.mark.promise("P-TRUTH")
@pytest.mark.parametrize("by", ["removed", "broken"])
def test_a_file_that_a_hand_took_away_is_not_shown_by_a_process_that_held_it(
    world: World, folder: Path, acme: Instance, by: str
) -> None:
    memory_id = acme.stored("The walrus eats at noon")
    kept = acme.stored("The walrus sleeps at night")
    assert len(acme.hits("walrus")) == 2
    if by == "removed":
        place(folder, memory_id).unlink()
    else:
        place(folder, memory_id).write_text("{")
    if world.indexing != "off":
        # The folder's change comes as an event; the marker of the memory is still there.
        acme.lodestore.upkeep.index("acme", [memory_id])
    for _ in range(2):
        assert acme.hits("walrus") == ["The walrus sleeps at night"]
        assert acme.call("list_memories")["total"] == 1
        assert acme.listed() == [kept]
    assert acme.call("memory_context", query="walrus")["ids"] == [kept]
    assert acme.call("memory_stats")["total"] == 1


@pytest.mark.promise("P-SILENT-NEVER")
def test_a_link_at_a_memorys_key_takes_nothing_down(world: World, folder: Path, acme: Instance) -> None:
    acme.stored("The walrus eats at noon")
    place(folder, "link").symlink_to("/etc/hostname")
    error = acme.error("remember", content="Behind the link", id="link")
    assert (error["error"], error["written"]) == ("unavailable", False)
    for instance in (acme, world.instance()):
        assert instance.hits("walrus") == ["The walrus eats at noon"]
        assert instance.call("list_memories")["total"] == 1
        assert instance.error("get_memory", id="link")["error"] == "not_found"
