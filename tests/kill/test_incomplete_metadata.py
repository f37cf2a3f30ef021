"""Metadata that lacks what its schema does not require: findings, never errors of the suite."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.findings.causes import causes_of
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT

Metadata = dict[str, Any]
Alter = Callable[[Metadata], None]


def only_current(members: str, id_member: str, pointer: str) -> Alter:
    def alter(metadata: Metadata) -> None:
        shown = metadata.get(members, [])
        metadata[members] = [m for m in shown if m[id_member] == metadata[pointer]]

    return alter


def without(members: str, member: str) -> Alter:
    def alter(metadata: Metadata) -> None:
        for each in metadata.get(members, []):
            del each[member]

    return alter


def none_of(members: str) -> Alter:
    def alter(metadata: Metadata) -> None:
        if members in metadata:
            metadata[members] = []

    return alter


def without_field_ids(metadata: Metadata) -> None:
    for spec in metadata.get("partition-specs", []):
        for field in spec["fields"]:
            del field["field-id"]


LACKING: dict[str, tuple[Alter, str, tuple[str, ...]]] = {
    "earlier specs": (
        only_current("partition-specs", "spec-id", "default-spec-id"),
        "table",
        ("update.add-spec", "update.set-default-spec", "update.remove-partition-specs"),
    ),
    "earlier schemas": (
        only_current("schemas", "schema-id", "current-schema-id"),
        "table",
        ("update.add-schema", "update.set-current-schema", "update.remove-schemas"),
    ),
    "ids of schemas": (
        without("schemas", "schema-id"),
        "table",
        ("loadTable.complete", "update.set-current-schema", "update.remove-schemas",
         "states.created-at-once"),
    ),
    "ids of specs": (
        without("partition-specs", "spec-id"),
        "table",
        ("loadTable.complete", "update.set-default-spec", "planTableScan.every-spec"),
    ),
    "ids of partition fields": (
        without_field_ids, "table", ("update.add-spec", "planTableScan.every-file"),
    ),
    "schemas": (
        none_of("schemas"),
        "table",
        ("createTable.keeps-schema", "update.set-current-schema", "planTableScan.schemas",
         "update.add-schema"),
    ),
    "specs": (
        none_of("partition-specs"),
        "table",
        ("loadTable.complete", "update.add-spec", "update.set-default-spec",
         "planTableScan.every-file", "commit.completes-staged-table", "states.two-lives"),
    ),
    "versions": (
        none_of("versions"),
        "view",
        ("loadView.complete", "replaceView.all-or-nothing", "view-update.add-view-version"),
    ),
}  # fmt: skip
"""What is left out, of tables or views, and checks that read it or show that it is missing."""


class Leaving(httpx.BaseTransport):
    """Reaches a mock, and alters the metadata of one kind of object in each answer."""

    def __init__(self, mock: MockCatalog, alter: Alter, kind: str) -> None:
        self._inner = mock.httpx_transport()
        self._alter = alter
        self._kind = kind

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._inner.handle_request(request)
        answer.read()
        if b'"metadata"' not in answer.content:
            return answer
        body = json.loads(answer.content)
        if f"{self._kind}-uuid" in body.get("metadata", {}):
            self._alter(body["metadata"])
        return httpx.Response(answer.status_code, json=body)


def verdicts_of(
    checks: tuple[str, ...], transport: Callable[[MockCatalog], httpx.BaseTransport]
) -> list[Verdict]:
    every = collect((Group.CHECKS, Group.GENERATED), CONTRACT)
    mock = MockCatalog(seed=1)
    try:
        session = open_session(
            Target("http://mock.invalid"), run_id="r1", transport=transport(mock)
        )
        found = [judge(c, Catalog(session, c.id)) for c in every if c.id in checks]
        session.close()
    finally:
        mock.stop()
    return found


@pytest.mark.parametrize("what", LACKING)
def test_a_catalog_that_leaves_something_out_has_findings_of_its_own(what: str) -> None:
    alter, kind, checks = LACKING[what]
    verdicts = verdicts_of(checks, lambda mock: Leaving(mock, alter, kind))
    assert [v.summary for v in verdicts if v.outcome is Outcome.ERROR] == []
    assert Outcome.FAIL in {v.outcome for v in verdicts}
    # What blocks a check has failed, and is a finding.
    assert [c.id for c in causes_of(verdicts, CONTRACT) if not c.members] == []


def test_a_log_of_the_wrong_type_in_one_answer_blocks_its_comparison_with_a_load() -> None:
    def answers_oddly(mock: MockCatalog) -> httpx.BaseTransport:
        def alter(body: Any) -> Any:
            return body | {"metadata": body["metadata"] | {"metadata-log": 0.5}}

        alter_body(mock.registries, "createTable", alter)
        return mock.httpx_transport()

    (verdict,) = verdicts_of(("createTable.answer-agrees-with-load",), answers_oddly)
    assert (verdict.outcome, verdict.blocked_by) == (
        Outcome.BLOCKED,
        ("schema.createTable.200",),
    )
