"""Plans a scan as a client does: asks, waits, and fetches up to the last plan task."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.sender import Headers
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered, Reply, Violation
from icecheck.replies.matching import show

_PLAN_STATUS = declare("plan-status", "A plan has another status than is due", Severity.REFUSED)
_PLAN_WITHOUT_ID = declare(
    "plan-without-id", "Submits a plan without an id to ask for it with", Severity.REFUSED
)
_PLAN_FAILED_WITHOUT_ERROR = declare(
    "plan-failed-without-error", "Reports a failed plan without an error", Severity.SHAPE
)
_TASKS_BEFORE_COMPLETION = declare(
    "tasks-before-completion", "Sends the tasks of a plan that is not completed", Severity.SHAPE
)
_PLAN_TASK_REPEATED = declare(
    "plan-task-repeated",
    "A plan has no end: its tasks lead to the same task again",
    Severity.REFUSED,
)
_DELETE_FILE_REFERENCE = declare(
    "delete-file-reference",
    "A scan task refers to a delete file that is not in the answer",
    Severity.SHAPE,
    "every client that has its scans planned: the plan cannot be read",
)
_PLAN_UNFINISHABLE = declare(
    "plan-unfinishable",
    "Plans scans that need an operation which the catalog does not claim",
    Severity.REFUSED,
)

PATIENCE_SECONDS = 30.0
"""How long a plan may stay submitted before the check gives up on it."""
_IMPATIENT_POLLS = 3
_PLAN_TASKS_MAX = 1000
_TASKS = ("file-scan-tasks", "plan-tasks", "delete-files")

Json = Any


@dataclass(frozen=True, slots=True)
class Planned:
    """A completely planned scan.

    ``tasks`` are the file scan tasks, each with its delete files under ``delete-files`` in place of
    references. ``plan_id`` is what the answer to the request named, ``plan_tasks`` what the
    completed plan named. ``completed`` is the answer with that plan, ``last`` the last one.
    """

    tasks: tuple[dict[str, Any], ...]
    plan_id: str | None
    plan_tasks: tuple[str, ...]
    completed: Reply
    last: Reply

    @property
    def locations(self) -> list[str]:
        """The locations of the data files, sorted; a file that is planned twice is listed twice."""
        return sorted(str(task["data-file"]["file-path"]) for task in self.tasks)

    def deletes_of(self, location: str) -> list[str]:
        """Return the locations of the delete files that apply to a data file."""
        return sorted(
            str(delete["file-path"])
            for task in self.tasks
            if task["data-file"]["file-path"] == location
            for delete in task["delete-files"]
        )


def expect_state(reply: Reply, *states: str) -> Reply:
    """Expect that an answer about a plan names one of the states and has the members due in it.

    A submitted plan has an id to ask with, where the answer is the first one about it; a failed one
    has an error; and only a completed one has tasks (L631-L644, L711-L726).
    """
    body = reply.json()
    state = body.get("status") if isinstance(body, dict) else None
    if state not in states:
        raise reply.violation(_PLAN_STATUS, "a valid status", show(state), pointer="/status")
    asked = reply.exchange.operation == "planTableScan"
    if state == "submitted" and asked and not isinstance(body.get("plan-id"), str):
        raise reply.violation(_PLAN_WITHOUT_ID, "a plan-id to ask with", "none")
    if state == "failed" and not isinstance(body.get("error"), dict):
        raise reply.violation(_PLAN_FAILED_WITHOUT_ERROR, "an error", "none", pointer="/error")
    early = [name for name in _TASKS if body.get(name)]
    if state != "completed" and early:
        due = "no tasks before the plan is completed"
        raise reply.violation(_TASKS_BEFORE_COMPLETION, due, "tasks", detail=", ".join(early))
    return reply


def planned(
    catalog: Catalog, table: Table, headers: Headers | None = None, /, **members: Json
) -> Planned:
    """Plan a scan as a client does, up to its last plan task.

    ``headers`` ask for access to the files, where the document lets a client ask for it. Raises
    Violation for an answer that a client cannot continue with, and where the catalog does not claim
    an operation that its own plan needs; NotOffered where a plan stays submitted too long.
    """
    asked = catalog.plan_table_scan(table, headers, **members).expect(200)
    found = [*answers(catalog, table, asked, headers)]
    return Planned(
        tuple(task for reply in found for task in file_scan_tasks(reply)),
        asked.json().get("plan-id"),
        tuple(found[0].json().get("plan-tasks") or ()),
        found[0],
        found[-1],
    )


def answers(
    catalog: Catalog, table: Table, asked: Reply, headers: Headers | None = None
) -> Iterator[Reply]:
    """Yield the completed plan of a scan that was asked for, then the answer to each plan task.

    The next request is sent only when the next answer is asked for. Raises as `planned` does.
    """
    last = _completed(catalog, table, asked, headers)
    yield last
    waiting = [*(last.json().get("plan-tasks") or ())]
    seen: set[str] = set()
    while waiting:
        _need(catalog, "fetchScanTasks")
        plan_task = waiting.pop(0)
        if plan_task in seen or len(seen) >= _PLAN_TASKS_MAX:
            raise last.violation(_PLAN_TASK_REPEATED, "plan tasks that end", "the same one again")
        seen.add(plan_task)
        last = catalog.fetch_scan_tasks(table, plan_task).expect(200)
        yield last
        waiting += last.json().get("plan-tasks") or ()


def _completed(
    catalog: Catalog, table: Table, reply: Reply, headers: Headers | None = None
) -> Reply:
    """Poll until the plan is no longer submitted; expect that it is completed then."""
    plan_id = reply.json().get("plan-id")
    # A server that plans in the background may be slow and still correct.
    deadline = time.monotonic() + PATIENCE_SECONDS
    polls = 0
    while reply.member("status") == "submitted":
        if not isinstance(plan_id, str):
            raise reply.violation(_PLAN_WITHOUT_ID, "a plan-id to ask with", "none")
        _need(catalog, "fetchPlanningResult")
        if time.monotonic() > deadline:
            reason = f"the plan was still submitted after {PATIENCE_SECONDS:g} s"
            raise NotOffered(reason, SkipKind.MISSING_FIXTURE)
        _pause(polls)
        polls += 1
        reply = catalog.fetch_planning_result(table, plan_id, headers).expect(200)
    status = reply.json()["status"]
    if status != "completed":
        raise reply.violation(_PLAN_STATUS, "completed", str(status), pointer="/status")
    return reply


def settled(catalog: Catalog, table: Table, plan_id: str) -> dict[str, Any] | None:
    """Return the answer about a plan once it is no longer submitted, {} for a refusal.

    Returns None for a plan that stays submitted.
    """
    deadline, polls = time.monotonic() + PATIENCE_SECONDS, 0
    while time.monotonic() < deadline:
        reply = catalog.fetch_planning_result(table, plan_id)
        body = reply.json() if reply.status == 200 else {}
        if not isinstance(body, dict) or body.get("status") != "submitted":
            return body if isinstance(body, dict) else {}
        _pause(polls)
        polls += 1
    return None


def _pause(polls: int) -> None:
    """Wait before the next poll: the first ones come at once, the later ones ever more slowly."""
    if polls >= _IMPATIENT_POLLS:
        time.sleep(min(0.05 * 2 ** (polls - _IMPATIENT_POLLS), 2.0))


def file_scan_tasks(reply: Reply) -> list[dict[str, Any]]:
    """Return an answer's tasks with their delete files.

    Raises Violation for a reference to no delete file.
    """
    body = reply.json()
    deletes = body.get("delete-files") or ()
    found = []
    for index, task in enumerate(body.get("file-scan-tasks") or ()):
        references = task.get("delete-file-references") or ()
        if any(not 0 <= at < len(deletes) for at in references):
            raise reply.violation(
                _DELETE_FILE_REFERENCE,
                f"indices below {len(deletes)}",
                str([*references]),
                pointer=f"/file-scan-tasks/{index}/delete-file-references",
            )
        # The copy keeps the task's members as they are: a member that is missing stays missing.
        found.append(task | {"delete-files": [deletes[at] for at in references]})
    return found


def _need(catalog: Catalog, operation_id: str) -> None:
    if not catalog.claims(operation_id):
        raise Violation(
            _PLAN_UNFINISHABLE,
            f"{operation_id} to be claimed by a catalog whose plans need it",
            "not claimed",
        )
