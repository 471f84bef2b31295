"""Storing one statement: which id, what stands there already, and the write that follows.

Owns: the order of design section 3 for `remember`, from ids to the stored memory.
Guarantees: two requests side by side where nothing is in the way (P-FLAT-WRITES); whoever states the same thing at the
same time meets at one id (B12); what comes back as stored is in the state bucket.
Gives up: a place for content that was stored, superseded or changed eight times over; an own id helps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from lodestore.domain.caller import Caller
from lodestore.domain.consolidation import noting
from lodestore.domain.encounter import (
    Address,
    AlreadyKnown,
    Clash,
    Enriched,
    Occupied,
    Replaceable,
    WasForgotten,
    meet,
    meet_same,
)
from lodestore.domain.identity import DERIVED_ATTEMPTS, digest, id_from_content, id_from_key
from lodestore.domain.limits import SUPERSEDES, TAGS
from lodestore.domain.memory import Embedding, Memory, Record, Stub
from lodestore.domain.statement import Statement, new_memory, revised
from lodestore.errors import Conflict, InvalidArgument, TooLarge, Unavailable
from lodestore.ports.clock import Clock
from lodestore.services.hiding import Hiding
from lodestore.services.ledger import Displaced, Ledger, Overtaken, Quarantined, Standing
from lodestore.services.passages import Passages
from lodestore.services.supersede import Superseding

# A write that is displaced this often on one id meets more writers than any agent is.
TRIES = 64


class Status(StrEnum):
    """What became of a statement (`interface.md`, remember)."""

    STORED = "stored"
    ALREADY_KNOWN = "already_known"
    UPDATED = "updated"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Kept:
    """The outcome. `written` None: forgotten, nothing stored. `changed_since`: when a later update changed it.

    created    nothing stood at the id before
    """

    status: Status
    memory_id: str
    written: Standing | Overtaken | None
    changed_since: datetime | None = None
    created: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """One statement on its way to one id. `reached`: members of the merged memories that it supersedes."""

    caller: Caller
    statement: Statement
    address: Address
    memory_id: str
    idempotency: str | None
    now: datetime
    embedding: Embedding | None
    over_stubs: bool
    reached: tuple[str, ...] = ()


class Storing:
    """Statements in, memories out."""

    def __init__(
        self, ledger: Ledger, superseding: Superseding, hiding: Hiding, passages: Passages, clock: Clock
    ) -> None:
        self._ledger = ledger
        self._hiding = hiding
        self._superseding = superseding
        self._passages = passages
        self._clock = clock

    def keep(self, caller: Caller, statement: Statement, *, over_stubs: bool = True) -> Kept:
        """Store the statement. Raises Conflict, InvalidArgument, TooLarge, Unavailable.

        over_stubs   whether it is said anew, and takes the place of a forgotten memory; False: it comes from before
        """
        address, ids = _addresses(statement)
        reached = self._check_targets(caller, statement, address, ids)
        key = statement.idempotency_key
        idempotency = None if key is None else digest("idempotency", key)
        embedding = self._passages.of(statement.content, statement.fields.source)
        for memory_id in ids:
            place = _Place(
                caller,
                statement,
                address,
                memory_id,
                idempotency,
                self._clock.now(),
                embedding,
                over_stubs,
                tuple(member for member in reached if member != memory_id),
            )
            try:
                kept = self._keep_at(place)
            except Quarantined:
                if address is not Address.CONTENT:
                    raise
                continue
            if kept is not None:
                self._settle_supersedes(caller, statement, kept)
                return kept
        raise Conflict(
            f"This content was stored and then superseded or changed {DERIVED_ATTEMPTS} times; no id is left for it.",
            memory_id=ids[-1],
            current_version=None,
            field="content",
            next_step="Give an id of your own.",
        )

    def _keep_at(self, place: _Place) -> Kept | None:
        """The statement at one id; None: another memory lives there."""
        tenant, memory_id = place.caller.tenant, place.memory_id
        result = self._ledger.write(tenant, memory_id, None, _fresh(place, None))
        status, created = Status.STORED, True
        for _ in range(TRIES):
            if not isinstance(result, Displaced):
                return _written(result, memory_id, status, created=created)
            if result.current is None:
                result, created = self._ledger.write(tenant, memory_id, None, _fresh(place, None)), True
                continue
            step = self._meet(place, result.current)
            if not isinstance(step, _Write):
                return step
            result = self._ledger.write(tenant, memory_id, result.current, step.draft)
            status, created = step.status, False
        raise Unavailable("Too many writers at once on one memory; nothing was stored.")

    def _meet(self, place: _Place, current: Standing) -> Kept | _Write | None:
        met = meet(
            current.record,
            place.statement,
            place.caller,
            address=place.address,
            idempotency=place.idempotency,
            now=place.now,
        )
        if isinstance(met, Occupied):
            return None
        if isinstance(met, WasForgotten) or (isinstance(current.record, Stub) and not place.over_stubs):
            return Kept(Status.FORGOTTEN, place.memory_id, None)
        if isinstance(met, Clash):
            raise _conflict(place, met.version)
        if place.address is Address.CONTENT and isinstance(met, AlreadyKnown | Enriched):
            shown = self._hiding.shown_as(met.memory)
            if shown is not True:
                return self._keep_in(place, shown) if shown else None
        if isinstance(met, AlreadyKnown):
            # The first writer may have died between its two requests; after this answer every reader must see it.
            self._ledger.ensure_marked(place.caller.tenant, place.memory_id, current.record.revision)
            since = met.memory.updated_at if met.changed else None
            return Kept(Status.ALREADY_KNOWN, place.memory_id, current, since)
        if isinstance(met, Enriched):
            self._check_enriched(place, met.memory)
            return _Write(Status.UPDATED, _enriched(place, current.record, _reaching(place, met.memory)))
        assert isinstance(met, Replaceable)
        targets = place.statement.fields.supersedes or ()
        self._superseding.check_cycle(place.caller.tenant, place.memory_id, targets)
        return _Write(Status.STORED, _fresh(place, current.record))

    def _keep_in(self, place: _Place, merged: Standing) -> Kept | None:
        """The statement in the merged memory that shows for it, and that a person changed; None: not there any more."""
        current: Standing | None = merged
        for _ in range(TRIES):
            memory = current.record if current is not None else None
            if (
                current is None
                or not isinstance(memory, Memory)
                or memory.content != place.statement.content
                or memory.scope is not place.statement.scope
                or not memory.visible_to(place.caller)
            ):
                return None
            met = meet_same(memory, place.statement)
            if isinstance(met, AlreadyKnown):
                self._ledger.ensure_marked(memory.tenant, memory.id, memory.revision)
                return Kept(Status.ALREADY_KNOWN, memory.id, current)
            self._check_enriched(place, met.memory)
            draft = _enriched(place, memory, _reaching(place, met.memory))
            result = self._ledger.write(memory.tenant, memory.id, current, draft)
            if not isinstance(result, Displaced):
                return _written(result, memory.id, Status.UPDATED, created=False)
            current = result.current
        raise Unavailable("Too many writers at once on one memory; nothing was stored.")

    def _check_enriched(self, place: _Place, memory: Memory) -> None:
        if len(memory.tags) > TAGS:
            raise TooLarge(
                f"With these tags the memory would have {len(memory.tags)} tags; at most {TAGS}.",
                field="tags",
                limit=TAGS,
                got=len(memory.tags),
                next_step="Give fewer tags, or set them with update_memory.",
            )
        if place.statement.fields.supersedes:
            implied = self._superseding.members_of(place.caller.tenant, memory.supersedes)
            named = len(set(memory.supersedes).difference(implied))
            if named > SUPERSEDES:
                raise TooLarge(
                    f"With these the memory would supersede {named} others; at most {SUPERSEDES}.",
                    field="supersedes",
                    limit=SUPERSEDES,
                    got=named,
                    next_step="Set them with update_memory, or let another memory supersede the rest.",
                )
            self._superseding.check_cycle(place.caller.tenant, place.memory_id, memory.supersedes)

    def _check_targets(
        self, caller: Caller, statement: Statement, address: Address, ids: tuple[str, ...]
    ) -> tuple[str, ...]:
        """What the merged memories among its targets were merged from, which it supersedes with them."""
        targets = statement.fields.supersedes or ()
        if not targets:
            return ()
        try:
            return self._superseding.check(caller, statement.own_id, statement.scope, targets)
        except InvalidArgument:
            # A retry whose target was forgotten since its first answer must not fail for that.
            if not any(self._is_retry(caller, statement, address, memory_id) for memory_id in ids):
                raise
            return ()

    def _is_retry(self, caller: Caller, statement: Statement, address: Address, memory_id: str) -> bool:
        """Whether the statement was answered at this id before, and comes to the same there again."""
        standing = self._ledger.read(caller.tenant, memory_id)
        record = standing.record if standing is not None else None
        if not isinstance(record, Memory) or record.origin != statement.origin:
            return False
        met = meet(record, statement, caller, address=address, idempotency=None, now=self._clock.now())
        return isinstance(met, AlreadyKnown | Enriched)

    def _settle_supersedes(self, caller: Caller, statement: Statement, kept: Kept) -> None:
        memory = kept.written.record if kept.written is not None else None
        if not isinstance(memory, Memory) or not memory.supersedes:
            return
        if not kept.created:
            # What stood there may have been superseded meanwhile. Nobody could name an id at which nothing stood.
            self._superseding.look_again(caller.tenant, memory.id, statement.fields.supersedes or ())
        self._superseding.note(caller.tenant, memory.id, noting(memory))


@dataclass(frozen=True, slots=True)
class _Write:
    status: Status
    draft: Callable[[str], Record]


def _addresses(statement: Statement) -> tuple[Address, tuple[str, ...]]:
    if statement.own_id is not None:
        return Address.OWN, (statement.own_id,)
    conversation = statement.scope_conversation
    if statement.idempotency_key is not None:
        return Address.KEY, (id_from_key(statement.idempotency_key, conversation),)
    attempts = range(DERIVED_ATTEMPTS)
    return Address.CONTENT, tuple(id_from_content(statement.content, conversation, n) for n in attempts)


def _fresh(place: _Place, over: Record | None) -> Callable[[str], Record]:
    def draft(revision: str) -> Record:
        memory = new_memory(
            place.statement,
            tenant=place.caller.tenant,
            memory_id=place.memory_id,
            idempotency=place.idempotency,
            over=over,
            revision=revision,
            now=place.now,
            embedding=place.embedding,
        )
        return _reaching(place, memory)

    return draft


def _reaching(place: _Place, memory: Memory) -> Memory:
    """The memory, which supersedes also what the merged ones that it supersedes were merged from."""
    if not place.reached:
        return memory
    return replace(memory, supersedes=tuple(dict.fromkeys([*memory.supersedes, *place.reached])))


def _enriched(place: _Place, over: Record, memory: Memory) -> Callable[[str], Record]:
    assert isinstance(over, Memory)

    def draft(revision: str) -> Record:
        return revised(memory, over=over, revision=revision, now=place.now)

    return draft


def _written(result: Standing | Overtaken, memory_id: str, status: Status, *, created: bool) -> Kept:
    if isinstance(result, Standing):
        return Kept(status, memory_id, result, created=created)
    now = result.current.record
    if not isinstance(now, Memory):
        # Our write landed, its answer was lost, and someone forgot the memory before we looked.
        return Kept(Status.FORGOTTEN, memory_id, None)
    ours = result.record
    changed = isinstance(ours, Memory) and now.version != ours.version
    return Kept(status, memory_id, result, now.updated_at if changed else None, created=created)


def _conflict(place: _Place, version: int | None) -> Conflict:
    field = "id" if place.address is Address.OWN else "idempotency_key"
    if version is None:
        return Conflict(
            f"This {field} can't be used here.",
            memory_id=place.memory_id,
            current_version=None,
            field=field,
            next_step=f"Give another {field}, or leave it out.",
        )
    return Conflict(
        f"This {field} belongs to a memory with other content.",
        memory_id=place.memory_id,
        current_version=version,
        field=field,
        next_step="Use update_memory to change that memory, or another " + field + ".",
    )
