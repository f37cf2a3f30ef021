"""Checks that entries of a table's logs stay the same after later commits."""

from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.conformance.kit.log_times import expect_times_in_order
from icecheck.conformance.states import history_stages as history
from icecheck.conformance.states import layout_stages as layout
from icecheck.conformance.states.stages import Stage, grown, in_order
from icecheck.conformance.states.walk import TABLES, given_born, renamed
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.symptoms import NOT_ALL_SEEN, Severity, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects.committing import by_transaction, by_update
from icecheck.objects.reading import not_applicable, refused
from icecheck.objects.round_trip import loaded_answer, shown_of
from icecheck.replies.expect import Reply

_LOG_REWRITTEN = declare(
    "log-rewritten",
    "Rewrites the entries of a table's logs",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)

Json = dict[str, Any]

_LOGS = ("snapshot-log", "metadata-log")
_SNAPSHOTS = (
    Stage("two snapshots", history.snapshots),
    Stage("main rolled back", history.rolled_back),
    Stage("another snapshot", history.snapshot_on_main),
)
_CHANGES = (
    Stage("another location", layout.moved),
    Stage("another schema", layout.schemas),
    Stage("other properties", layout.properties),
    Stage("another spec", layout.specs),
)


@generated_check(
    "commit.logs-kept",
    proves=("commit.logs-kept", "commit.logs-in-order", "commit.snapshot-log"),
)
def test_logs_are_kept(catalog: Catalog) -> None:
    """What a log of a table has said, it says after later commits and a rename; time runs on."""
    table = given_born(catalog)
    stages = [*_CHANGES]
    if all(has_capability(catalog, c) for c in ("metadata-only-snapshots", "snapshot-history")):
        stages = [*_SNAPSHOTS, *_CHANGES]
    if has_capability(catalog, "format-version-3"):
        stages.append(Stage("format version 3", layout.upgraded))
    taken = 0
    for at, stage in enumerate(stages):
        updates, _ = grown(stage, in_order(table.metadata))
        if not updates:
            continue
        # A transaction writes the same logs as a commit to one table.
        together = not at % 2 and catalog.claims("commitTransaction")
        answer = (by_transaction if together else by_update)(catalog, table, updates, ())
        if refused(answer, stage.what):
            continue
        taken += 1
        table = _expect_kept(loaded_answer(catalog, table), table, stage.what)
    if not taken:
        raise not_applicable("the catalog refuses every one of these commits")
    new, reply = renamed(catalog, TABLES, table, "all of that")
    if reply is not None:
        _expect_kept(reply, Table(new.namespace, new.name, table.metadata, None), "a rename")


def _expect_kept(reply: Reply, before: Table, what: str) -> Table:
    """Judge that logs start with their former entries, the oldest one aside; return the table.

    A log that is shorter than before was cut; the document does not limit that.
    """
    expect_times_in_order(reply, before.metadata)
    after = shown_of(reply, before)
    moves = after.metadata.get("snapshot-log")
    current = after.metadata.get("current-snapshot-id")
    if moves and current not in {None, -1, moves[-1].get("snapshot-id")}:
        raise reply.violation(
            EFFECT_MISSING.of("snapshot-log"),
            "a log that ends with the current snapshot",
            "one that ends with another",
            detail=f"after {what}: {moves}, and {current} is current"[:400],
            pointer="/metadata/snapshot-log",
        )
    for log in _LOGS:
        was, now = (each.metadata.get(log) or [] for each in (before, after))
        kept = [was] if len(now) > len(was) else [was, was[1:]]
        if len(now) >= len(was) and all(now[: len(each)] != each for each in kept):
            raise reply.violation(
                _LOG_REWRITTEN,
                "the entries that there were, and perhaps one more",
                "other entries",
                detail=f"{log} after {what}: {now} was {was}"[:400],
                pointer=f"/metadata/{log}",
            )
    return after
