"""API keys: how they are made, kept, checked and remembered."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from lodestore.adapters.folder_store import FolderStore
from lodestore.domain.caller import Grant, Role
from lodestore.errors import InvalidArgument, SettingsError, Unauthenticated, Unavailable
from lodestore.format import keys
from lodestore.ports.object_store import Found, Won
from lodestore.services.access import MOST_REMEMBERED, REMEMBERED_FOR, Access
from lodestore.settings import Auth
from tests.faults.hostile_store import Fault, FaultyStore, on
from tests.handlers.stand_ins import CountingEntropy, HandClock

NEVER_ISSUED = "lode_" + "A" * 43


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store(tmp_path: Path, clock: HandClock) -> FaultyStore:
    return FaultyStore(FolderStore(tmp_path, clock, versioned=True))


@pytest.fixture
def access(store: FaultyStore, clock: HandClock) -> Access:
    return _access(store, clock)


def _access(store: FaultyStore, clock: HandClock, auth: Auth = Auth.KEYS) -> Access:
    return Access(store, clock=clock, entropy=CountingEntropy(), auth=auth, default_tenant="default")


def _name(key: str) -> str:
    return keys.access(hashlib.sha256(key.encode()).hexdigest())


def test_a_new_key_is_valid_at_once_even_to_another_process(
    access: Access, store: FaultyStore, clock: HandClock
) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    assert access.grant(key) == Grant(Role.WRITER, ("acme",))
    assert _access(store, clock).grant(key) == Grant(Role.WRITER, ("acme",))


def test_a_key_is_256_random_bits_and_no_two_are_alike(access: Access) -> None:
    issued = [access.issue_key(["acme"], Role.READER) for _ in range(3)]
    assert len(set(issued)) == 3
    assert all(re.fullmatch(r"lode_[A-Za-z0-9_-]{43}", key) for key in issued)


def test_only_the_hash_of_a_key_is_kept(access: Access, store: FaultyStore, tmp_path: Path) -> None:
    key = access.issue_key(["acme", "zephyr"], Role.ADMIN)
    found = store.get(_name(key))
    assert isinstance(found, Found)
    assert json.loads(found.body) == {
        "schema": 1,
        "tenants": ["acme", "zephyr"],
        "role": "admin",
        "created_at": "2026-03-09T01:30:00.000Z",
    }
    secret = key.removeprefix("lode_").encode()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if secret in path.read_bytes() or secret.decode() in str(path)]


@pytest.mark.case("B90")
@pytest.mark.parametrize(
    "credential",
    [
        None,
        "",
        "lode_",
        NEVER_ISSUED,
        NEVER_ISSUED + "A",
        NEVER_ISSUED.upper(),
        "x" * 100_000,
        "é",
        "lode_\n" + "A" * 42,
    ],
)
def test_without_a_known_key_the_caller_is_unauthenticated(access: Access, credential: str | None) -> None:
    with pytest.raises(Unauthenticated) as caught:
        access.grant(credential)
    assert caught.value.next_step
    assert credential is None or len(credential) < 9 or credential not in str(caught.value)


def test_what_cannot_be_a_key_costs_no_storage_request(access: Access, store: FaultyStore) -> None:
    for credential in (None, "", "Bearer", "sk-1234", NEVER_ISSUED + "=", "../../memories/acme/x"):
        with pytest.raises(Unauthenticated):
            access.grant(credential)
    assert not store.requests


def test_a_key_is_looked_up_once_a_minute(access: Access, store: FaultyStore, clock: HandClock) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    store.reset()
    for _ in range(5):
        access.grant(key)
    assert store.count("get") == 1
    clock.time += REMEMBERED_FOR
    access.grant(key)
    assert store.count("get") == 2


def test_a_revoked_key_ends_within_a_minute(access: Access, store: FaultyStore, clock: HandClock) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    access.grant(key)
    store.delete(_name(key))
    clock.time += REMEMBERED_FOR
    with pytest.raises(Unauthenticated):
        access.grant(key)


def test_a_clock_that_was_set_back_lets_no_key_live_longer(
    access: Access, store: FaultyStore, clock: HandClock
) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    access.grant(key)
    store.delete(_name(key))
    clock.time -= timedelta(days=1)
    with pytest.raises(Unauthenticated):
        access.grant(key)


def test_an_unknown_key_is_remembered_too(access: Access, store: FaultyStore) -> None:
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            access.grant(NEVER_ISSUED)
    assert store.count("get") == 1


@pytest.mark.promise("P-BOUNDED")
def test_a_flood_of_wrong_keys_is_bounded_and_pushes_out_no_right_one(
    access: Access, store: FaultyStore
) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    access.grant(key)
    for number in range(MOST_REMEMBERED + 10):
        with pytest.raises(Unauthenticated):
            access.grant(f"lode_{number:043d}")
    store.reset()
    access.grant(key)
    assert not store.requests
    # The last wrong ones are remembered, the first are not: so many are kept and no more.
    for number, asked in ((MOST_REMEMBERED + 9, 0), (0, 1)):
        with pytest.raises(Unauthenticated):
            access.grant(f"lode_{number:043d}")
        assert store.count("get") == asked


def test_a_store_that_does_not_answer_is_said_and_not_remembered(access: Access, store: FaultyStore) -> None:
    key = access.issue_key(["acme"], Role.WRITER)
    store.inject(on(Fault.UNAVAILABLE, "get"))
    with pytest.raises(Unavailable):
        access.grant(key)
    assert access.grant(key).role is Role.WRITER


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 10_000,
        b'{"schema":2,"tenants":["acme"],"role":"admin"}',
        b'{"schema":1,"tenants":[],"role":"admin"}',
        b'{"schema":1,"tenants":"acme","role":"admin"}',
        b'{"schema":1,"tenants":["../acme"],"role":"admin"}',
        b'{"schema":1,"tenants":[7],"role":"admin"}',
        b'{"schema":1,"tenants":["acme"],"role":"root"}',
        b'{"schema":1,"tenants":["acme"]}',
        b'{"schema":1,"tenants":["acme"],"role":"admin"}' + b" " * 70_000,
    ],
)
def test_a_damaged_record_grants_nothing(access: Access, store: FaultyStore, body: bytes) -> None:
    assert isinstance(store.create(_name(NEVER_ISSUED), body), Won)
    with pytest.raises(Unavailable) as caught:
        access.grant(NEVER_ISSUED)
    assert "can't be checked" in caught.value.message


@pytest.mark.parametrize(
    "tenants", [[], [""], ["../x"], ["a,b"], ["acme", "é"], [f"t{n}" for n in range(257)]]
)
def test_a_key_for_no_well_formed_tenant_is_refused_before_anything_is_written(
    access: Access, store: FaultyStore, tenants: list[str]
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        access.issue_key(tenants, Role.READER)
    assert caught.value.field == "TENANT"
    assert not store.requests


@pytest.mark.parametrize("fault", [Fault.UNKNOWN_BEFORE, Fault.UNKNOWN_AFTER, Fault.CONTENDED, Fault.LOST])
def test_a_key_that_is_handed_out_works_whatever_the_store_answered_first(
    access: Access, store: FaultyStore, fault: Fault
) -> None:
    store.inject(on(fault, "create"))
    assert access.grant(access.issue_key(["acme"], Role.READER)).tenants == ("acme",)


def test_a_key_that_can_t_be_confirmed_is_not_handed_out(access: Access, store: FaultyStore) -> None:
    store.inject(on(Fault.UNKNOWN_BEFORE, "create", times=None))
    with pytest.raises(Unavailable) as caught:
        access.issue_key(["acme"], Role.READER)
    assert caught.value.written == "unknown"


def test_in_open_mode_everyone_is_admin_of_any_tenant(store: FaultyStore, clock: HandClock) -> None:
    assert _access(store, clock, Auth.OPEN).grant(None) == Grant(Role.ADMIN, None)
    assert not store.requests


@pytest.mark.parametrize("auth", [Auth.OAUTH, Auth.IAM])
def test_a_mode_without_a_check_never_starts(store: FaultyStore, clock: HandClock, auth: Auth) -> None:
    with pytest.raises(SettingsError, match="AUTH"):
        _access(store, clock, auth)
