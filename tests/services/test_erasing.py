"""Erasing a tenant or a memory: all of it, nothing of another's, and a second look that tells."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.domain.caller import Role
from lodestore.errors import Unauthenticated
from lodestore.format import keys
from lodestore.ports.object_store import Found, ObjectStore
from lodestore.services.access import Access
from lodestore.services.erasing import Erasing
from lodestore.settings import Auth
from tests.services.index_truth import indexed
from tests.services.world import Instance, SeededEntropy, World
from tests.stores.kinds import making

WORD = b"XYZZYPLUGH"
WINDOW = timedelta(hours=25)


@pytest.fixture(params=["folder", "memory", "moto"])
def world(folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(folder)
    with making(request.param, request, folder) as make:
        world.state.inner, world.index.inner = make(versioned=True), make()
        yield world
        world.close()


def bodies(store: ObjectStore) -> Iterator[bytes]:
    """Every byte that a store still gives out: keys, objects, and all versions."""
    for page in store.list(""):
        for entry in page.entries:
            yield entry.key.encode()
            found = store.get(entry.key)
            assert isinstance(found, Found)
            yield found.body
    for version in store.versions(""):
        yield version.key.encode()
        body = store.get_version(version.key, version.version_id)
        yield body.body if isinstance(body, Found) else b""


def everything(world: World) -> bytes:
    return b"\n".join([*bodies(world.state.inner), *bodies(world.index.inner)])


def used(one: Instance) -> str:
    """A tenant with something of every kind."""
    kept = one.stored("the office is in Oslo", ttl_days=30)
    word = one.stored(f"the word is {WORD.decode()}")
    one.call("update_memory", id=word, content=f"the word was {WORD.decode()}")
    one.call("memory_feedback", id=kept, useful=True, note="it helped")
    one.call("forget", id=word)
    one.lodestore.sleeping.run(one.caller.tenant)
    one.call("memory_feedback", id=kept, useful=True)
    one.stored("standup is at nine")
    return word


def erasing(world: World) -> Erasing:
    return world.instance().lodestore.erasing


@pytest.mark.case("B01", "B21")
@pytest.mark.promise("P-TENANT")
def test_all_of_a_tenant_goes_and_nothing_of_the_one_beside_it(world: World) -> None:
    acme, corp = world.instance("acme"), world.instance("acme-corp")
    used(acme)
    used(corp)
    before = corp.listed()
    assert erasing(world).verify("acme").receipt is None
    erased = erasing(world).run("acme")
    assert (erased.left, erased.versions > 3, erased.derived > 3, erased.notes > 0) == (0, True, True, True)
    verified = erasing(world).verify("acme")
    assert verified.left == 0
    assert verified.receipt is not None
    assert "acme" not in verified.receipt
    assert b"/acme/" not in everything(world)
    assert world.instance("acme").listed(status="all") == []
    assert world.instance("acme-corp").listed() == before
    assert world.instance("acme-corp").hits("office") == ["the office is in Oslo"]
    assert erasing(world).count("acme-corp") > 0


@pytest.mark.promise("P-SILENT-NEVER")
def test_what_came_after_the_erasure_is_seen_by_the_second_look(world: World) -> None:
    used(world.instance("acme"))
    erasing(world).run("acme")
    world.instance("acme").stored("a late one")
    assert erasing(world).verify("acme").left > 0
    assert erasing(world).run("acme").left == 0


def test_keys_no_longer_name_the_tenant_and_those_of_others_stay(world: World) -> None:
    def access() -> Access:
        return Access(
            world.state,
            clock=world.clock,
            entropy=SeededEntropy(7),
            auth=Auth.KEYS,
            default_tenant="",
        )

    issuer = access()
    own = issuer.issue_key(["acme"], Role.WRITER)
    shared = issuer.issue_key(["acme", "acme-corp"], Role.READER)
    assert erasing(world).run("acme").keys == 2
    with pytest.raises(Unauthenticated):
        access().grant(own)
    grant = access().grant(shared)
    assert (grant.tenants, grant.role) == (("acme-corp",), Role.READER)
    assert b'"acme"' not in everything(world)


@pytest.mark.promise("P-FORGOTTEN")
def test_a_forgotten_text_is_in_no_byte_of_the_buckets_after_maintenance_and_the_window(
    world: World,
) -> None:
    acme = world.instance("acme")
    word = used(acme)
    assert WORD in everything(world)
    world.clock.advance(WINDOW)
    report = world.instance().lodestore.sleeping.run("acme").report
    assert report.complete
    assert WORD not in everything(world)
    assert acme.error("get_memory", id=word)["error"] == "not_found"


@pytest.mark.promise("P-FORGOTTEN")
def test_one_memory_is_erased_at_once_and_its_stub_stays(world: World) -> None:
    acme = world.instance("acme")
    acme.stored(f"the word is {WORD.decode()}", id="word")
    acme.call("update_memory", id="word", content=f"the word was {WORD.decode()}")
    other = acme.stored("the office is in Oslo")
    indexed(world)
    one = world.instance().lodestore.erasing_memory
    assert one.look("acme", "word").gone is False
    outcome = one.run("acme", "word")
    assert (outcome.gone, outcome.versions, outcome.steps_complete) == (True, 2, True)
    assert one.look("acme", "word").gone is True
    assert WORD not in everything(world)
    assert acme.error("restore_memory", id="word")["error"] == "not_found"
    assert isinstance(world.state.inner.get(keys.memory("acme", "word")), Found)
    assert world.instance().listed(status="all") == [other]
