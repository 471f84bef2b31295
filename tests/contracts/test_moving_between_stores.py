"""A folder and S3 hold the same memories: what goes from one to the other and back is byte for byte the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from lodestore.bootstrap import NO_EMBEDDER, assemble
from lodestore.domain.arrival import Verdict
from lodestore.domain.caller import Caller, Role
from lodestore.settings import parse_settings
from tests.services.test_exporting_and_importing import exported, imported, stocked, verdicts
from tests.services.world import CountingMeter, FakeClock, Instance, SeededEntropy, World
from tests.stores.fixtures import StoreMaker
from tests.stores.kinds import making


def instance_on(make: StoreMaker, seed: int) -> Instance:
    lodestore = assemble(
        parse_settings({}),
        make(versioned=True),
        make(),
        clock=FakeClock(),
        entropy=SeededEntropy(seed),
        meter=CountingMeter(),
        embedder=NO_EMBEDDER,
    )
    return Instance(lodestore, Caller("acme", None, Role.ADMIN), after=lambda _: None)


@pytest.mark.case("B48")
@pytest.mark.parametrize("kind", ["moto", "seaweedfs"])
def test_from_a_folder_to_s3_and_back_is_byte_for_byte_the_same(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    world = World(tmp_path / "here")
    acme = world.instance("acme")
    stocked(acme, world)
    export = exported(acme, versions=True, tombstones=True)
    with making(kind, request, tmp_path) as make:
        cloud = instance_on(make, 1)
        assert set(verdicts(imported(cloud, export))) == {Verdict.STORED}
        assert set(verdicts(imported(cloud, export))) == {Verdict.ALREADY_KNOWN}
        back = exported(cloud, versions=True, tombstones=True)
        cloud.lodestore.workers.shutdown()
    assert back == export
    home = World(tmp_path / "home")
    imported(home.instance("acme"), back)
    assert exported(home.instance("acme"), versions=True, tombstones=True) == export
    world.close()
    home.close()
