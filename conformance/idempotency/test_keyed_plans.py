"""Checks of keys on scan planning: plans, their tasks, and cancellations."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange, shared_table
from icecheck.client.planned_scan import answers, file_scan_tasks
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    Keyed,
    again,
    first,
    keyed,
    of_table,
    violation,
)
from icecheck.conformance.kit.manifest_files import PlannedFile, given_files
from icecheck.findings.symptoms import OTHER_ROWS, Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply

_OTHER_FILES = declare(
    "other-files-again",
    "Plans other files for a scan that comes again with its idempotency key",
    Severity.FALSE_OR_LOST,
    OTHER_ROWS,
)
_MANY = 150
"""Enough files for a catalog with plan tasks to use them."""


@check("idempotency.plan-replayed", needs=("format-version-2",))
def test_a_plan_is_answered_again(catalog: Catalog) -> None:
    """A plan, and the tasks of a plan, that are asked for again have the same files."""
    require_keys(catalog)
    with given_files(catalog) as files:
        names = [f"{number:03}.parquet" for number in range(_MANY)]
        snapshot_id = files.append(*(PlannedFile(name) for name in names))
        table = files.table
        plan = keyed(catalog, "planTableScan", of_table(table), {"snapshot-id": snapshot_id})
        asked = first(catalog, plan)
        repeated = again(catalog, plan, asked)
        if not _is_same_plan(asked, repeated):
            due = _files_of(*answers(catalog, table, asked))
            _expect_files(plan, repeated, _files_of(*answers(catalog, table, repeated)), due)
            # Its tasks were fetched, which a catalog may let happen once.
            asked = arrange(
                catalog,
                "planTableScan",
                lambda: catalog.plan_table_scan(table, snapshot_id=snapshot_id),
            )
        completed = next(answers(catalog, table, asked))
        for plan_task in (object_in(completed).get("plan-tasks") or ())[:1]:
            body = {"plan-task": plan_task}
            fetch = keyed(catalog, "fetchScanTasks", of_table(table), body)
            fetched = first(catalog, fetch)
            repeated = again(catalog, fetch, fetched)
            _expect_files(fetch, repeated, _files_of(repeated), _files_of(fetched))


def _is_same_plan(one: Reply, other: Reply) -> bool:
    """Return whether two answers name one plan, whose tasks may be fetched only once."""
    known = object_in(one).get("plan-id")
    return known is not None and object_in(other).get("plan-id") == known


def _files_of(*replies: Reply) -> list[str]:
    tasks = [task for reply in replies for task in file_scan_tasks(reply)]
    return sorted(str(task["data-file"]["file-path"]) for task in tasks)


def _expect_files(request: Keyed, reply: Reply, found: list[str], due: list[str]) -> None:
    if found != due:
        told = f"{len(due)} files", f"{len(found)}, or others"
        raise violation(request, reply, _OTHER_FILES, *told)


@check("idempotency.cancellation-replayed")
def test_a_cancellation_is_answered_again(catalog: Catalog) -> None:
    """A cancellation of a plan that comes again is answered as before, and not that it is gone."""
    require_keys(catalog)
    table = shared_table(catalog)
    plan = arrange(catalog, "planTableScan", lambda: catalog.plan_table_scan(table))
    plan_id = plan.json().get("plan-id")
    if not isinstance(plan_id, str):
        raise not_applicable("the scan is planned at once, and the plan has no id")
    cancellation = keyed(catalog, "cancelPlanning", {**of_table(table), "plan-id": plan_id})
    cancelled = cancellation.send(catalog)
    if not cancelled.ok:
        raise not_applicable("the catalog cancels no plan: another check judges that")
    again(catalog, cancellation, cancelled)
