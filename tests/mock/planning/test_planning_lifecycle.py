"""Plans that outlast a request: tasks, polls, cancelling, failing, forgetting."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.planning.plans import PlanningMode, PlanningSettings
from tests.mock.planning.handmade import File, Handmade, Manifest, make_table
from tests.mock.planning.serving import all_tasks, checked, paths, plan, planning_server

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}],
}


def file(name: str, **others: Any) -> File:
    return File(f"file:///t/{name}.parquet", **others)


def served(
    tmp_path: Path, settings: PlanningSettings, clock: object = 1_700_000_000_000
) -> tuple[MockCatalog, httpx.Client, Handmade]:
    mock = planning_server(tmp_path, settings, clock)
    http = httpx.Client(transport=mock.httpx_transport(), base_url="http://mock/v1/wh")
    http.get("http://mock/v1/config?warehouse=wh")
    http.post("/namespaces", json={"namespace": ["ns"]})
    return mock, http, make_table(http, tmp_path, "t", SCHEMA)


def test_many_files_come_in_tasks_that_can_be_fetched_in_any_order_and_again(
    tmp_path: Path,
) -> None:
    _, http, table = served(tmp_path, PlanningSettings(files_per_task=4))
    table.commit(Manifest([file(f"{number:02}") for number in range(10)]))
    answer = plan(http, "t")
    assert len(answer["file-scan-tasks"]) == 4
    assert len(answer["plan-tasks"]) == 2

    def fetched(plan_task: str) -> list[str]:
        found = http.post(f"{table.path}/tasks", json={"plan-task": plan_task})
        return paths(checked("fetchScanTasks", found)["file-scan-tasks"])

    last, second = (fetched(each) for each in reversed(answer["plan-tasks"]))
    assert second == [f"file:///t/{number:02}.parquet" for number in range(4, 8)]
    assert last == ["file:///t/08.parquet", "file:///t/09.parquet"]
    assert fetched(answer["plan-tasks"][0]) == second
    assert len(all_tasks(http, "t")) == 10
    for wrong in (answer["plan-id"], f"{answer['plan-id']}.0", f"{answer['plan-id']}.01", "."):
        found = http.post(f"{table.path}/tasks", json={"plan-task": wrong})
        assert found.status_code == 404


def stem(content_file: dict[str, Any]) -> str:
    return Path(content_file["file-path"]).stem


ASYNC = PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=2, files_per_task=1)


def test_an_async_plan_is_submitted_and_completes_after_the_polls(tmp_path: Path) -> None:
    _, http, table = served(tmp_path, ASYNC)
    table.commit(Manifest([file("a"), file("b")]))
    answer = plan(http, "t")
    assert set(answer) == {"status", "plan-id"}
    assert answer["status"] == "submitted"
    where = f"{table.path}/plan/{answer['plan-id']}"
    polls = [checked("fetchPlanningResult", http.get(where)) for _ in range(4)]
    assert [each["status"] for each in polls] == [
        "submitted",
        "submitted",
        "completed",
        "completed",
    ]
    assert polls[0] == {"status": "submitted"}
    assert len(polls[2]["file-scan-tasks"]) == 1
    found = http.post(f"{table.path}/tasks", json={"plan-task": polls[2]["plan-tasks"][0]})
    assert paths(checked("fetchScanTasks", found)["file-scan-tasks"]) == ["file:///t/b.parquet"]


def test_an_async_plan_sees_the_table_as_it_was_when_submitted(tmp_path: Path) -> None:
    _, http, table = served(
        tmp_path, PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=0)
    )
    table.commit(Manifest([file("a")]))
    plan_id = plan(http, "t")["plan-id"]
    table.commit(Manifest([file("b")]))
    answer = checked("fetchPlanningResult", http.get(f"{table.path}/plan/{plan_id}"))
    assert paths(answer["file-scan-tasks"]) == ["file:///t/a.parquet"]


@pytest.mark.parametrize("polls", [0, 3])
def test_a_cancelled_plan_is_known_as_such_and_its_tasks_are_gone(
    tmp_path: Path, polls: int
) -> None:
    _, http, table = served(tmp_path, ASYNC)
    table.commit(Manifest([file("a"), file("b")]))
    plan_id = plan(http, "t")["plan-id"]
    where = f"{table.path}/plan/{plan_id}"
    for _ in range(polls):
        http.get(where)
    for _ in range(2):
        assert checked("cancelPlanning", http.delete(where)) is None
    assert checked("fetchPlanningResult", http.get(where)) == {"status": "cancelled"}
    gone = http.post(f"{table.path}/tasks", json={"plan-task": f"{plan_id}.1"})
    assert gone.status_code == 404


def test_a_plan_belongs_to_its_table(tmp_path: Path) -> None:
    _, http, table = served(tmp_path, ASYNC)
    make_table(http, tmp_path, "other", SCHEMA)
    plan_id = plan(http, "t")["plan-id"]
    other = f"/namespaces/ns/tables/other/plan/{plan_id}"
    assert http.get(other).status_code == 404
    assert http.delete(other).status_code == 204
    assert http.get(f"{table.path}/plan/{plan_id}").json()["status"] == "submitted"
    identifiers = [{"namespace": ["ns"], "name": name} for name in ("t", "renamed")]
    body = dict(zip(("source", "destination"), identifiers, strict=True))
    assert http.post("/tables/rename", json=body).status_code == 204
    assert http.get(f"/namespaces/ns/tables/renamed/plan/{plan_id}").status_code == 200
    http.delete("/namespaces/ns/tables/renamed")
    make_table(http, tmp_path, "renamed", SCHEMA)
    assert http.get(f"/namespaces/ns/tables/renamed/plan/{plan_id}").status_code == 404


def test_a_plan_is_forgotten_when_its_time_is_over(tmp_path: Path) -> None:
    clock = VirtualClock(1_700_000_000_000)
    settings = PlanningSettings(mode=PlanningMode.ASYNC, plan_lifetime_ms=1000)
    mock, http, table = served(tmp_path, settings, clock)
    plan_id = plan(http, "t")["plan-id"]
    clock.advance(999)
    assert http.get(f"{table.path}/plan/{plan_id}").status_code == 200
    clock.advance(1)
    answer = http.get(f"{table.path}/plan/{plan_id}")
    assert checked("fetchPlanningResult", answer)["error"]["type"] == "NoSuchPlanIdException"
    assert len(mock.plans) == 0


def test_each_completed_plan_has_an_id_of_its_own(tmp_path: Path) -> None:
    _, http, table = served(tmp_path, PlanningSettings())
    table.commit(Manifest([file("a")]))
    assert len({plan(http, "t")["plan-id"] for _ in range(5)}) == 5


def test_completed_plans_are_kept_in_bounds_and_for_their_time(tmp_path: Path) -> None:
    clock = VirtualClock(1_700_000_000_000)
    settings = PlanningSettings(plans_max=2, plan_lifetime_ms=1000)
    mock, http, table = served(tmp_path, settings, clock)
    table.commit(Manifest([file("a")]))
    ids = [plan(http, "t")["plan-id"] for _ in range(3)]
    statuses = [http.get(f"{table.path}/plan/{each}").status_code for each in ids]
    assert statuses == [404, 200, 200]
    clock.advance(1000)
    newest = plan(http, "t")["plan-id"]
    assert len(mock.plans) == 1  # those whose time is over went before anybody asked for them
    assert http.get(f"{table.path}/plan/{newest}").status_code == 200
    answer = http.get(f"{table.path}/plan/{ids[2]}")
    assert checked("fetchPlanningResult", answer)["error"]["type"] == "NoSuchPlanIdException"


def test_a_failed_plan_has_no_id_and_is_not_kept(tmp_path: Path) -> None:
    mock, http, table = served(tmp_path, PlanningSettings(ends="failed"))
    table.commit(Manifest([file("a")]))
    assert set(plan(http, "t")) == {"status", "error"}
    assert len(mock.plans) == 0


def test_the_oldest_plans_are_forgotten_when_there_are_too_many(tmp_path: Path) -> None:
    settings = PlanningSettings(mode=PlanningMode.ASYNC, plans_max=2)
    _, http, table = served(tmp_path, settings)
    ids = [plan(http, "t")["plan-id"] for _ in range(3)]
    statuses = [http.get(f"{table.path}/plan/{each}").status_code for each in ids]
    assert statuses == [404, 200, 200]


def test_the_tasks_that_are_kept_are_bounded(tmp_path: Path) -> None:
    mock, http, table = served(tmp_path, PlanningSettings(files_per_task=1, file_scan_tasks_max=5))
    table.commit(Manifest([file("a"), file("b"), file("c")]))
    first, second = (plan(http, "t") for _ in range(2))
    kept = [
        http.post(f"{table.path}/tasks", json={"plan-task": each["plan-tasks"][0]}).status_code
        for each in (first, second)
    ]
    assert kept == [404, 200]
    assert len(mock.plans) == 1


def test_missing_files_make_a_plan_fail(tmp_path: Path) -> None:
    for mode in PlanningMode:
        root = tmp_path / mode
        _, http, table = served(root, PlanningSettings(mode=mode, polls_until_ended=0))
        table.commit(Manifest([file("a")]))
        for each in (root / "t").glob("manifest-*.avro"):
            each.unlink()
        answer = plan(http, "t")
        if mode is PlanningMode.ASYNC:
            where = f"{table.path}/plan/{answer['plan-id']}"
            answer = checked("fetchPlanningResult", http.get(where))
            assert http.delete(where).status_code == 204
            assert http.get(where).json() == answer
        assert set(answer) == {"status", "error"}
        assert answer["status"] == "failed"
        assert answer["error"]["type"] == "NotFoundException"
        assert "manifest-1001-0.avro" in answer["error"]["message"]


@pytest.mark.parametrize("ends", ["failed", "cancelled"])
def test_a_server_can_be_told_how_plans_end(tmp_path: Path, ends: Any) -> None:
    settings = PlanningSettings(mode=PlanningMode.ASYNC, polls_until_ended=1, ends=ends)
    _, http, table = served(tmp_path, settings)
    where = f"{table.path}/plan/{plan(http, 't')['plan-id']}"
    polls = [checked("fetchPlanningResult", http.get(where)) for _ in range(2)]
    assert [each["status"] for each in polls] == ["submitted", ends]


def test_settings_without_sense_are_refused() -> None:
    for wrong in (
        {"files_per_task": 0},
        {"plans_max": 0},
        {"polls_until_ended": -1},
        {"ends": "cancelled"},
    ):
        with pytest.raises(ValueError):
            PlanningSettings(**wrong)


def test_the_same_requests_get_the_same_answers_from_a_seeded_server(tmp_path: Path) -> None:
    def answers() -> list[bytes]:
        _, http, table = served(tmp_path, ASYNC)
        table.commit(Manifest([file("a"), file("b")]))
        first = http.post(f"{table.path}/plan", json={})
        plan_id = first.json()["plan-id"]
        polls = [http.get(f"{table.path}/plan/{plan_id}").content for _ in range(3)]
        return [first.content, *polls]

    assert answers() == answers()
