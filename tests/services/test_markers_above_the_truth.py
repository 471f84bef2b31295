"""A marker may name a revision above the one that stands: who put it only wanted every reader to look again."""

from __future__ import annotations

import pytest

from lodestore.format import keys
from tests.services.world import Instance, World


@pytest.mark.promise("P-READ-YOUR-WRITES")
def test_a_memory_whose_marker_names_more_than_stands_is_shown(world: World, acme: Instance) -> None:
    memory_id = acme.stored("The office is in Oslo")
    acme.lodestore.indexing.run("acme")
    for page in world.index.inner.list(keys.pending_of("acme")):
        for entry in page.entries:
            world.index.inner.delete(entry.key)
    # Nothing says any more that a reader was told of it, so a repeat puts a marker of a fresh revision.
    assert acme.remember("The office is in Oslo")["status"] == "already_known"
    for instance in (acme, world.instance("acme")):
        assert instance.hits("office") == ["The office is in Oslo"]
        assert instance.listed() == [memory_id]
