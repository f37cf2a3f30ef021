"""The plans that a server keeps for its clients: bounded in number and in time.

They are not part of a warehouse's state: a restore does not bring back a cancelled plan.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.planning.scan import FileScanTask, Scan
from icecheck.mock_server.protocol.problem import Problem

PlanStatus: TypeAlias = Literal["submitted", "completed", "failed", "cancelled"]
PlanOwner: TypeAlias = tuple[str, str]
"""The warehouse and the uuid of the table that a plan is for."""

_Planner: TypeAlias = Callable[[Scan], tuple[FileScanTask, ...]]


class PlanningMode(StrEnum):
    """The answer of planTableScan: the tasks, or a plan to fetch them with."""

    SYNC = "sync"
    ASYNC = "async"


class PlanningSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a server's planning.

    - `files_per_task`: how many file scan tasks are in one answer; more are split into plan tasks.
    - `polls_until_ended`: in async mode, how often a client is told to wait.
    - `ends`: how planning ends; any value but completed is for tests of clients.
    - `plans_max`, `file_scan_tasks_max`: limits for all clients together; the oldest plan is
      forgotten first.
    - `plan_lifetime_ms`: how long a plan can be fetched, on the server's clock.
    """

    mode: PlanningMode = PlanningMode.SYNC
    files_per_task: int = 100
    polls_until_ended: int = 1
    ends: Literal["completed", "failed", "cancelled"] = "completed"
    plans_max: int = 1000
    file_scan_tasks_max: int = 1_000_000
    plan_lifetime_ms: int = 3_600_000

    def __post_init__(self) -> None:
        """Refuse (ValueError) settings that make no sense."""
        limits = (self.files_per_task, self.plans_max, self.plan_lifetime_ms)
        if min(limits) < 1 or min(self.polls_until_ended, self.file_scan_tasks_max) < 0:
            raise ValueError("planning limits must be positive")
        msgspec.structs.force_setattr(self, "mode", PlanningMode(self.mode))
        if self.ends not in {"completed", "failed", "cancelled"}:
            raise ValueError(f"planning ends completed, failed or cancelled, not {self.ends!r}")
        if self.mode is PlanningMode.SYNC and self.ends == "cancelled":
            raise ValueError("planTableScan cannot answer cancelled")


class PlanView(msgspec.Struct, frozen=True):
    """A plan at one moment; it has tasks when it is completed."""

    plan_id: str
    scan: Scan
    files_per_task: int
    status: PlanStatus = "submitted"
    tasks: tuple[FileScanTask, ...] = ()
    failure: PlanningFailure | None = None

    @property
    def page_count(self) -> int:
        """The number of answers that the tasks take, at least one."""
        return max(1, -(-len(self.tasks) // self.files_per_task))

    def page(self, number: int) -> tuple[FileScanTask, ...]:
        """Return the tasks of one answer, counted from 0."""
        first = number * self.files_per_task
        return self.tasks[first : first + self.files_per_task]

    def plan_tasks(self) -> list[str]:
        """Return the plan tasks for the answers after the first."""
        return [self.plan_task(number) for number in range(1, self.page_count)]

    def plan_task(self, number: int) -> str:
        """Return the plan task for one answer."""
        return f"{self.plan_id}.{number}"


class Plan:
    """One plan: waiting for polls, or ended. Its methods may be called from any thread."""

    __slots__ = ("_lock", "_polls_left", "_settings", "expires_ms", "owner", "view")

    def __init__(
        self, view: PlanView, owner: PlanOwner, expires_ms: int, settings: PlanningSettings
    ) -> None:
        self.view = view
        self.owner = owner
        self.expires_ms = expires_ms
        self._settings = settings
        self._polls_left = settings.polls_until_ended
        self._lock = threading.Lock()

    def poll(self, planner: _Planner) -> PlanView:
        """Return the plan after one more poll; the planning is done once no waiting is left."""
        with self._lock:
            if self.view.status == "submitted" and self._polls_left > 0:
                self._polls_left -= 1
                return self.view
        return self.end(planner)

    def end(self, planner: _Planner) -> PlanView:
        """Do the planning, if that is still to be done."""
        with self._lock:
            if self.view.status == "submitted":
                self.view = self._ended(planner)
            return self.view

    def cancel(self) -> None:
        """Discard the plan's tasks; a plan that has failed stays failed."""
        with self._lock:
            if self.view.status != "failed":
                self.view = msgspec.structs.replace(self.view, status="cancelled", tasks=())

    def _ended(self, planner: _Planner) -> PlanView:
        view, replaced = self.view, msgspec.structs.replace
        match self._settings.ends:
            case "cancelled":
                return replaced(view, status="cancelled")
            case "failed":
                problem = Problem(500, "InternalServerError", "This server is told to fail plans")
                return replaced(view, status="failed", failure=PlanningFailure(problem))
            case "completed":
                try:
                    return replaced(view, status="completed", tasks=planner(view.scan))
                except PlanningFailure as failure:
                    return replaced(view, status="failed", failure=failure)


class Plans:
    """The plans of one server, found by id and by plan task."""

    __slots__ = ("_lock", "_plans", "settings")

    def __init__(self, settings: PlanningSettings | None = None) -> None:
        self.settings = settings or PlanningSettings()
        self._lock = threading.Lock()
        self._plans: OrderedDict[str, Plan] = OrderedDict()

    def __len__(self) -> int:
        return len(self._plans)

    def new(self, plan_id: str, owner: PlanOwner, scan: Scan, now_ms: int) -> Plan:
        """Return a plan that is not kept yet."""
        view = PlanView(plan_id, scan, self.settings.files_per_task)
        return Plan(view, owner, now_ms + self.settings.plan_lifetime_ms, self.settings)

    def keep(self, plan: Plan, now_ms: int) -> None:
        """Keep a plan for its lifetime; the oldest ones are forgotten if there are too many."""
        with self._lock:
            self._forget_ended(now_ms)
            self._plans[plan.view.plan_id] = plan
        self.trim()

    def trim(self) -> None:
        """Forget the oldest plans while there are too many; the newest always stays."""
        with self._lock:
            held = sum(len(plan.view.tasks) for plan in self._plans.values())
            while len(self._plans) > self.settings.plans_max or (
                held > self.settings.file_scan_tasks_max and len(self._plans) > 1
            ):
                _, forgotten = self._plans.popitem(last=False)
                held -= len(forgotten.view.tasks)

    def find(self, plan_id: str, owner: PlanOwner, now_ms: int) -> Plan | None:
        """Return the plan with this id for this table; None if there is none or it has expired."""
        with self._lock:
            self._forget_ended(now_ms)
            found = self._plans.get(plan_id)
            return found if found is not None and found.owner == owner else None

    def find_task(
        self, plan_task: str, owner: PlanOwner, now_ms: int
    ) -> tuple[PlanView, int] | None:
        """Return the plan and the number of the answer for a plan task, or None."""
        plan_id, _, digits = plan_task.rpartition(".")
        plan = self.find(plan_id, owner, now_ms)
        if plan is None or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
            return None
        view, number = plan.view, int(digits)
        is_one = 1 <= number < view.page_count and view.plan_task(number) == plan_task
        return (view, number) if is_one else None

    def _forget_ended(self, now_ms: int) -> None:
        """Forget the expired plans; plans are stored in the order in which they expire."""
        while self._plans and next(iter(self._plans.values())).expires_ms <= now_ms:
            self._plans.popitem(last=False)
