"""What the document leaves to the catalog in its answers, and the limits it may have."""

import itertools
import json
from typing import Any

import pytest
from msgspec.structs import replace

from icecheck.findings.verdict import Group, Level, Outcome
from icecheck.judging.check import Check
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.context import Outcome as Answer
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    with_answer,
    wrap,
    wrap_each,
)
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.wire import Reply
from icecheck.run.collect import collect
from tests.kill.refusing import refuse_if
from tests.kit.contracts import CONTRACT
from tests.lawful.capabilities.serving import WRONG, said_of
from tests.lawful.lawful import Install

Body = dict[str, Any]
EVERY = {check.id: check for check in collect((Group.CHECKS, Group.GENERATED), CONTRACT)}


def judged(*check_ids: str) -> list[Check]:
    return [EVERY[check_id] for check_id in check_ids]


def _tags_of_answers(registries: Registries) -> None:
    """Give each answer a tag of its own, and compare only the version in it (L948-L951)."""
    turns = itertools.count(1)

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        headers = dict(call.request.headers)
        offered = headers.pop("if-none-match", "")
        request = replace(call.request, headers=headers)
        outcome = faithful(state, replace(call, request=request))
        if outcome.reply.status != 200:
            return outcome
        version = f'"{json.loads(outcome.reply.body)["metadata-location"]}?'
        tag = ("etag", f'{version}{next(turns)}"')
        kept = [header for header in outcome.reply.headers if header[0] != "etag"]
        reply = replace(outcome.reply, headers=(*kept, tag))
        return replace(outcome, reply=Reply(304, (tag,)) if version in offered else reply)

    wrap_each(registries, ("createTable", "loadTable"), around)


def _more_about_loads(body: Body) -> Body:
    """Tell with a load what does not concern who writes to a new table (L3288-L3289)."""
    more = {"scan-planning-mode": "server", "cache.expiration-interval-ms": "30000"}
    return body | {"config": (body.get("config") or {}) | more}


def _settings_with_credentials(body: Body) -> Body:
    """Tell where the storage is with the credentials, which clients look at first (L3310)."""
    given = body.get("storage-credentials") or ()
    place = {"s3.endpoint": "https://o.example"}
    told = [each | {"config": each["config"] | place} for each in given]
    return body | ({"storage-credentials": told} if told else {})


def _place_of_loads(body: Body) -> Body:
    return body | {"config": (body.get("config") or {}) | {"s3.endpoint": "https://o.example"}}


def _place_otherwise(registries: Registries) -> None:
    alter_body(registries, "createTable", _settings_with_credentials)
    alter_body(registries, "loadTable", _place_of_loads)


@pytest.mark.parametrize(
    ("check_id", "install"),
    [
        ("etag.told-with-not-modified", _tags_of_answers),
        ("loadTable.access-however-asked", by(alter_body, "loadTable", _more_about_loads)),
        ("loadTable.access-however-asked", _place_otherwise),
    ],
)
def test_answers_may_differ_where_no_client_is_hurt(check_id: str, install: Install) -> None:
    said = said_of(judged(check_id), install)
    assert [(v.outcome, v.summary) for v in said.verdicts if v.check == check_id] == [
        (Outcome.PASS, "")
    ]


@pytest.mark.parametrize("staged", [True, False])
def test_a_new_table_may_leave_out_where_rows_start(staged: bool) -> None:
    """TableMetadata requires its format version and its uuid (L2511-L2513)."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        outcome = faithful(state, call)
        if (sent_json(call).get("stage-create") is True) is not staged:
            return outcome
        body = json.loads(outcome.reply.body)
        metadata = {k: v for k, v in body["metadata"].items() if k != "next-row-id"}
        return with_answer(outcome, body | {"metadata": metadata})

    check_id = "createTable.staged-as-created"
    said = said_of(judged(check_id), lambda each: wrap(each, "createTable", around))
    assert [v.summary for v in said.verdicts if v.level is Level.MUST and v.outcome in WRONG] == []


def test_a_staged_table_may_have_a_metadata_file() -> None:
    """Its location may be null (L3317-L3318), and should be told where it is committed (L3284)."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        outcome = faithful(state, call)
        if sent_json(call).get("stage-create") is not True:
            return outcome
        body = json.loads(outcome.reply.body)
        file = f"{body['metadata']['location']}/metadata/00000-staged.metadata.json"
        return with_answer(outcome, body | {"metadata-location": file})

    staging = [check for check in EVERY.values() if "stage-create" in check.needs]
    said = said_of(staging, lambda each: wrap(each, "createTable", around))
    assert said.wrong == []


@pytest.mark.parametrize("status", [400, 422])
def test_a_namespace_may_have_a_limit_of_tables(status: int) -> None:
    made: dict[tuple[str, ...], int] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        if made.get(call.namespace, 0) >= 50:
            raise Problem(status, "LimitExceeded", "A namespace has 50 tables at most")
        outcome = faithful(state, call)
        made[call.namespace] = made.get(call.namespace, 0) + 1
        return outcome

    many = ("listTables.small-page-of-many", "listTables.without-token-hundred")
    said = said_of(judged(*many), lambda each: wrap(each, "createTable", around))
    assert said.wrong == []


@pytest.mark.parametrize("operation_id", ["createView", "registerTable"])
def test_the_type_of_an_error_is_judged_where_the_user_may_ask(operation_id: str) -> None:
    def around(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Answer:
        raise Problem(403, "ForbiddenException", "Not for you")

    check_id = "error.type-of-missing-namespace"
    said = said_of(judged(check_id), lambda each: wrap(each, operation_id, around))
    assert said.wrong == []


def test_what_a_creation_need_not_have_blocks_no_other_check() -> None:
    """Whether a sort order may be refused is asked by the check of sort orders alone."""

    def by_buckets(call: Call) -> bool:
        order = sent_json(call).get("write-order")
        return "bucket" in json.dumps(order)

    checks = judged("createTable.answer-agrees-with-load", "createTable.keeps-write-order")
    said = said_of(checks, lambda each: refuse_if(each, "createTable", by_buckets, 400))
    assert [v.outcome for v in said.verdicts[: len(checks)]] == [Outcome.PASS, Outcome.FAIL]
