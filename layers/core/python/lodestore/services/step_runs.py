"""The steps as one sleep calls them: each step's service, and its outcome in the words of a report.

Owns: what a step hands on to the next (ids that the sweep found, for the indexer), and the naming of actions.
Guarantees: a dry run calls no service in a way that writes. Gives up: order and failures; `services/sleeping` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lodestore.domain.sleep_report import Action
from lodestore.domain.upkeep_rules import TenantRules, UpkeepRules
from lodestore.services.backfill import Backfill
from lodestore.services.collection import Collected, Collection
from lodestore.services.consolidating import Consolidated, Consolidating
from lodestore.services.expiring import Expired, Expiring
from lodestore.services.folding import Folded, Folding
from lodestore.services.index_rows import read_index
from lodestore.services.indexing import NeedsRebuild
from lodestore.services.manifests import Manifests
from lodestore.services.merge_plan import ROWS_MOST, plan_merge
from lodestore.services.merging import Merging
from lodestore.services.pending import Pending
from lodestore.services.proposals import Proposals
from lodestore.services.pruning import Chosen, Pruned, Pruning
from lodestore.services.purging import Purged, Purging
from lodestore.services.refreshing import Refreshed, Refreshing
from lodestore.services.review_report import review_actions, review_counts
from lodestore.services.reviewing import Reviewing
from lodestore.services.segments import Segments
from lodestore.services.sweeping import Sweeping, Swept
from lodestore.services.truth import Truth
from lodestore.services.upkeep import Upkeep, Upkept
from lodestore.services.upkeep_steps import (
    COLLECT,
    CONSOLIDATE,
    EMBED,
    EXPIRE,
    FOLD,
    INDEX,
    MERGE,
    PRUNE,
    PURGE,
    REVIEW,
    SWEEP,
)
from lodestore.services.vector_sweeping import VectorSweeping
from lodestore.services.withdrawing import Withdrawing, Withdrawn

# Ids in the reason of one action; the undo record has them all.
_NAMED = 8


@dataclass(frozen=True, slots=True)
class Moved:
    """What a step did. `skipped`: why there was nothing to do it with; `failed`: why it ended early."""

    counts: Mapping[str, int] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    skipped: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepServices:
    """The services of the steps."""

    sweeping: Sweeping
    expiring: Expiring
    pruning: Pruning
    upkeep: Upkeep
    backfill: Backfill
    consolidating: Consolidating
    reviewing: Reviewing | None
    withdrawing: Withdrawing
    merging: Merging
    collection: Collection
    purging: Purging
    proposals: Proposals
    folding: Folding
    refreshing: Refreshing
    manifests: Manifests
    segments: Segments
    pending: Pending
    truth: Truth
    vectors: VectorSweeping | None


class StepRuns:
    """Makes the runs of one sleep."""

    def __init__(self, services: StepServices, rules: UpkeepRules) -> None:
        self._services = services
        self._rules = rules

    def rules_of(self, tenant: str) -> TenantRules:
        """What a tenant's sleep may do."""
        return self._rules.of(tenant)

    def begin(
        self, tenant: str, steps: frozenset[str], *, dry_run: bool, going: Callable[[], bool]
    ) -> OneSleep:
        """The steps of one sleep that begins."""
        return OneSleep(self._services, self.rules_of(tenant), tenant, steps, dry_run=dry_run, going=going)


class OneSleep:
    """The steps of one sleep.

    upkept   what they did on the index so far; `swept`: what the sweep saw; `more`: a next sleep has work to go on with
    """

    def __init__(
        self,
        services: StepServices,
        rules: TenantRules,
        tenant: str,
        steps: frozenset[str],
        *,
        dry_run: bool,
        going: Callable[[], bool],
    ) -> None:
        self._do = services
        self._rules = rules
        self._tenant = tenant
        self._steps = steps
        self._dry_run = dry_run
        self._going = going
        self.upkept = Upkept()
        self.swept: Swept | None = None
        self.more = False
        self._runs: Mapping[str, Callable[[], Moved]] = {
            SWEEP: self._sweep,
            EXPIRE: self._expire,
            PRUNE: self._prune,
            INDEX: self._index,
            EMBED: self._embed,
            CONSOLIDATE: self._consolidate,
            REVIEW: self._review,
            MERGE: self._merge,
            COLLECT: self._collect,
            PURGE: self._purge,
            FOLD: self._fold,
        }

    def run(self, step: str) -> Moved:
        """Run one step, unless it is off. Raises what FAILURES lists."""
        if step in self._rules.off:
            return Moved(skipped="switched off")
        return self._runs[step]()

    def _sweep(self) -> Moved:
        try:
            self._index_pending()
            swept = self._do.sweeping.run(self._tenant, dry_run=self._dry_run)
        except NeedsRebuild:
            # A rebuild reads all of the truth and settles what is forgotten: it is a sweep, and more.
            if not self._dry_run:
                self.upkept = self._do.upkeep.index_more(self._tenant, self.upkept, going=self._going)
            return Moved({"rebuilt": 1})
        self.swept = swept
        vectors = self._sweep_vectors()
        if not self._dry_run and (swept.dirty or swept.noted):
            self.upkept = self._do.upkeep.index_more(
                self._tenant, self.upkept, swept.dirty, going=self._going
            )
        return Moved(_swept_counts(swept) | vectors, tuple(_swept_actions(swept)))

    def _index_pending(self) -> None:
        """What has markers first, where this sleep indexes anyway: or the sweep would read the same ids, too."""
        indexes = INDEX in self._steps and INDEX not in self._rules.off and not self._dry_run
        if indexes and self._do.pending.list(self._tenant).markers:
            self.upkept = self._do.upkeep.index_more(self._tenant, self.upkept, going=self._going)

    def _expire(self) -> Moved:
        expired: Expired = self._do.expiring.run(self._tenant, dry_run=self._dry_run, going=self._going)
        actions = tuple(Action("expire", memory_id, "its expires_at has passed") for memory_id in expired.ids)
        return Moved({"expired": len(expired.ids), "left": expired.left}, actions)

    def _prune(self) -> Moved:
        policies = self._rules.policies
        if not policies:
            return Moved(skipped="no policy is set")
        pruned: Pruned = self._do.pruning.run(
            self._tenant, policies, dry_run=self._dry_run, going=self._going
        )
        actions = (*_pruned("forget", pruned.forgotten), *_pruned("propose to forget", pruned.proposed))
        counts = {
            "forgotten": len(pruned.forgotten),
            "proposed": len(pruned.proposed),
            "known": pruned.known,
            "left": pruned.left,
        }
        return Moved(counts, actions)

    def _index(self) -> Moved:
        if self._dry_run:
            return Moved({"pending": len(self._do.pending.list(self._tenant).markers)})
        before = self.upkept
        self.upkept = self._do.upkeep.index_more(self._tenant, before, going=self._going)
        names = ("pending", "read", "rows", "killed", "invalid", "markers_deleted", "left")
        counts = {name: int(getattr(self.upkept, name)) for name in names}
        return Moved(counts | {"rebuilt": int(self.upkept.rebuilt is not None)})

    def _embed(self) -> Moved:
        if self._dry_run:
            missing = self._do.backfill.run(self._tenant, dry_run=True)
            return Moved({"embedded": 0, "left": missing.left})
        self.upkept = self._do.upkeep.embed(self._tenant, self.upkept, going=self._going)
        filled = self.upkept.backfilled
        return Moved({"embedded": filled.filled, "left": filled.left, "embedder_failed": int(filled.failed)})

    def _consolidate(self) -> Moved:
        done: Consolidated = self._do.consolidating.run(
            self._tenant, dry_run=self._dry_run, going=self._going
        )
        proposed = done.compared.proposed
        merges = (Action("merge", one.id, f"says the same as {_some(one.members)}") for one in done.merges)
        counts = {
            "merged": len(done.merges),
            "members": sum(len(one.members) for one in done.merges),
            "groups": done.groups,
            "pairs": done.pairs,
            "kept": done.kept,
            "compared": done.compared.groups,
            "proposed": len(proposed.made),
            "proposed_before": proposed.known,
            **_withdrawn_counts(done.withdrawn),
            "left": done.left + done.withdrawn.left + done.compared.left + proposed.left,
        }
        made = (Action("propose", one.id, str(one.evidence["why"])) for one in proposed.made)
        return Moved(counts, (*_withdrawn_actions(done.withdrawn), *merges, *made))

    def _review(self) -> Moved:
        if self._do.reviewing is None:
            return Moved(
                skipped="no model is set, so nothing was judged by one and no old events were summed up"
            )
        done = self._do.reviewing.run(self._tenant, dry_run=self._dry_run, going=self._going)
        # What is left waits for no change of a memory.
        self.more = done.left > 0
        return Moved(review_counts(done), tuple(review_actions(done)), failed=done.stopped)

    def _merge(self) -> Moved:
        if self._dry_run:
            manifest = self._do.manifests.load(self._tenant).manifest
            return Moved({"merges": int(manifest is not None and bool(plan_merge(manifest, ROWS_MOST)))})
        self.upkept = self._do.upkeep.merge(self._tenant, self.upkept, going=self._going)
        return Moved({"merges": self.upkept.merges, "failed": int(self.upkept.merge_failed)})

    def _collect(self) -> Moved:
        if self._dry_run:
            return Moved(_collected(self._do.collection.run(self._tenant, dry_run=True)))
        self.upkept = self._do.upkeep.collect(self._tenant, self.upkept)
        assert self.upkept.collected is not None
        return Moved(_collected(self.upkept.collected))

    def _purge(self) -> Moved:
        withdrawn = self._do.withdrawing.run(self._tenant, dry_run=self._dry_run)
        if not self._dry_run and withdrawn.changed:
            self.upkept = self._do.upkeep.index_more(self._tenant, self.upkept, going=self._going)
        purged: Purged = self._do.purging.run(self._tenant, dry_run=self._dry_run, going=self._going)
        renewed = self._renew()
        settled = self._do.proposals.settle(self._tenant, dry_run=self._dry_run)
        actions = (
            *_withdrawn_actions(withdrawn),
            *(Action("purge", memory_id, "forgotten, and the window is over") for memory_id in purged.ids),
            *(Action("lapse", one.id, f"a memory of it is {one.reason}") for one in settled.lapsed),
        )
        counts = {
            "versions": purged.versions,
            "waiting": purged.waiting,
            "unread": purged.unread,
            "segments": len(renewed),
            **_withdrawn_counts(withdrawn),
            "proposals_lapsed": len(settled.lapsed),
            "proposals_cleared": settled.cleared,
            "left": int(purged.left),
        }
        counts |= self._sweep_vectors()
        segments = tuple(Action("renew", name, "it holds dead rows of the forgotten") for name in renewed)
        return Moved(counts, (*actions, *segments))

    def _sweep_vectors(self) -> dict[str, int]:
        """What the vector engine holds of what is no longer shown goes; nothing is said where there is no engine."""
        if self._do.vectors is None:
            return {}
        swept = self._do.vectors.run(self._tenant, dry_run=self._dry_run, going=self._going)
        names = ("deleted", "waiting", "unmarked", "dropped", "left", "failed")
        return {f"vectors_{name}": int(getattr(swept, name)) for name in names}

    def _renew(self) -> tuple[str, ...]:
        """Write the segments anew in which a forgotten memory's row still lies dead."""
        try:
            index = read_index(self._tenant, self._do.manifests, self._do.segments)
        except NeedsRebuild:
            return ()
        stubs = index.stubs()
        names = tuple(entry.name for entry in index.holding_dead(stubs)) if stubs else ()
        if not self._dry_run:
            for name in names:
                if self._going():
                    self._do.merging.renew(self._tenant, name)
        return names

    def _fold(self) -> Moved:
        try:
            forgotten = read_index(self._tenant, self._do.manifests, self._do.segments).stubs()
        except NeedsRebuild:
            forgotten = {}
        folded = self._do.folding.run(
            self._tenant, frozenset(forgotten), self._do.truth, dry_run=self._dry_run
        )
        refreshed = self._refresh(folded)
        counts = {name: int(getattr(folded, name)) for name in ("deltas", "deleted", "dropped", "left")}
        return Moved(counts | {"refreshed": refreshed.rows, "refresh_left": refreshed.left})

    def _refresh(self, folded: Folded) -> Refreshed:
        """Levels of use as the index's columns; where there is no index to add to, a later run finds them again."""
        try:
            return self._do.refreshing.run(
                self._tenant, folded.levels, dry_run=self._dry_run, going=self._going
            )
        except NeedsRebuild:
            return Refreshed()


def _withdrawn_counts(withdrawn: Withdrawn) -> dict[str, int]:
    return {"withdrawn": len(withdrawn.ids), "forgotten_with": len(withdrawn.forgotten)}


def _withdrawn_actions(withdrawn: Withdrawn) -> Iterable[Action]:
    yield from (
        Action("withdraw", m, "a memory that it was merged from does not stand") for m in withdrawn.ids
    )
    yield from (Action("forget", m, "what it was merged into was forgotten") for m in withdrawn.forgotten)


def _some(ids: tuple[str, ...]) -> str:
    more = len(ids) - _NAMED
    return ", ".join(ids[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _swept_counts(swept: Swept) -> dict[str, int]:
    return {
        "objects": len(swept.objects),
        "differing": len(swept.differing),
        "vanished": len(swept.vanished),
        "skipped": len(swept.skipped),
        "forgotten_again": swept.forgotten_again,
        "tombstones": swept.copied,
        "noted": len(swept.noted),
        "left": swept.left,
    }


def _swept_actions(swept: Swept) -> Iterable[Action]:
    yield from (Action("index", m, "the object is not as the index shows it") for m in swept.differing)
    yield from (Action("index", m, "the object is gone") for m in swept.vanished)
    yield from (Action("skip", m, f"it is no record: {flaw}") for m, flaw in swept.skipped)
    yield from (Action("note", old, f"superseded by {new}") for old, new in swept.noted)


def _pruned(what: str, chosen: Iterable[Chosen]) -> Iterable[Action]:
    return (Action(what, one.id, str(one.policy)) for one in chosen)


def _collected(collected: Collected) -> dict[str, int]:
    names = ("deleted", "deleted_bytes", "left", "waiting", "damaged")
    return {name: int(getattr(collected, name)) for name in names}
