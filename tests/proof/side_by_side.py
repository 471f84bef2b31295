"""The real services on one side, the model on the other: each call goes to both, and the answers are compared.

Owns: `SideBySide`: processes over one pair of stores, the indexer, the clock, and one method for each thing that can
happen. Guarantees: an answer that is not the model's fails at once; what was reached is counted in `reached`, so that
a test can tell that it was not idle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lodestore.bootstrap import Lodestore
from lodestore.domain.caller import Caller, Role
from lodestore.errors import LodestoreError
from lodestore.format import keys
from tests.proof.comparing import IN_FULL, REMEMBERED, assert_recalled, assert_rows, assert_same
from tests.proof.drawing import CONVERSATIONS, NEVER_GIVEN, TENANTS, WORDS
from tests.proof.history import walk
from tests.proof.model import Json, Model, Refused, Who
from tests.proof.one_thread import one_thread
from tests.services.world import World

PROCESSES = 3
FIRST_TYPES = ("instruction", "preference")


class SideBySide:
    """One world and its model."""

    def __init__(self, folder: Path, seed: int, say: Callable[[str], object]) -> None:
        self.world = World(folder)
        self.model = Model()
        self.ids: dict[str, None] = {}
        self.said: list[tuple[Who, Json]] = []
        self.reached: Counter[tuple[str, str]] = Counter()
        self._seed = seed
        self._say = say
        self._recalls: Counter[tuple[str, str]] = Counter()
        self._flushed: Counter[tuple[str, str]] = Counter()
        self._unflushed: list[Counter[tuple[str, str]]] = [Counter() for _ in range(PROCESSES)]
        self._processes = [self._process() for _ in range(PROCESSES)]
        self._indexer = self._process()

    @property
    def now(self) -> datetime:
        """The time, which no call moves."""
        return self.world.clock.now()

    def known(self, who: Who) -> list[str]:
        """Ids that this caller may try: mostly what it sees, the latest first; some of others; one never given."""
        mine = [memory.id for memory in self.model.visible(who)][::-1]
        others = [memory_id for memory_id in self.ids if memory_id not in mine]
        return [*mine, *mine, *mine, *others, NEVER_GIVEN]

    # Writing.

    def remember(self, process: int, who: Who, given: Json) -> None:
        self.said.append((who, given))
        answer = self._call(process, who, "remember", given)
        names = REMEMBERED if answer.get("status") != "forgotten" else ("status", "id", "redacted")
        if self._agree(
            answer, lambda: self.model.remember(who, given, self.now, answer.get("id")), names=names
        ):
            self.ids[answer["id"]] = None
            self._hinted(who, answer.get("near_duplicates", []))

    def update(self, process: int, who: Who, given: Json) -> None:
        answer = self._call(process, who, "update_memory", given)
        self._agree(answer, lambda: self.model.update(who, given, self.now))

    def forget(self, process: int, who: Who, memory_id: str) -> None:
        answer = self._call(process, who, "forget", {"id": memory_id, "reason": "asked to"})
        self._agree(answer, lambda: self.model.forget(who, memory_id))

    def feedback(self, process: int, who: Who, memory_id: str, useful: bool) -> None:
        answer = self._call(process, who, "memory_feedback", {"id": memory_id, "useful": useful})
        if self._agree(answer, lambda: self.model.feedback(who, memory_id, useful)):
            mine = Counter({k: n for k, n in self._unflushed[process].items() if k[0] == who.tenant})
            self._flushed += mine
            self._unflushed[process] -= mine

    def refused(self, process: int, who: Who, tool: str, given: Json, error: str, field: str) -> None:
        """A call that is wrong in itself."""
        answer = self._call(process, who, tool, given)
        assert_same(answer, {"error": error, "field": field, "written": False})

    # Reading.

    def get(self, process: int, who: Who, memory_id: str) -> None:
        answer = self._call(process, who, "get_memory", {"id": memory_id, "history": True})
        shown = answer.get("memory", answer)
        if self._agree(shown, lambda: self.model.get(who, memory_id, self.now), names=IN_FULL):
            (memory,) = (m for m in self.model.visible(who) if m.id == memory_id)
            history = [
                (one["version"], one["content"], set(one["change"]) - {"superseded_by"})
                for one in answer["history"]
            ]
            assert history == memory.history[::-1]

    def list_all(self, process: int, who: Who, given: Json) -> None:
        """A walk through all pages."""
        answer = walk(lambda tool, arguments: self._call(process, who, tool, arguments), given)
        expected = self.model.rows(who, given, self.now)
        assert set(answer["totals"]) == {len(expected)}
        assert len(answer["totals"]) == max(1, -(-len(expected) // given["limit"]))
        assert_rows(answer["memories"], expected)

    def recall(self, process: int, who: Who, given: Json, words: list[str]) -> None:
        answer = self._call(process, who, "recall", given)
        allowed = self.model.recallable(who, given, self.now)
        complete = given.get("limit") == 50 and given.get("min_score") == 0
        assert_recalled(answer, allowed, words, complete=complete)
        freshness = answer["freshness"]
        assert (freshness["degraded"], freshness["tail_truncated"]) == (False, False)
        assert 0 <= freshness["pending"] <= sum(1 for _ in self.model.visible(who))
        self._count(process, who, [hit["id"] for hit in answer["hits"]])

    def _count(self, process: int, who: Who, shown: list[str]) -> None:
        counted = Counter((who.tenant, memory_id) for memory_id in shown)
        self._recalls += counted
        self._unflushed[process] += counted

    def context(self, process: int, who: Who, given: Json) -> None:
        answer = self._call(process, who, "memory_context", given)
        live = self.model.recallable(who, {"type": given["types"]} if "types" in given else {}, self.now)
        ids = answer["ids"]
        assert set(ids) <= set(live)
        if len(live) <= 20:
            assert (sorted(ids), answer["omitted"]) == (sorted(live), 0)
        ranks = [(*FIRST_TYPES, live[i]["type"]).index(live[i]["type"]) for i in ids]
        assert ranks == sorted(ranks)
        assert answer["token_estimate"] <= given["max_tokens"]
        self._count(process, who, ids)

    def stats(self, process: int, who: Who) -> None:
        answer = self._call(process, who, "memory_stats", {})
        expected = self.model.stats(who, self.now)
        assert answer["counters"]["feedback"] == expected.pop("feedback")
        assert_same(answer, {**expected, "embeddings_missing": 0, "invalid": 0})
        seen = {(who.tenant, memory.id) for memory in self.model.visible(who)}
        sure = self._flushed + self._unflushed[process]
        least, most = (sum(counts[key] for key in seen) for counts in (sure, self._recalls))
        assert least <= answer["counters"]["recalls"] <= most
        assert 0 <= answer["pending"] <= len(seen)

    def everything(self) -> None:
        """Every caller, every way to read."""
        for who in (Who(tenant, conversation) for tenant in TENANTS for conversation in CONVERSATIONS):
            self.list_all(0, who, {"status": "all", "limit": 100})
            self.stats(1, who)
            for memory_id in self.ids:
                self.get(2, who, memory_id)
            for word in WORDS:
                given = {"query": word, "mode": "exploratory", "limit": 50, "min_score": 0}
                self.recall(1, who, given, [word])

    # What happens by itself.

    def time_passes(self, by: timedelta) -> None:
        self._note("time passes", by)
        self.world.clock.advance(by)

    def index(self, tenant: str, named: Iterable[str]) -> None:
        """An event's run, for ids that it names; there or not."""
        self._note("index", tenant, named)
        self._indexer.upkeep.index(tenant, named)

    def maintain(self, tenant: str) -> None:
        self._note("maintain", tenant)
        self._indexer.upkeep.run(tenant)

    def rebuild(self, tenant: str, *, lost: bool) -> None:
        """The index is made anew; `lost`: all of it was deleted before."""
        self._note("rebuild", tenant, lost)
        if lost:
            for page in self.world.index.list(keys.index_of(tenant)):
                for entry in page.entries:
                    self.world.index.delete(entry.key)
        self._indexer.rebuilding.run(tenant)

    def restart(self, process: int, *, cleanly: bool) -> None:
        """Another process in its place, which holds nothing."""
        self._note("restart", process, cleanly)
        if cleanly:
            self._processes[process].counts.flush()
            self._flushed += self._unflushed[process]
        self._unflushed[process] = Counter()
        self._processes[process] = self._process()

    def close(self) -> None:
        self.world.close()

    # How both are asked.

    def _process(self) -> Lodestore:
        with one_thread(self._seed):
            return self.world.instance().lodestore

    def _note(self, *what: object) -> None:
        self._say(" ".join(map(str, what)))
        self.reached[str(what[0]), ""] += 1

    def _call(self, process: int, who: Who, tool: str, given: Json) -> Json:
        self._say(f"{process} {who.tenant}/{who.conversation} {tool} {given}")
        sent = {
            name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in given.items()
        }
        caller = Caller(who.tenant, who.conversation, Role.ADMIN)
        try:
            answer: Json = self._processes[process].toolbox.call(caller, tool, sent)
        except LodestoreError as error:
            answer = error.to_dict()
        self.reached[tool, _outcome(answer)] += 1
        return answer

    def _agree(self, answer: Json, model: Callable[[], Json], *, names: Iterable[str] | None = None) -> bool:
        """The answer is the model's, or both refuse in the same words; whether they answered."""
        try:
            expected = model()
        except Refused as refused:
            assert_same(answer, refused.expected)
            return False
        assert "error" not in answer, f"{answer} instead of {expected}"
        assert_same(answer, expected, names)
        return True

    def _hinted(self, who: Who, near: list[dict[str, Any]]) -> None:
        """A hint may miss what is alike, and shows nothing that recall would not show."""
        allowed = self.model.recallable(who, {}, self.now)
        for hint in near:
            assert hint["content"] == allowed[hint["id"]]["content"]
            assert 0.6 <= hint["similarity"] <= 1
            self.reached["remember", "hint"] += 1


def _outcome(answer: Json) -> str:
    if "error" in answer:
        return f"{answer['error']} {answer['field']}"
    if "hits" in answer:
        similar = " similar" if any(hit["similar"] for hit in answer["hits"]) else ""
        return f"{min(len(answer['hits']), 2)} hits{similar}"
    if "changed_since" in answer:
        return "changed since"
    return str(answer.get("status") or answer.get("reason") or bool(answer.get("changed", True)))
