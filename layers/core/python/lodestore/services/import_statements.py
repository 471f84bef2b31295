"""Importing what was said in a store that is not ours: each piece of it as a statement of its own.

Owns: whether a statement from outside is stored. Guarantees: the way of every `remember` (limits, cleaning, secrets,
ids from content), so the same file a second time stores nothing; unlike a `remember` it is not said anew, so what was
forgotten, changed, superseded or has expired at its id since stays so, unless `resurrect` or `overwrite` say otherwise
(P-FORGOTTEN); what two sources say in the same words is kept for each, the second under an id made from both.
Gives up: the ids of the other store; they stand in the metadata. And knowing a forgotten text again that stood under
another id than its own: a stub holds no text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lodestore.domain.arrival import OnConflict, Verdict
from lodestore.domain.caller import Caller, Role
from lodestore.domain.identity import DERIVED_ATTEMPTS, id_from_content, id_from_source
from lodestore.domain.memory import Memory, Stub
from lodestore.domain.statement import Statement
from lodestore.errors import Conflict
from lodestore.ports.clock import Clock
from lodestore.services.arguments import Arguments
from lodestore.services.importing import ImportOptions, Taken
from lodestore.services.ledger import Ledger, Quarantined, Standing
from lodestore.services.statements import Screen, read_statement
from lodestore.services.storing import Status, Storing
from lodestore.settings import SecretPolicy

ARGUMENTS = (
    "content",
    "type",
    "category",
    "tags",
    "importance",
    "pinned",
    "source",
    "metadata",
    "expires_at",
    "valid_from",
)
_VERDICTS = {
    Status.STORED: Verdict.STORED,
    Status.ALREADY_KNOWN: Verdict.ALREADY_KNOWN,
    Status.UPDATED: Verdict.OVERWRITTEN,
    Status.FORGOTTEN: Verdict.FORGOTTEN,
}


@dataclass(frozen=True, slots=True)
class _Met:
    """Where a statement is met and what it comes to there. `own_id`: that id is not its text's alone."""

    memory_id: str
    verdict: Verdict
    own_id: bool = False


class StatementImporting:
    """Statements from outside into all tenants."""

    def __init__(self, ledger: Ledger, storing: Storing, clock: Clock, *, secrets: SecretPolicy) -> None:
        self._ledger = ledger
        self._storing = storing
        self._clock = clock
        self._secrets = secrets

    def read(self, tenant: str, given: Mapping[str, object]) -> Statement:
        """The statement that these arguments of `remember` make. Raises InvalidArgument, TooLarge."""
        arguments = Arguments("import", given, ARGUMENTS)
        return read_statement(arguments, Screen(self._secrets), _caller(tenant), now=self._clock.now())

    def take(self, tenant: str, statement: Statement, options: ImportOptions) -> Taken:
        """Store the statement, or say why not. Raises Conflict, TooLarge, Unavailable."""
        met = self._look(tenant, statement, options)
        verdict = met.verdict
        wanted = verdict in (Verdict.STORED, Verdict.RESURRECTED, Verdict.OVERWRITTEN)
        if not wanted or options.dry_run:
            return Taken(met.memory_id, verdict, statement.redacted)
        if met.own_id:
            statement = replace(statement, own_id=met.memory_id)
        kept = self._storing.keep(_caller(tenant), statement, over_stubs=options.resurrect)
        came = _VERDICTS[kept.status]
        revived = verdict is Verdict.RESURRECTED and came is Verdict.STORED
        return Taken(kept.memory_id, Verdict.RESURRECTED if revived else came, statement.redacted)

    def _look(self, tenant: str, statement: Statement, options: ImportOptions) -> _Met:
        """The id at which the statement is met, and what it comes to there."""
        source = statement.fields.source
        of_source = id_from_source(statement.content, source) if source is not None else None
        if of_source is not None and (standing := self._ledger.read(tenant, of_source)) is not None:
            # An earlier import found its text said by another; whatever became of that one since.
            verdict = self._meet(tenant, statement, standing, options) or Verdict.KEPT
            return _Met(of_source, verdict, own_id=True)
        memory_id = id_from_content(statement.content, None, 0)
        for attempt in range(DERIVED_ATTEMPTS):
            memory_id = id_from_content(statement.content, None, attempt)
            try:
                standing = self._ledger.read(tenant, memory_id)
            except Quarantined:
                continue
            if of_source is not None and _is_of_another(standing, statement):
                return _Met(of_source, Verdict.STORED, own_id=True)
            verdict_here = self._meet(tenant, statement, standing, options)
            if verdict_here is not None:
                return _Met(memory_id, verdict_here)
        raise Conflict(
            f"This content was stored and then superseded or changed {DERIVED_ATTEMPTS} times; no id is left for it.",
            memory_id=memory_id,
            current_version=None,
            field="content",
        )

    def _meet(
        self, tenant: str, statement: Statement, standing: Standing | None, options: ImportOptions
    ) -> Verdict | None:
        """What the statement comes to at one id; None: other content lives there."""
        if standing is None:
            return Verdict.STORED
        record = standing.record
        if isinstance(record, Stub):
            return Verdict.RESURRECTED if options.resurrect else Verdict.FORGOTTEN
        same = record.content == statement.content
        if not record.visible_to(_caller(tenant)) or not (same or record.origin == statement.origin):
            return None
        return self._meet_known(record, options, same=same)

    def _meet_known(self, memory: Memory, options: ImportOptions, *, same: bool) -> Verdict:
        if memory.expired_at(self._clock.now()) or memory.superseded_by:
            return Verdict.KEPT
        overwrite = options.on_conflict is OnConflict.OVERWRITE and same
        return Verdict.OVERWRITTEN if overwrite else Verdict.ALREADY_KNOWN


def _caller(tenant: str) -> Caller:
    return Caller(tenant, None, Role.ADMIN)


def _is_of_another(standing: Standing | None, statement: Statement) -> bool:
    """Whether the same words stand there, said by someone else."""
    record = standing.record if standing is not None else None
    return (
        isinstance(record, Memory)
        and record.content == statement.content
        and record.source != statement.fields.source
    )
