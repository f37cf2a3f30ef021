"""How clients are recorded: what is kept of a request, and what is measured of the answers."""

import json
import re
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest

from icecheck.scenarios.dialects.dialect import FOLDER, dialects
from tests.dialects.__main__ import CLIENTS, NOTHING, Player
from tests.dialects.comparing import differences
from tests.dialects.measuring import needs_of
from tests.dialects.normalising import recording, settled, text_of
from tests.dialects.recorder import Heard, operation_of
from tests.kit.contracts import CONTRACT

FILES = sorted(FOLDER.glob("*.json"))
UUID = "7f920186-18d6-4aef-93a7-b09432134569"
LOADED = {
    "metadata-location": "file:///w/recorded_orders/metadata/1.json",
    "metadata": {"table-uuid": UUID, "location": "file:///w/recorded_orders", "refs": {}},
}


def heard(method: str, path: str, body: Any = None, answer: Any = None, **more: Any) -> Heard:
    facts: dict[str, Any] = {"workflow": "tables", "step": "one", "query": (), "headers": {}}
    facts |= {"status": 200, **more}
    return Heard(method=method, path=path, body=body, answer=answer, **facts)


LOAD = heard("GET", "/v1/namespaces/recorded_space/tables/recorded_orders", answer=LOADED)
COMMIT = heard(
    "POST",
    "/v1/namespaces/recorded_space/tables/recorded_orders",
    {
        "identifier": {"namespace": ["recorded_space"], "name": "recorded_orders"},
        "requirements": [{"type": "assert-table-uuid", "uuid": UUID}],
        "updates": [
            {
                "snapshot-id": 77,
                "timestamp-ms": 5,
                "manifest-list": "file:/w/recorded_orders/metadata/snap-77.avro",
            }
        ],
    },
    LOADED,
)


def rows(*requests: Heard) -> list[dict[str, Any]]:
    written = recording({}, requests, {"tables": "does it"}, NOTHING)
    return [r for step in written["workflows"][0]["steps"] for r in step["requests"]]


def test_names_values_of_the_server_and_the_time_become_placeholders() -> None:
    _, commit = rows(LOAD, COMMIT)
    assert commit["names"] == {"namespace": "space", "table": "orders"}
    assert commit["body"] == {
        "identifier": {"namespace": ["{space}"], "name": "{orders}"},
        "requirements": [{"type": "assert-table-uuid", "uuid": "{orders:table-uuid}"}],
        "updates": [
            {
                "snapshot-id": 3_051_729_675_574_597_001,
                "timestamp-ms": "{now}",
                "manifest-list": "{orders:location}/metadata/snap-3051729675574597001.avro",
            }
        ],
    }


def test_what_a_client_draws_is_counted_and_stays_equal_to_itself() -> None:
    one, other = UUID, UUID.replace("7", "8")
    assert settled([one, f"x-{other}", one]) == [
        "00000000-0000-4000-8000-000000000001",
        "x-00000000-0000-4000-8000-000000000002",
        "00000000-0000-4000-8000-000000000001",
    ]


def test_what_is_asked_twice_in_a_row_is_written_once() -> None:
    assert len(rows(LOAD, LOAD)) == 1
    assert len(rows(COMMIT, COMMIT)) == 2
    assert len(rows(LOAD, COMMIT, LOAD)) == 3


def test_a_request_belongs_to_the_operation_of_its_path() -> None:
    assert operation_of(COMMIT)[0] == "updateTable"
    assert operation_of(heard("POST", "/v1/tables/rename"))[0] == "renameTable"
    with pytest.raises(KeyError, match="DELETE /v1/config"):
        operation_of(heard("DELETE", "/v1/config"))


def test_a_member_is_needed_if_the_client_stops_without_it() -> None:
    def played(alter: Any) -> bool:
        """A client that wants a location, and refs where there are some."""
        seen = alter(LOAD) or (200, LOADED)
        some = heard(
            "GET", LOAD.path, answer={"metadata": {**LOADED["metadata"], "refs": {"a": 1}}}
        )  # type: ignore[dict-item]
        then = alter(some) or (200, some.answer)
        both = [answer.get("metadata", {}) for _, answer in (seen, then)]
        return all("location" in m for m in both) and "refs" in both[1]

    with_refs = heard("GET", LOAD.path, answer={"metadata": {"location": "", "refs": {"a": 1}}})
    needs = needs_of([LOAD, with_refs], played)
    assert needs.members == {"loadTable": ["/metadata", "/metadata/location", "/metadata/refs"]}
    assert ("loadTable", "/metadata/refs") in needs.unless_empty
    assert needs.shrugs_off == ()


def test_a_client_may_stop_at_another_status_of_success() -> None:
    def played(alter: Any) -> bool:
        status, _ = alter(LOAD) or (200, LOADED)
        return bool(status != 201)

    assert needs_of([LOAD], played).stops_at == {"loadTable": [201]}


def test_an_operation_whose_refusal_changes_nothing_is_shrugged_off() -> None:
    needs = needs_of([LOAD], lambda _: True)
    assert (needs.members, needs.shrugs_off) == ({}, ("loadTable",))


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_a_stored_recording_is_as_the_recorder_writes_it(path: Any) -> None:
    text = path.read_text("utf-8")
    assert text_of(json.loads(text)) == text
    assert re.findall(r"/tmp|127\.0\.0\.1|recorded_|local-\d\d", text) == []  # noqa: S108
    dialect = dialects()[path.stem]
    operations = CONTRACT.operations
    for workflow in dialect.workflows:
        for step in workflow.steps:
            assert [r.operation for r in step.requests if r.operation not in operations] == []
    about = CLIENTS[path.stem]
    assert (dialect.client, dialect.version) == (about["client"], about["version"])
    assert {w.name: w.does for w in dialect.workflows} == about["workflows"]


@pytest.mark.parametrize("spec", ["1.10.0", "1.11.0"])
def test_the_installed_pyiceberg_sends_what_was_recorded(spec: str) -> None:
    """A new version is another dialect: then it is recorded again, and this compares with that."""
    went_through, requests = Player("pyiceberg", [], spec=spec).play()
    assert went_through
    about = CLIENTS["pyiceberg"]
    now = recording({}, requests, about["workflows"], NOTHING)
    stored = json.loads((FOLDER / "pyiceberg.json").read_text("utf-8"))
    if version("pyiceberg") == about["version"]:
        assert differences(stored, now) == []


def test_what_is_sent_otherwise_is_told_by_workflow_and_step() -> None:
    stored = recording({}, [LOAD, COMMIT], {"tables": ""}, NOTHING)
    keyed = replace(COMMIT, headers={"idempotency-key": UUID})
    now = recording({}, [LOAD, keyed], {"tables": ""}, NOTHING)
    gone, new = (json.loads(line[2:]) for line in differences(stored, now))
    assert (gone["step"], gone["operation"]) == ("one", "updateTable")
    assert new == {**gone, "keyed": True}
