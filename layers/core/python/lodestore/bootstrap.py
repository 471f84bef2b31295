"""The one place where settings become adapters, and adapters become services.

Owns: reading the environment, choosing adapters, wiring. Guarantees: nothing else imports an adapter or sees the
environment; no request is made while building.
Gives up: more than one wiring per process at a time being shared; each `build` is complete in itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from lodestore import __version__
from lodestore.adapters.embedder_options import EmbedderOptions
from lodestore.adapters.embedders import Unavailable, connect_embedder
from lodestore.adapters.folder_store import FolderStore
from lodestore.adapters.language_models import connect_language_model, options_of
from lodestore.adapters.system_clock import SystemClock
from lodestore.adapters.system_entropy import SystemEntropy
from lodestore.domain.limits import PARALLEL_READS
from lodestore.domain.upkeep_rules import UpkeepRules, parse_rules
from lodestore.errors import SettingsError
from lodestore.format.keys import INDEX_PREFIX, STATE_PREFIX
from lodestore.ports.clock import Clock, Entropy
from lodestore.ports.embedder import Embedder
from lodestore.ports.language_model import LanguageModel
from lodestore.ports.meter import Meter
from lodestore.ports.object_store import ObjectStore
from lodestore.ports.task_queue import TaskQueue
from lodestore.ports.vector_index import VectorIndex
from lodestore.services.access import Access, OutsideIdentity
from lodestore.services.backfill import Backfill
from lodestore.services.catalog import INSTRUCTIONS
from lodestore.services.collection import Collection
from lodestore.services.counted_store import CountedStore, RequestCounts
from lodestore.services.counts import Counts
from lodestore.services.dispatch import Dispatch
from lodestore.services.due import Due
from lodestore.services.due_times import DueTimes
from lodestore.services.erasing import Erasing
from lodestore.services.erasing_memory import ErasingMemory
from lodestore.services.forgotten import Forgotten
from lodestore.services.held import HeldRecords
from lodestore.services.iam_access import IamAccess, parse_principals
from lodestore.services.index_wiring import wire_index
from lodestore.services.indexing import Indexing
from lodestore.services.invocation_budget import BudgetedStore, InvocationBudget
from lodestore.services.ledger import Ledger
from lodestore.services.maintain import Maintain
from lodestore.services.manifests import Manifests
from lodestore.services.merging import Merging
from lodestore.services.moving_wiring import MovingServices, wire_moving
from lodestore.services.oauth_access import OAuthAccess
from lodestore.services.passages import Passages
from lodestore.services.pending import Pending
from lodestore.services.pinned import PinnedInstructions
from lodestore.services.proposal_wiring import proposals_of
from lodestore.services.proposals import Proposals
from lodestore.services.rebuilding import Rebuilding
from lodestore.services.reports import Reports
from lodestore.services.reviewing import BUDGET, ModelUse
from lodestore.services.segments import Segments
from lodestore.services.sleeping import Sleeping
from lodestore.services.tenant_view import TenantViews
from lodestore.services.tombstones import Tombstones
from lodestore.services.tool_wiring import wire_tools
from lodestore.services.toolbox import Toolbox
from lodestore.services.truth import Truth
from lodestore.services.upkeep import Upkeep
from lodestore.services.upkeep_batch import UpkeepBatch
from lodestore.services.upkeep_steps import SWITCHABLE
from lodestore.services.upkeep_wiring import wire_upkeep
from lodestore.services.vector_erasing import VectorErasing
from lodestore.services.winners import Winners
from lodestore.services.wiring import Foundation, Shared, VectorUse
from lodestore.settings import Auth, Settings, parse_settings

_INSTANCE_BYTES = 8
NO_EMBEDDER = Unavailable("EMBEDDINGS=none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lodestore:
    """One process's services, ready to use."""

    settings: Settings
    toolbox: Toolbox
    access: Access
    counts: Counts
    indexing: Indexing
    rebuilding: Rebuilding
    merging: Merging
    collection: Collection
    upkeep: Upkeep
    backfill: Backfill
    dispatch: Dispatch
    task_queue: TaskQueue | None
    upkeep_batch: UpkeepBatch | None
    sleeping: Sleeping
    reports: Reports
    erasing: Erasing
    erasing_memory: ErasingMemory
    proposals: Proposals
    moving: MovingServices
    embeddings: str
    instructions: str
    pinned: PinnedInstructions
    state_store: ObjectStore
    index_store: ObjectStore
    clock: Clock
    entropy: Entropy
    meter: Meter
    workers: Executor
    requests: RequestCounts
    budget: InvocationBudget

    def health(self) -> dict[str, object]:
        """{status, version, auth, embeddings}. Makes no request."""
        return {
            "status": "ok",
            "version": __version__,
            "auth": str(self.settings.auth),
            "embeddings": self.embeddings,
        }


class _Uncounted:
    """A meter that keeps nothing."""

    def count(self, name: str, amount: int = 1) -> None:
        """Nothing is kept."""


def environment() -> Mapping[str, str]:
    """The process's variables."""
    return os.environ


def system_clock() -> Clock:
    """The machine's clock, for what is said before anything could be built."""
    return SystemClock()


def embedder_of(variables: Mapping[str, str]) -> Embedder | Unavailable:
    """The embedder that `variables` name, for what measures it. Raises SettingsError."""
    return _embedder(parse_settings(variables), SystemClock(), SystemEntropy())


def build(variables: Mapping[str, str], *, meter: Meter | None = None) -> Lodestore:
    """Services over the store that `variables` name. Raises SettingsError."""
    settings = parse_settings(variables)
    clock = SystemClock()
    entropy = SystemEntropy()
    state, index = _stores(settings, clock)
    return assemble(
        settings,
        state,
        index,
        clock=clock,
        entropy=entropy,
        meter=meter or _Uncounted(),
        embedder=_embedder(settings, clock, entropy),
        queue=_task_queue(settings, clock, entropy),
        vectors=_vector_index(settings, clock, entropy),
        model=connect_language_model(settings.sleep_model, options_of(settings), clock, entropy),
    )


def assemble(
    settings: Settings,
    state: ObjectStore,
    index: ObjectStore,
    *,
    clock: Clock,
    entropy: Entropy,
    meter: Meter,
    embedder: Embedder | Unavailable = NO_EMBEDDER,
    queue: TaskQueue | None = None,
    vectors: VectorIndex | None = None,
    model: LanguageModel | None = None,
) -> Lodestore:
    """Services over these two stores; queue, vector engine and the sleep's language model, where there are such."""
    workers = ThreadPoolExecutor(PARALLEL_READS, thread_name_prefix="lodestore")
    usable = None if isinstance(embedder, Unavailable) else embedder
    requests = RequestCounts()
    budget = InvocationBudget(clock)
    asked = (
        BudgetedStore(CountedStore(state, requests), budget),
        BudgetedStore(CountedStore(index, requests), budget),
    )
    window = timedelta(seconds=settings.forget_window)
    engine = None
    if vectors is not None:
        engine = VectorUse(vectors, settings.vector_index_threshold, settings.vector_text)
    around = Foundation(*asked, clock, entropy, meter, workers, usable, requests, window, engine)
    counts = Counts(
        around.index, clock, instance=entropy.token(_INSTANCE_BYTES).hex(), workers=workers, meter=meter
    )
    shared = _shared(around)
    index_services = wire_index(around, shared)
    proposals = proposals_of(around, shared)
    upkeep = wire_upkeep(
        around, shared, index_services, counts, proposals, _rules(settings), _model_use(settings, model)
    )
    return Lodestore(
        settings=settings,
        toolbox=wire_tools(
            settings,
            around,
            shared,
            counts,
            proposals,
            Maintain(upkeep.sleeping, shared.views, clock, queue),
            index_services.vectors,
        ),
        access=Access(
            BudgetedStore(state, budget),
            clock=clock,
            entropy=entropy,
            auth=settings.auth,
            default_tenant=settings.tenant,
            identity=_identity(settings, clock),
        ),
        counts=counts,
        indexing=index_services.indexing,
        rebuilding=index_services.rebuilding,
        merging=index_services.merging,
        collection=index_services.collection,
        upkeep=index_services.upkeep,
        backfill=index_services.backfill,
        dispatch=Dispatch(around.state, around.index, upkeep.worker, shared.due, clock),
        task_queue=queue,
        upkeep_batch=None if queue is None else UpkeepBatch(upkeep.worker, queue),
        sleeping=upkeep.sleeping,
        reports=upkeep.reports,
        erasing=Erasing(
            around.state,
            around.index,
            VectorErasing(vectors, shared.manifests, model=around.model),
            clock,
            workers=workers,
        ),
        erasing_memory=upkeep.erasing_memory,
        proposals=proposals,
        moving=wire_moving(around, shared, secrets=settings.secrets),
        embeddings=_embeddings_shown(embedder),
        instructions=INSTRUCTIONS,
        pinned=PinnedInstructions(
            shared.views, Winners(shared.truth, shared.held), clock, settings.pinned_instructions
        ),
        state_store=state,
        index_store=index,
        clock=clock,
        entropy=entropy,
        meter=meter,
        workers=workers,
        requests=requests,
        budget=budget,
    )


def _model_use(settings: Settings, model: LanguageModel | None) -> ModelUse | None:
    budget, price = settings.sleep_model_budget or BUDGET, settings.sleep_model_price
    return None if model is None else ModelUse(model=model, budget=budget, price=price)


def _rules(settings: Settings) -> UpkeepRules:
    return parse_rules(
        prune=settings.prune,
        off=settings.sleep_off,
        tenants=settings.tenant_upkeep,
        switchable=SWITCHABLE,
    )


def _shared(a: Foundation) -> Shared:
    held, manifests = HeldRecords(), Manifests(a.index, a.meter)
    pending = Pending(a.index, workers=a.workers, meter=a.meter)
    segments = Segments(a.index, clock=a.clock, entropy=a.entropy, workers=a.workers, meter=a.meter)
    truth = Truth(a.state, workers=a.workers, meter=a.meter)
    due = Due(a.index, a.clock, a.meter)
    ledger = Ledger(
        a.state, a.index, truth, clock=a.clock, entropy=a.entropy, workers=a.workers, meter=a.meter
    )
    tombstones = Tombstones(a.state, a.meter)
    return Shared(
        ledger,
        held,
        manifests,
        pending,
        segments,
        truth,
        tombstones,
        due,
        DueTimes(manifests, segments, due, a.clock, window=a.window),
        TenantViews(
            manifests, segments, pending, truth, held, due, workers=a.workers, meter=a.meter, model=a.model
        ),
        Passages(a.embedder, a.meter),
        Forgotten(ledger, tombstones, workers=a.workers),
    )


def _stores(settings: Settings, clock: Clock) -> tuple[ObjectStore, ObjectStore]:
    scheme, _, place = settings.store_url.partition("://")
    if scheme == "file":
        root = Path(place)
        if not place:
            raise SettingsError("STORE=file:// names no folder")
        return (
            FolderStore(root / STATE_PREFIX, clock, versioned=True),
            FolderStore(root / INDEX_PREFIX, clock, versioned=False),
        )
    # boto3 costs half a second to import, and a folder needs none of it.
    from lodestore.adapters.s3_store import connect

    bucket, base = _bucket("STORE", place)
    encryption = _encryption(settings)
    state, index = (bucket, f"{base}{STATE_PREFIX}"), (bucket, f"{base}{INDEX_PREFIX}")
    if settings.index_store:
        state, index = (bucket, base), _bucket("INDEX_STORE", settings.index_store.partition("://")[2])
        if state == index:
            raise SettingsError("INDEX_STORE must name another bucket or prefix than STORE")
    try:
        return connect(*state, encryption=encryption), connect(*index, encryption=encryption)
    except ValueError as error:
        raise SettingsError(f"STORE names a prefix that can't be used: {error}") from None


def _vector_index(settings: Settings, clock: Clock, entropy: Entropy) -> VectorIndex | None:
    if not settings.vector_bucket:
        return None
    # A process without a vector bucket needs no client of S3 Vectors.
    from lodestore.adapters.s3vectors_index import connect

    return connect(settings.vector_bucket, clock, entropy)


def _task_queue(settings: Settings, clock: Clock, entropy: Entropy) -> TaskQueue | None:
    if not settings.maintenance_queue_url:
        return None
    from lodestore.adapters import sqs_queue

    try:
        return sqs_queue.connect(settings.maintenance_queue_url, clock, entropy)
    except ValueError as error:
        raise SettingsError(f"MAINTENANCE_QUEUE_URL can't be used: {error}") from None


def _bucket(name: str, place: str) -> tuple[str, str]:
    bucket, _, prefix = place.partition("/")
    if not bucket:
        raise SettingsError(f"{name}=s3:// names no bucket")
    return bucket, f"{prefix.strip('/')}/" if prefix.strip("/") else ""


def _identity(settings: Settings, clock: Clock) -> OutsideIdentity | None:
    if settings.auth is Auth.IAM:
        return IamAccess(parse_principals(settings.iam_principals))
    if settings.auth is not Auth.OAUTH:
        return None
    # Only this mode checks signatures, and needs the library for it.
    from lodestore.adapters.jwt_tokens import JwtTokens

    tokens = JwtTokens(settings.oauth_issuer, settings.oauth_audience or None, clock)
    return OAuthAccess(
        tokens, tenant_claim=settings.oauth_tenant_claim, client_ids=frozenset(settings.oauth_client_ids)
    )


def _encryption(settings: Settings) -> Literal["AES256"] | tuple[Literal["aws:kms"], str] | None:
    if settings.kms_key is not None:
        return ("aws:kms", settings.kms_key)
    return "AES256" if settings.encryption is not None else None


def _embeddings_shown(embedder: Embedder | Unavailable) -> str:
    return f"none (keyword-only; {embedder.reason})" if isinstance(embedder, Unavailable) else embedder.model


def _embedder(settings: Settings, clock: Clock, entropy: Entropy) -> Embedder | Unavailable:
    options = EmbedderOptions(
        model=settings.embed_model,
        dim=settings.embed_dim,
        span_bytes=settings.embed_span_bytes,
        ask_dim=settings.embed_ask_dim,
        query_prefix=settings.embed_query_prefix,
        passage_prefix=settings.embed_passage_prefix,
        openai_base_url=settings.openai_base_url,
        openai_api_key=settings.openai_api_key,
    )
    return connect_embedder(settings.embeddings, options, clock, entropy)
