"""Which services move memories in and out.

Owns: putting them together from those that a process has once. Guarantees: no request is made here, and no thread
starts before an import does. Gives up: adapters and settings, which only `bootstrap` knows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lodestore.services.exporting import Exporting
from lodestore.services.hiding import Hiding
from lodestore.services.import_runs import BATCH, ImportRuns
from lodestore.services.import_statements import StatementImporting
from lodestore.services.importing import Importing
from lodestore.services.old_versions import OldVersions
from lodestore.services.reading import Reading
from lodestore.services.storing import Storing
from lodestore.services.supersede import Superseding
from lodestore.services.undo_log import UndoLog
from lodestore.services.wiring import Foundation, Shared
from lodestore.settings import SecretPolicy


@dataclass(frozen=True, slots=True)
class MovingServices:
    """Both directions."""

    exporting: Exporting
    imports: ImportRuns


def wire_moving(a: Foundation, s: Shared, *, secrets: SecretPolicy) -> MovingServices:
    """The services of export and import."""
    superseding = Superseding(s.ledger)
    importing = Importing(s.ledger, s.tombstones, superseding, a.clock, secrets=secrets, model=a.model)
    statements = StatementImporting(
        s.ledger,
        Storing(
            s.ledger, superseding, Hiding(s.ledger, UndoLog(a.index, a.meter), s.views), s.passages, a.clock
        ),
        a.clock,
        secrets=secrets,
    )
    takers = ThreadPoolExecutor(BATCH, thread_name_prefix="lodestore-import")
    return MovingServices(
        Exporting(
            a.state, s.truth, s.forgotten, Reading(s.ledger, s.views, OldVersions(a.state, s.truth), a.clock)
        ),
        ImportRuns(importing, statements, s.manifests, s.segments, takers=takers),
    )
