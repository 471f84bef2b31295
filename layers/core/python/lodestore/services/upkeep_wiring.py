"""Which services a sleep is made of.

Owns: putting them together from those that a process has once. Guarantees: no request is made here.
Gives up: adapters and settings, which only `bootstrap` knows.
"""

from __future__ import annotations

from dataclasses import dataclass

from lodestore.domain.upkeep_rules import UpkeepRules
from lodestore.services.comparing import Comparing
from lodestore.services.consolidating import Consolidating
from lodestore.services.counts import Counts
from lodestore.services.erasing_memory import ErasingMemory
from lodestore.services.expiring import Expiring
from lodestore.services.folding import Folding
from lodestore.services.handing_on import HandingOn
from lodestore.services.old_versions import OldVersions
from lodestore.services.proposals import Proposals
from lodestore.services.pruning import Pruning
from lodestore.services.purging import Purging
from lodestore.services.refreshing import Refreshing
from lodestore.services.removing import Removing
from lodestore.services.reporting import Reporting
from lodestore.services.reports import Reports
from lodestore.services.review_marks import ReviewMarks
from lodestore.services.review_pairs import ReviewPairs
from lodestore.services.review_summaries import ReviewSummaries
from lodestore.services.reviewing import ModelUse, Reviewing
from lodestore.services.rules_judge import RulesJudge
from lodestore.services.sleeping import Sleeping
from lodestore.services.step_runs import StepRuns, StepServices
from lodestore.services.supersede import Superseding
from lodestore.services.sweeping import Sweeping
from lodestore.services.unchanged import Unchanged
from lodestore.services.undo_log import UndoLog
from lodestore.services.upkeep_worker import UpkeepWorker
from lodestore.services.wiring import Foundation, IndexServices, Shared
from lodestore.services.withdrawing import Withdrawing


@dataclass(frozen=True, slots=True)
class UpkeepServices:
    """What sleeps, and what commands use of it."""

    sleeping: Sleeping
    reports: Reports
    erasing_memory: ErasingMemory
    worker: UpkeepWorker


def wire_upkeep(
    a: Foundation,
    s: Shared,
    i: IndexServices,
    counts: Counts,
    proposals: Proposals,
    rules: UpkeepRules,
    model: ModelUse | None,
) -> UpkeepServices:
    """The services of the sleep."""
    vectors = None if i.vectors is None else i.vectors.sweeping
    removing = Removing(s.ledger, s.tombstones)
    handing_on = HandingOn(s.ledger, OldVersions(a.state, s.truth), a.clock)
    withdrawing = Withdrawing(s.views, s.truth, removing, handing_on, a.clock)
    purging = Purging(a.state, s.truth, s.tombstones, clock=a.clock, meter=a.meter, window=a.window)
    steps = StepServices(
        sweeping=Sweeping(
            a.state, s.manifests, s.segments, s.truth, s.forgotten, Superseding(s.ledger), meter=a.meter
        ),
        expiring=Expiring(s.views, s.truth, removing, a.clock),
        pruning=Pruning(s.views, s.truth, counts, removing, proposals, a.clock),
        upkeep=i.upkeep,
        backfill=i.backfill,
        consolidating=Consolidating(
            s.views,
            s.truth,
            s.ledger,
            UndoLog(a.index, a.meter),
            withdrawing,
            Comparing(s.truth, proposals, RulesJudge(), a.clock),
            a.clock,
        ),
        reviewing=None if model is None else _reviewing(a, s, proposals, model),
        withdrawing=withdrawing,
        merging=i.merging,
        collection=i.collection,
        purging=purging,
        proposals=proposals,
        folding=Folding(a.index, workers=a.workers, meter=a.meter),
        refreshing=Refreshing(s.manifests, s.segments, clock=a.clock, entropy=a.entropy, model=a.model),
        manifests=s.manifests,
        segments=s.segments,
        pending=s.pending,
        truth=s.truth,
        vectors=vectors,
    )
    reports = Reports(a.index, a.meter)
    sleeping = Sleeping(
        StepRuns(steps, rules),
        s.due_times,
        Reporting(reports, a.requests, clock=a.clock, meter=a.meter),
        a.requests,
        Unchanged(a.state, a.index, a.meter, model=a.model),
        clock=a.clock,
        entropy=a.entropy,
        meter=a.meter,
    )
    erasing = ErasingMemory(a.state, s.truth, removing, withdrawing, purging, sleeping, vectors, a.clock)
    return UpkeepServices(sleeping, reports, erasing, UpkeepWorker(sleeping, s.due))


def _reviewing(a: Foundation, s: Shared, proposals: Proposals, model: ModelUse) -> Reviewing:
    return Reviewing(
        model,
        s.views,
        ReviewPairs(s.truth, RulesJudge(), a.clock),
        ReviewSummaries(s.truth, proposals, a.clock),
        ReviewMarks(a.index),
        proposals,
    )
