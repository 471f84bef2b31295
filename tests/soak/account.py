"""The account after a storm: every answered write, the index against the truth, and what garbage is left.

Owns: `settle`. Guarantees: all of it is read from the store by a fresh process, hours later by the store's clock (moved
by `LaterStore`): each id of a writer's own is in a state that its journal allows, no version of a shared one was
answered twice, the index shows exactly the truth, before and after a rebuild, and after collection no segment is there
that the manifest does not list, and no marker.
Gives up: which of several lost writes the store lost first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lodestore.bootstrap import Lodestore, assemble, build
from lodestore.domain.caller import Caller, Role
from lodestore.errors import NotFound
from lodestore.services.upkeep_steps import SWEEP
from tests.services.index_truth import manifest_of, markers_of, segments_of, shown_by_index, truth_of
from tests.services.world import CountingMeter, World
from tests.soak.journal import Expected, calls_in
from tests.soak.tallied_store import LaterStore
from tests.soak.worker import TENANT

Json = dict[str, Any]

ROUNDS = 6
HOURS_A_ROUND = 2.5
CALLER = Caller(TENANT, None, Role.ADMIN)


@dataclass(slots=True)
class Account:
    """What was found. `lost`: answered writes whose state is not there."""

    expected: Expected = field(default_factory=Expected)
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def check(self, what: str, holds: bool, why: str) -> None:
        """One more check."""
        self.checked[what] += 1
        if not holds:
            self.wrong.append(f"{what}: {why}")


def read_journals(folder: Path) -> Expected:
    """What all writers meant and were told."""
    expected = Expected()
    for path in sorted(folder.glob("*.jsonl")):
        for call in calls_in(path):
            expected.learn(call)
    return expected


def settle(variables: Json, folder: Path) -> Account:
    """The account of the storm whose journals are in `folder`."""
    account = Account(read_journals(folder))
    account.wrong += account.expected.wrong
    built = build(variables)
    stores = [LaterStore(store) for store in (built.state_store, built.index_store)]
    later = assemble(built.settings, *stores, clock=built.clock, entropy=built.entropy, meter=CountingMeter())
    _check_states(account, later)
    _check_versions(account, later)
    world = World(folder / "world")
    world.state.inner, world.index.inner = stores
    # A writer that was killed between its two requests left a memory without a marker: only a sweep can know of it.
    later.sleeping.run(TENANT, {SWEEP})
    _converge(later, stores)
    truth = truth_of(world)
    account.check("index = truth", shown_by_index(world) == truth, "after upkeep")
    later.rebuilding.run(TENANT)
    account.check("index = rebuild", shown_by_index(world) == truth, "after a rebuild")
    _converge(later, stores)
    manifest = manifest_of(world).manifest
    listed = set() if manifest is None else set(manifest.names)
    account.check("no orphan", segments_of(world) == listed, f"{segments_of(world) ^ listed}")
    account.check("no marker", not markers_of(world), f"{len(markers_of(world))} markers are left")
    account.check(
        "all rows listed", _listed(later) == _live(account, later), "list_memories and the journals differ"
    )
    return account


def _converge(later: Lodestore, stores: list[LaterStore]) -> None:
    for _ in range(ROUNDS):
        later.upkeep.run(TENANT)
        for store in stores:
            store.hours += HOURS_A_ROUND


def _stands(later: Lodestore, memory_id: str) -> Json | None:
    try:
        found: Any = later.toolbox.call(CALLER, "get_memory", {"id": memory_id})["memory"]
    except NotFound:
        return None
    memory: Json = found
    return memory


def _check_states(account: Account, later: Lodestore) -> None:
    for memory_id, states in account.expected.states.items():
        found = _stands(later, memory_id)
        content = None if found is None else str(found["content"])
        account.checked["states of ids"] += 1
        if content not in states:
            account.lost.append(f"{memory_id} is {content!r}, and was answered as one of {states}")


def _check_versions(account: Account, later: Lodestore) -> None:
    newest: dict[str, int] = {}
    for memory_id, version in account.expected.versions:
        newest[memory_id] = max(version, newest.get(memory_id, 0))
    for memory_id, version in newest.items():
        found = _stands(later, memory_id)
        account.checked["versions of shared ids"] += 1
        if found is None or found["version"] < version:
            account.lost.append(f"{memory_id} has not reached version {version}, which was answered")


def _listed(later: Lodestore) -> set[str]:
    return {str(row["id"]) for row in _rows(later)}


def _rows(later: Lodestore) -> Iterator[Json]:
    cursor: Json = {}
    while True:
        page: Json = later.toolbox.call(CALLER, "list_memories", {"limit": 100, "status": "all", **cursor})
        yield from page["memories"]
        if "next_cursor" not in page:
            return
        cursor = {"cursor": page["next_cursor"]}


def _live(account: Account, later: Lodestore) -> set[str]:
    ids = {*account.expected.states, *(memory_id for memory_id, _ in account.expected.versions)}
    return {memory_id for memory_id in ids if _stands(later, memory_id) is not None}
