"""Importing: records of another store of ours, as they were, revision and all.

Owns: the way of one line from a file into the state bucket. Guarantees: conditional writes only, so a newer revision is
never replaced and a line a second time changes nothing (P-IDEMPOTENT, P-NO-LOST-UPDATE); what is forgotten here stays
so unless `resurrect` asks for it (P-FORGOTTEN); what a record may take away from others is ruled by `import_links`;
each record is read back from any process at once, as after a write. Safe beside a running server.
Gives up: one moment. Who reads during an import that brings versions may see an earlier one for an instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from lodestore.domain.arrival import WRITES, Arrival, OnConflict, Verdict, judge
from lodestore.domain.memory import Memory, Record, Stub, continued
from lodestore.errors import Unavailable
from lodestore.format.transfer_lines import TransferLine
from lodestore.ports.clock import Clock
from lodestore.services.import_links import ImportLinks
from lodestore.services.import_screening import screened
from lodestore.services.index_rows import ShownRow
from lodestore.services.ledger import Displaced, Ledger, Standing
from lodestore.services.supersede import Superseding
from lodestore.services.tombstones import Tombstones
from lodestore.settings import SecretPolicy

_TRIES = 16


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How an import goes. `resurrect`: what was forgotten here comes back if the import brings it."""

    on_conflict: OnConflict = OnConflict.SKIP
    resurrect: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one line. `changed`: fields that differ from what it said (cleaned, redacted, other vectors)."""

    memory_id: str
    verdict: Verdict
    changed: tuple[str, ...] = ()


class Importing:
    """Records into all tenants. `model`: whose vectors this process makes; None: none."""

    def __init__(
        self,
        ledger: Ledger,
        tombstones: Tombstones,
        superseding: Superseding,
        clock: Clock,
        *,
        secrets: SecretPolicy,
        model: str | None,
    ) -> None:
        self._ledger = ledger
        self._tombstones = tombstones
        self._superseding = superseding
        self._links = ImportLinks(ledger, clock)
        self._clock = clock
        self._secrets = secrets
        self._model = model

    def take(
        self,
        tenant: str,
        line: TransferLine,
        shown: Mapping[str, ShownRow],
        options: ImportOptions,
        brought: Set[str] = frozenset(),
    ) -> Taken:
        """Store the line's record, or say why not. Raises InvalidArgument, TooLarge, Unavailable.

        shown     what the index shows: what it shows as it stands needs no marker
        brought   ids that stand here as the same import has them
        """
        now = self._clock.now()
        record, changed = screened(line.record, secrets=self._secrets, now=now, model=self._model)
        earlier = [
            screened(version, secrets=self._secrets, now=now, model=None)[0] for version in line.versions
        ]
        arrival = Arrival(
            record, frozenset(state.revision for state in earlier), options.on_conflict, options.resurrect
        )
        for _ in range(_TRIES):
            current = self._ledger.read(tenant, record.id)
            copy = self._tombstones.read(tenant, record.id) if current is None else None
            verdict = judge(arrival, current.record if current is not None else None, copy)
            links: tuple[str, ...] = ()
            settled = record
            if verdict in WRITES:
                settled = self._linked(record, current, options, brought)
                links = () if settled.supersedes == record.supersedes else ("supersedes",)
            states = [*reversed(earlier), settled]
            if options.dry_run or self._settled(tenant, record.id, verdict, states, current, copy, shown):
                return Taken(record.id, verdict, (*changed, *links))
        raise Unavailable("Too many writers at once on this memory; it was not imported.")

    def _linked(
        self, record: Record, current: Standing | None, options: ImportOptions, brought: Set[str]
    ) -> Record:
        """The record with the links that hold here. Raises InvalidArgument where two would hide each other."""
        self._links.check_members(record, brought, dry_run=options.dry_run)
        here = current.record if current is not None else None
        settled = self._links.settled(record, here, options.on_conflict, brought)
        if isinstance(settled, Memory) and settled.supersedes:
            self._superseding.check_cycle(settled.tenant, settled.id, settled.supersedes)
        return settled

    def _settled(
        self,
        tenant: str,
        memory_id: str,
        verdict: Verdict,
        states: list[Record],
        current: Standing | None,
        copy: Stub | None,
        shown: Mapping[str, ShownRow],
    ) -> bool:
        """Whether the verdict stands and is carried out; False: another writer came in between."""
        if verdict not in WRITES:
            if verdict in (Verdict.ALREADY_KNOWN, Verdict.NEWER) and current is not None:
                self._ensure_seen(tenant, memory_id, current, shown)
            return True
        if verdict is Verdict.RESURRECTED:
            return self._resurrect(tenant, states[-1], current, copy)
        row = shown.get(memory_id) if current is None else None
        if row is not None and states[-1].revision <= row.revision:
            # A hand removed a newer state that the index still shows: below it, this one would not be seen.
            states = [self._above(states[-1], row.revision)]
        # Of a life that was ended here, the states before its end are not stored again.
        ended = copy.revision if copy is not None else ""
        standing = current
        for state in states:
            if state.revision <= max(ended, standing.record.revision if standing is not None else ""):
                continue
            result = self._ledger.place(tenant, memory_id, standing, state)
            if not isinstance(result, Standing):
                # Displaced, or overtaken by a newer write: judged anew over what stands there now.
                return False
            standing = result
        assert standing is not None, "a record that is written stands"
        if isinstance(standing.record, Stub):
            self._tombstones.copy(standing.record)
        return True

    def _above(self, record: Record, revision: str) -> Record:
        fresh = self._ledger.revision_above(revision)
        return replace(record, revision=fresh, recent=continued(record, fresh))

    def _resurrect(self, tenant: str, record: Record, current: Standing | None, copy: Stub | None) -> bool:
        ended = current.record if current is not None else copy
        assert isinstance(ended, Stub)
        assert isinstance(record, Memory)

        def draft(revision: str) -> Record:
            return replace(
                record,
                revision=revision,
                recent=continued(ended, revision),
                superseded_by=tuple(dict.fromkeys([*record.superseded_by, *ended.superseded_by])),
            )

        if current is not None:
            return not isinstance(self._ledger.write(tenant, record.id, current, draft), Displaced)
        revived = draft(self._ledger.revision_above(ended.revision))
        return not isinstance(self._ledger.place(tenant, record.id, None, revived), Displaced)

    def _ensure_seen(
        self, tenant: str, memory_id: str, current: Standing, shown: Mapping[str, ShownRow]
    ) -> None:
        """Whoever imported it first may have died before its marker landed."""
        row = shown.get(memory_id)
        if row is None or row.etag != current.etag:
            self._ledger.ensure_marked(tenant, memory_id, current.record.revision)
