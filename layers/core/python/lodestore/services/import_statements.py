"""Importing what was said in a store that is not ours: each piece of it as a statement of its own.

Owns: whether a statement from outside is stored. Guarantees: the way of every `remember` (limits, cleaning, secrets,
ids from content), so the same file a second time stores nothing; unlike a `remember` it is not said anew, so what was
forgotten, changed, superseded or has expired here since stays so, unless `resurrect` or `overwrite` say otherwise
(P-FORGOTTEN).
Gives up: the ids of the other store; they stand in the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping

from lodestore.domain.arrival import OnConflict, Verdict
from lodestore.domain.caller import Caller, Role
from lodestore.domain.identity import DERIVED_ATTEMPTS, id_from_content
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
        memory_id, verdict = self._look(tenant, statement, options)
        wanted = verdict in (Verdict.STORED, Verdict.RESURRECTED, Verdict.OVERWRITTEN)
        if not wanted or options.dry_run:
            return Taken(memory_id, verdict, statement.redacted)
        kept = self._storing.keep(_caller(tenant), statement, over_stubs=options.resurrect)
        came = _VERDICTS[kept.status]
        revived = verdict is Verdict.RESURRECTED and came is Verdict.STORED
        return Taken(kept.memory_id, Verdict.RESURRECTED if revived else came, statement.redacted)

    def _look(self, tenant: str, statement: Statement, options: ImportOptions) -> tuple[str, Verdict]:
        """The id at which the statement is met, and what it comes to there."""
        memory_id = id_from_content(statement.content, None, 0)
        for attempt in range(DERIVED_ATTEMPTS):
            memory_id = id_from_content(statement.content, None, attempt)
            try:
                standing = self._ledger.read(tenant, memory_id)
            except Quarantined:
                continue
            verdict = self._meet(tenant, statement, standing, options)
            if verdict is not None:
                return memory_id, verdict
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
