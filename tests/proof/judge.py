"""The judge: does a history keep the promises?

Owns: `judge`, which takes recorded operations and finds every answer that can't be true, and the rules it goes by.
Guarantees: no knowledge of the code; whatever order of effects explains the answers is accepted, nothing else; each
check that was made is counted by the promise it is of, so that an empty verdict says how much stands behind it.
Gives up: histories with expiry, with a memory whose `supersedes` shrinks, or with a text that is said anew after it was
superseded or changed: its workloads have none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.proof.case_file import CaseFile, Sight
from tests.proof.history import Operation

STATED = ("content", "type", "category", "tags", "source", "importance", "pinned", "metadata")


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that an operation broke, and how."""

    promise: str
    operation: Operation
    why: str

    def __str__(self) -> str:
        shown = self.operation
        return f"{self.promise}: {self.why} [#{shown.number} {shown.process} {shown.who} {shown.tool} {shown.given}]"


@dataclass(slots=True)
class Verdict:
    """What was found; `checked` counts the checks by promise."""

    violations: list[Violation] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)

    def check(self, promise: str, holds: bool, operation: Operation, why: str) -> None:
        self.checked[promise] += 1
        if not holds:
            self.violations.append(Violation(promise, operation, why))


def judge(operations: Iterable[Operation]) -> Verdict:
    """Every rule over every operation."""
    case, verdict = CaseFile(operations), Verdict()
    for rule in RULES:
        rule(case, verdict)
    return verdict


def _visible_after_a_write(case: CaseFile, verdict: Verdict) -> None:
    """What was there, and was not removed since, is there, or the answer says that a part of the index was not."""
    for read in case.reads:
        if read.operation.answered.get("freshness", {}).get("degraded"):
            continue
        for memory in case.memories_of(read.who):
            if not read.would_show(memory, case) or not case.must_be_there(memory, read.operation):
                continue
            shown = sum(row["id"] == memory.id for row in read.rows)
            verdict.check(
                "P-READ-YOUR-WRITES",
                shown == 1 or memory.id in read.named_beside,
                read.operation,
                f"{memory.id} was acknowledged, and is shown {shown} times",
            )


def _gone_after_a_forget(case: CaseFile, verdict: Verdict) -> None:
    """What was forgotten, and was not said anew since, is gone."""
    for memory in case.memories.values():
        for operation, _ in memory.sights:
            for forgotten in memory.forgets:
                if forgotten.answered.get("deleted") and case.must_be_gone(memory, forgotten, operation):
                    verdict.check(
                        "P-FORGOTTEN", False, operation, f"{memory.id} came back after #{forgotten.number}"
                    )
        verdict.checked["P-FORGOTTEN"] += sum(
            case.must_be_gone(memory, forgotten, read.operation)
            for forgotten in memory.forgets
            for read in case.reads
            if forgotten.answered.get("deleted") and read.who.tenant == memory.tenant
        )


def _one_revision_after_the_other(case: CaseFile, verdict: Verdict) -> None:
    """Each id's revisions rise with time, and no two writes share one."""
    for memory in case.memories.values():
        seen = [(o, sight, sight.revision) for o, sight in memory.sights if sight.revision]
        for later, after, newer in seen:
            for earlier, before, older in seen:
                if earlier.ended < later.began:
                    rises = older < newer or (older == newer and not after.wrote)
                    why = f"{memory.id}: {newer} after {older} of #{earlier.number}"
                    verdict.check("P-NO-LOST-UPDATE", rises, later, why)
                elif earlier is not later and earlier.number < later.number:
                    both = before.wrote and after.wrote and older == newer
                    why = f"{memory.id}: one revision of two writes, #{earlier.number} too"
                    verdict.check("P-NO-LOST-UPDATE", not both, later, why)


def _one_version_after_the_other(case: CaseFile, verdict: Verdict) -> None:
    """Of a memory that nobody forgot, versions rise with time, each is one write's, and shows one state."""
    for memory in case.memories.values():
        if memory.forgets:
            continue
        states: dict[int, tuple[Operation, Sight]] = {}
        for later, after in memory.sights:
            if after.version is None:
                continue
            floor = max((sight.version or 0 for _, sight in case.before(memory, later)), default=0)
            why = f"{memory.id}: version {after.version} after {floor}"
            verdict.check("P-NO-LOST-UPDATE", after.version >= floor, later, why)
            earlier, before = states.setdefault(after.version, (later, after))
            if earlier is later:
                continue
            twice = before.wrote and after.wrote
            why = f"{memory.id}: version {after.version} written twice, by #{earlier.number} too"
            verdict.check("P-NO-LOST-UPDATE", not twice, later, why)
            differing = [
                n
                for n in STATED
                if n in before.fields and n in after.fields and before.fields[n] != after.fields[n]
            ]
            why = f"{memory.id}: version {after.version} differs in {differing} from #{earlier.number}"
            verdict.check("P-NO-LOST-UPDATE", not differing, later, why)
            states[after.version] = (earlier, before.joined(after))


def _the_expected_version(case: CaseFile, verdict: Verdict) -> None:
    """An update over version v makes v + 1."""
    for update in case.calls("update_memory"):
        expected = update.given.get("expected_version")
        if expected is not None and update.answered.get("changed"):
            version = update.answered["version"]
            why = f"version {version} was made over {expected}"
            verdict.check("P-NO-LOST-UPDATE", version == expected + 1, update, why)


def _added_tags_stay(case: CaseFile, verdict: Verdict) -> None:
    """A tag that a statement added is there as long as the memory is."""
    for memory in case.memories.values():
        for said in memory.said:
            if not said.answered.get("version") or not said.given.get("tags"):
                continue
            for operation, sight in memory.sights:
                if "tags" not in sight.fields or not case.lives_from(memory, said, operation):
                    continue
                lost = set(said.given["tags"]) - set(sight.fields["tags"])
                why = f"{memory.id}: tags {sorted(lost)} of #{said.number} are lost"
                verdict.check("P-NO-LOST-UPDATE", not lost, operation, why)


def _counts_are_exact(case: CaseFile, verdict: Verdict) -> None:
    """Feedback that was answered counts once; what was not confirmed at most once."""
    given = case.calls("memory_feedback")
    for one in given:
        if not one.answered:
            continue
        same = [f for f in given if (f.who.tenant, f.given["id"]) == (one.who.tenant, one.given["id"])]
        for useful, name in ((True, "useful_count"), (False, "not_useful_count")):
            said = [f for f in same if f.given["useful"] is useful and not f.refused]
            # Counts of an earlier life may have gone with it: what a forget may have ended is no least.
            ended = max((o.ended for o in case.calls("forget") if _may_end(o, one)), default=-1)
            least = sum(
                bool(f.answered) and (ended < f.began < f.ended < one.began or f is one) for f in said
            )
            most = sum(f.began < one.ended for f in said)
            count = one.answered[name]
            why = f"{name} is {count}, not {least} to {most}"
            verdict.check("P-NO-LOST-UPDATE", least <= count <= most, one, why)


def _may_end(forget: Operation, one: Operation) -> bool:
    same = (forget.who.tenant, forget.given.get("id")) == (one.who.tenant, one.given["id"])
    return same and forget.began < one.ended


def _nothing_from_nowhere(case: CaseFile, verdict: Verdict) -> None:
    """Whatever is shown was said, in the same tenant, to all or in the same conversation, and not refused."""
    for read in case.reads:
        for row in read.rows:
            for name, values in (
                ("content", [row["content"]]),
                ("tags", row["tags"]),
                ("source", [row["source"]]),
            ):
                for value in values:
                    if value is None:
                        continue
                    origins = case.origins(name, value)
                    mine = [o for o in origins if case.may_reach(o, read.who)]
                    why = (
                        f"{name} {value!r} of {row['id']} is another's: only {[str(o.who) for o in origins]}"
                    )
                    verdict.check("P-TENANT", bool(mine) or not origins, read.operation, why)
                    told = [o for o in mine if o.began < read.operation.ended and not case.without_effect(o)]
                    why = f"{name} {value!r} of {row['id']} was never stored, by what callers were told"
                    verdict.check("P-DURABLE", bool(told), read.operation, why)


def _superseded_stays_below(case: CaseFile, verdict: Verdict) -> None:
    """What an acknowledged statement superseded is not shown as active any more."""
    for successor in case.superseding:
        if not successor.answered.get("version"):
            continue
        for read in case.reads:
            if read.operation.began < successor.ended or read.who.tenant != successor.who.tenant:
                continue
            for row in read.rows:
                if row["id"] not in successor.given["supersedes"]:
                    continue
                right = not read.active_only and bool(row["superseded_by"])
                why = f"{row['id']} is shown as active; #{successor.number} superseded it"
                verdict.check("P-READ-YOUR-WRITES", right, read.operation, why)


def _one_place_for_one_statement(case: CaseFile, verdict: Verdict) -> None:
    """The same statement meets itself at one id."""
    for place, answers in case.places.items():
        for operation, memory_id in answers:
            first = answers[0][1]
            why = f"{place} is at {memory_id} and at {first}"
            verdict.check("P-IDEMPOTENT", memory_id == first, operation, why)


def _totals_are_exact(case: CaseFile, verdict: Verdict) -> None:
    """Where nobody wrote meanwhile, every page's total is the number of rows, and none comes twice."""
    for read in case.reads:
        if not read.totals or case.disturbed(read.operation):
            continue
        ids = [row["id"] for row in read.rows]
        exact = set(read.totals) == {len(ids)} and len(set(ids)) == len(ids)
        why = f"totals {read.totals} of {len(ids)} rows, {len(set(ids))} ids"
        verdict.check("P-READ-YOUR-WRITES", exact, read.operation, why)


RULES = (
    _visible_after_a_write,
    _gone_after_a_forget,
    _one_revision_after_the_other,
    _one_version_after_the_other,
    _the_expected_version,
    _added_tags_stay,
    _counts_are_exact,
    _nothing_from_nowhere,
    _superseded_stays_below,
    _one_place_for_one_statement,
    _totals_are_exact,
)
