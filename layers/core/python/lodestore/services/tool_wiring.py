"""Which services the tools are made of.

Owns: putting them together from those that a process has once. Guarantees: no request is made here.
Gives up: adapters and settings' origin, which only `bootstrap` knows.
"""

from __future__ import annotations

from lodestore.services.catalog import build_tools
from lodestore.services.context import Context
from lodestore.services.counts import Counts
from lodestore.services.feedback import Feedback
from lodestore.services.forget import Forget
from lodestore.services.held_rows import HeldRows
from lodestore.services.hiding import Hiding
from lodestore.services.listing import ListMemories
from lodestore.services.maintain import Maintain
from lodestore.services.nearby import Nearby
from lodestore.services.old_versions import OldVersions
from lodestore.services.proposal_wiring import wire_proposals
from lodestore.services.proposals import Proposals
from lodestore.services.query_vectors import QueryVectors
from lodestore.services.reading import Reading
from lodestore.services.recall import Recall
from lodestore.services.remember import Remember
from lodestore.services.removing import Removing
from lodestore.services.restoring import Restoring
from lodestore.services.stats import Stats
from lodestore.services.storing import Storing
from lodestore.services.supersede import Superseding
from lodestore.services.toolbox import Toolbox
from lodestore.services.undo_log import UndoLog
from lodestore.services.update import Update
from lodestore.services.winners import Winners
from lodestore.services.wiring import Foundation, Shared, VectorServices
from lodestore.settings import Settings


def wire_tools(
    settings: Settings,
    a: Foundation,
    s: Shared,
    counts: Counts,
    proposals: Proposals,
    maintain: Maintain,
    engine: VectorServices | None,
) -> Toolbox:
    """The toolbox of one process."""
    secrets = settings.secrets
    near = Nearby(s.held, s.truth, a.clock, a.meter)
    winners = Winners(s.truth, s.held)
    views = s.views
    vectors = QueryVectors(a.embedder, a.meter)
    rows = HeldRows()
    superseding = Superseding(s.ledger)
    versions = OldVersions(a.state, s.truth)
    reading = Reading(s.ledger, s.views, versions, a.clock)
    storing = Storing(
        s.ledger, superseding, Hiding(s.ledger, UndoLog(a.index, a.meter), s.views), s.passages, a.clock
    )
    update = Update(s.ledger, superseding, s.passages, near, a.clock, secrets=secrets)
    restoring = Restoring(a.state, s.ledger, superseding, s.tombstones, a.clock, window=a.window)
    decided = wire_proposals(a, s, proposals, update=update, restore=restoring, secrets=secrets)
    tools = build_tools(
        {
            "remember": Remember(storing, near, a.clock, secrets=secrets),
            "recall": Recall(
                views,
                winners,
                counts,
                a.clock,
                vectors=vectors,
                engine=None if engine is None else engine.reading,
                versions=versions,
                workers=a.workers,
                rows=rows,
            ),
            "memory_context": Context(
                views, winners, counts, a.clock, vectors=vectors, workers=a.workers, rows=rows
            ),
            "get_memory": reading,
            "list_memories": ListMemories(views, winners, a.clock),
            "memory_stats": Stats(views, counts, a.clock, model=a.model),
            "update_memory": update,
            "forget": Forget(Removing(s.ledger, s.tombstones), a.clock, secrets=secrets),
            "memory_feedback": Feedback(reading, counts, secrets=secrets),
            "restore_memory": restoring,
            "list_proposals": decided.listing,
            "decide_proposal": decided.deciding,
            "undo": decided.undo,
            "maintain": maintain,
        }
    )
    return Toolbox(tools, read_only=settings.read_only)
