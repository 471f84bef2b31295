"""The local runner as a whole: three functions, and what calls each of them on one machine.

Owns: what is started for which settings, and what is printed. Guarantees: a port in use is found before
anything is built, a store that is not there and a setting that a handler refuses before anything is served;
the ready line is printed when requests are answered; what runs beside the server ends with it.
Gives up: everything that the parts own.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from local_runner.background import Background, Feed, repeat
from local_runner.changes import ChangeSource, FolderChanges, MarkerChanges, WatchableStore
from local_runner.child_server import READY
from local_runner.delivery import ChangeQueue
from local_runner.function_table import CHANGES, HANDLERS, HTTP, SCHEDULE, look_up
from local_runner.server import domain_of, listen, serve, url_of
from local_runner.web import FunctionUrl
from lodestore.bootstrap import Lodestore, build
from lodestore.errors import SettingsError
from lodestore.format import keys
from lodestore.ports.object_store import ObjectStore
from lodestore.services.events import event_source
from lodestore.settings import Auth, parse_settings

# A folder has no weekly schedule beside the hourly one, and an unchanged tenant costs two listings.
DISPATCH: dict[str, object] = {"task": "dispatch", "all": True}
NO_VECTORS = "none"


def run(variables: Mapping[str, str], table: Mapping[str, str] = HANDLERS) -> None:
    """Serve until a signal ends it. Raises SettingsError, CannotBind, UnknownHandler, StoreUnavailable."""
    settings = parse_settings(variables)
    listening = listen(settings.host, settings.port)
    with ExitStack() as at_end:
        at_end.callback(listening.close)
        lodestore = build(variables)
        application = FunctionUrl(
            look_up(HTTP, table), clock=lodestore.clock, domain_name=domain_of(listening)
        )
        application.warm_up()
        for store in (lodestore.state_store, lodestore.index_store):
            check_store(store)
        background = Background()
        at_end.callback(background.end)
        if settings.index_every:
            background.start("changes", _feed(lodestore, table).run)
        if settings.sleep_every:
            schedule = look_up(SCHEDULE, table)
            background.start("schedule", partial(repeat, schedule, settings.sleep_every, DISPATCH))
        serve(application, listening, partial(_announce, lodestore, url_of(listening)))


def check_store(store: ObjectStore) -> None:
    """That the store is there: a folder is made, a bucket is asked. Raises SettingsError, StoreUnavailable."""
    if not isinstance(store, WatchableStore):
        next(iter(store.list(keys.MEMORIES, page_size=1)))
        return
    try:
        store.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"DATA: {store.folder} can't be made or used: {error.strerror}") from error


def _feed(lodestore: Lodestore, table: Mapping[str, str]) -> Feed:
    settings, every = lodestore.settings, lodestore.settings.index_every
    source = event_source(settings.store_url, state_alone=bool(settings.index_store))
    queue = ChangeQueue(look_up(CHANGES, table), source, clock=lodestore.clock)
    return Feed(_changes(lodestore, every), queue, clock=lodestore.clock, every=every)


def _changes(lodestore: Lodestore, every: float) -> ChangeSource:
    if isinstance(lodestore.state_store, WatchableStore):
        return FolderChanges(lodestore.state_store, lodestore.state_store, every=every)
    return MarkerChanges(lodestore.index_store, clock=lodestore.clock, every=every)


def _announce(lodestore: Lodestore, url: str) -> None:
    settings = lodestore.settings
    lines = [f"{READY}{url}"]
    header = ' --header "Authorization: Bearer KEY"' if settings.auth is Auth.KEYS else ""
    lines.append(f"  claude mcp add --transport http lodestore {url}{header}")
    if settings.auth is Auth.KEYS:
        lines.append("  KEY: make key TENANT=acme ROLE=writer")
    lines.append(f"  memories lie in {_place(settings.store_url)}")
    embeddings = str(lodestore.health()["embeddings"])
    if embeddings.startswith(NO_VECTORS):
        lines.append(f"  recall goes by words alone: embeddings are {embeddings}")
    print("\n".join(lines), flush=True)


def _place(store_url: str) -> str:
    scheme, _, where = store_url.partition("://")
    return str(Path(where).resolve()) if scheme == "file" else store_url
