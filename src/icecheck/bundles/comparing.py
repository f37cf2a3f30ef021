"""Compares what a report states with what was derived from its exchanges again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from icecheck.bundles.differences import Difference, named
from icecheck.bundles.second.passive import SecondOpinion, Tally
from icecheck.wire.exchange import Exchange, Step

_OF_EVERY_CHECK = (
    "outcome",
    "skip",
    "blocked_by",
    "without",
    "summary",
    "assertions",
    "requests",
    "exchanges",
    "severity",
    "group",
    "profile",
    "requirements",
    "operations",
)
"""The members of a row that are derived; how long a check took is not."""
_WHOLE = ("status", "headline", "exit_code", "exit_reason")
_CAUSES = re.compile(r"; \d+ causes?(?=,)")
_NOT_STATED = "nothing"


def differing_rows(
    stated: Sequence[Mapping[str, Any]], derived: Sequence[Mapping[str, Any]]
) -> Iterator[Difference]:
    """Yield a difference for each check that ends otherwise than its row in run.json says."""
    rows = {row["id"]: row for row in derived}
    for row in stated:
        other = rows.pop(row["id"], None)
        if other is None:
            yield Difference(row["id"], str(row["outcome"]), "no verdict")
            continue
        member = next((m for m in _OF_EVERY_CHECK if row.get(m) != other.get(m)), None)
        if member is not None:
            yield _row_difference(member, row, other)
    for row in rows.values():
        yield Difference(row["id"], _NOT_STATED, _ending(row), _shown(row))


def _row_difference(member: str, row: Mapping[str, Any], other: Mapping[str, Any]) -> Difference:
    if member == "outcome":
        stated, derived = _ending(row), _ending(other)
    else:
        ours, theirs = _apart(row.get(member), other.get(member))
        stated, derived = f"{member} {ours}", f"{member} {theirs}"
    return Difference(row["id"], stated, derived, _shown(other) or _shown(row))


def _apart(stated: Any, derived: Any) -> tuple[str, str]:
    """Return two values as texts that begin shortly before they differ."""
    ours, theirs = str(stated), str(derived)
    same = next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    start = max(0, same - 40)
    return tuple(f"{'…' * (start > 0)}{text[start : start + 120]}" for text in (ours, theirs))  # type: ignore[return-value]


def _ending(row: Mapping[str, Any]) -> str:
    return f"{row['outcome']} ({row['summary']})" if row["summary"] else str(row["outcome"])


def _shown(row: Mapping[str, Any]) -> str:
    """Return the exchange that shows how a check ends, as its row tells it; "" if none does."""
    if not row["exchanges"]:
        return ""
    last = row["exchanges"][-1]
    asked, answered = last["request"], last["response"]
    return (
        f"exchange {last['n']} of {row['id']}: {asked['method']} {asked['url']}"
        f" -> {answered['status']}"
    )


def left_over(left: Mapping[str, Sequence[Exchange]]) -> Iterator[Difference]:
    """Yield a difference for each check that no longer sends what was recorded."""
    for check_id, exchanges in left.items():
        asked = [e for e in exchanges if e.step is not Step.UNDO]
        if asked:
            many = f"{len(asked)} more requests" if len(asked) > 1 else "one more request"
            yield Difference(check_id, f"{many} recorded", "not sent again", named(asked[0]))


def differing_conclusion(
    stated: Mapping[str, Any], derived: Mapping[str, Any], *, in_part: bool
) -> Iterator[Difference]:
    """Yield what differs in the conclusion: the verdict, the totals, the profiles, the causes.

    With ``in_part`` a failed check could not be replayed: what its finding has in common with
    others is not known, and causes are not compared. Expectations, whose file is not in a bundle,
    change the exit code.
    """
    expected = stated["expectations"].get("file") is not None
    for member in _WHOLE[:2] if expected else _WHOLE:
        ours, theirs = (str(each["verdict"][member]) for each in (stated, derived))
        if in_part:
            ours, theirs = (_CAUSES.sub("", text) for text in (ours, theirs))
        if ours != theirs:
            yield Difference(f"run.json: verdict {member}", ours, theirs)
    counted = [{o: each["totals"].get(o) for o in _COUNTED} for each in (stated, derived)]
    if counted[0] != counted[1]:
        yield Difference("run.json: totals", *_apart(*counted))
    if stated["profiles"] != derived["profiles"]:
        yield from _differing_profiles(stated["profiles"], derived["profiles"])
    causes = [[_cause(c) for c in each["causes"]] for each in (stated, derived)]
    if not in_part and causes[0] != causes[1]:
        yield Difference("run.json: causes", *_apart(*causes))
    ours, theirs = (each["target"]["fingerprint"]["config_sha256"] for each in (stated, derived))
    if ours != theirs:
        yield Difference("run.json: target fingerprint", ours, theirs)


_COUNTED = ("pass", "fail", "blocked", "skip", "error", "executed", "passive")


def _cause(cause: Mapping[str, Any]) -> tuple[Any, ...]:
    members = ("id", "level", "severity", "checks", "blocked", "operations")
    return tuple(cause.get(member) for member in members)


def _differing_profiles(stated: Any, derived: Any) -> Iterator[Difference]:
    theirs = {each["id"]: each for each in derived}
    for row in stated:
        if row != theirs.get(row["id"]):
            yield Difference(f"run.json: profile {row['id']}", *_apart(row, theirs.get(row["id"])))


def second_differences(
    stated: Sequence[Mapping[str, Any]], opinion: SecondOpinion
) -> Iterator[Difference]:
    """Yield what the second judge says otherwise of passive verdicts, and where it is divided."""
    for row in stated:
        if row["passive"]:
            tally = opinion.tallies.get(row["id"], Tally())
            outcome = "fail" if tally.failing else "pass" if tally.seen else "nothing to judge"
            if outcome != row["outcome"]:
                shown = "" if tally.failing is None else named(tally.failing)
                told = f"{outcome} by the second judge"
                yield Difference(row["id"], _ending(row), told, shown or _shown(row))
    for one in opinion.disagreements:
        ours, theirs = (
            "fits" if fits else "does not fit" for fits in (one.openapi_core, one.jsonschema)
        )
        about = f"the body of {one.exchange.operation} {one.exchange.status}"
        yield Difference(
            about, f"by openapi-core: {ours}", f"by jsonschema: {theirs}", named(one.exchange)
        )


def misquoted(
    rows: Sequence[Mapping[str, Any]], recorded: Mapping[str, Sequence[Exchange]]
) -> Iterator[Difference]:
    """Yield the exchanges that rows of run.json show and that nobody has recorded so."""
    for row in rows:
        for shown in row["exchanges"]:
            asked = shown["request"]["method"], shown["request"]["url"]
            # What made the setup that a check shares was sent by another one.
            places = recorded.values() if shown["n"] == 0 else [recorded.get(row["id"], ())]
            found = [e for each in places for e in each if (e.method, e.url) == asked]
            status = shown["response"]["status"]
            if not any(e.status == status for e in found):
                said = f"{asked[0]} {asked[1]} -> {status}"
                told = f"-> {found[0].status}" if found else "not recorded"
                yield Difference(row["id"], f"exchange {shown['n']}: {said}", told)
                break
