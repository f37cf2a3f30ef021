"""Checks arrange as named clients do: a rarer lawful form is sent by a check of its own alone.

A catalog that takes the usual form only may be wrong; what it gets wrong is one finding then.
"""

import json
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Group
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.objects.metadata_view import current_schema, field_ids
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.lawful.capabilities.rarer_forms import rarer_assertions, rarer_forms
from tests.lawful.capabilities.serving import serving
from tests.lawful.capabilities.watching import watched

Json = dict[str, Any]
CHECKS = {check.id: check for check in collect((Group.CHECKS, Group.GENERATED), CONTRACT)}

OWN_CHECKS = {
    "add-schema without last-column-id": {
        "update.add-schema.last-column-id",
        "replaceView.null-is-absent",
    },
    "add-schema under the id of another": {"replaceView.null-is-absent"},
    "set-statistics without snapshot-id": {"update.set-statistics.without-outer-id"},
    "add-spec without an id": {"update.add-spec.spec-id-optional", "updateTable.null-is-absent"},
    "assert-ref-snapshot-id of a ref beside main without snapshots": {
        "assertion.assert-ref-snapshot-id.tag-null-satisfied"
    },
}
"""Each rarer form, and the checks that are about it."""
GENERATED = ("generated.", "dialect.")
"""Checks whose requests are drawn from the document, or were recorded from a client."""


@pytest.mark.complete("all checks, looked at for one habit")
def test_no_check_sends_a_rarer_form_but_those_about_it() -> None:
    found = {
        form: {each for each in checks if not each.startswith(GENERATED)}
        for form, checks in watched().forms.items()
    }
    assert {form: checks for form, checks in found.items() if checks} == OWN_CHECKS


@pytest.mark.parametrize(
    ("form", "updates"),
    [
        (
            "add-schema without last-column-id",
            [{"action": "add-schema", "schema": {"schema-id": 1}}],
        ),
        ("add-spec without an id", [{"action": "add-spec", "spec": {}}]),
        (
            "add-schema under the id of another",
            [{"action": "add-schema", "last-column-id": 1, "schema": {"schema-id": 7}}],
        ),
        (
            "add-sort-order twice under one id",
            [{"action": "add-sort-order", "sort-order": {"order-id": 1}}] * 2,
        ),
        (
            "remove-properties of what is absent",
            [{"action": "remove-properties", "removals": ["a", "b"]}],
        ),
        (
            "remove-snapshots of what is absent",
            [{"action": "remove-snapshots", "snapshot-ids": [2]}],
        ),
        (
            "remove-snapshot-ref of what is absent",
            [{"action": "remove-snapshot-ref", "ref-name": "x"}],
        ),
    ],
)
def test_a_rarer_form_is_noticed(form: str, updates: list[dict[str, object]]) -> None:
    schema = {"schema-id": 7, "fields": [{"id": 1}]}
    metadata = {"properties": {"a": "1"}, "schemas": [schema], "snapshots": [{"snapshot-id": 1}]}
    assert [*rarer_forms(updates, metadata)] == [form]


@pytest.mark.parametrize(
    ("ref", "snapshots", "rare"), [("a", [], 1), ("main", [], 0), ("a", [1], 0)]
)
def test_a_rarer_assertion_is_noticed(ref: str, snapshots: list[int], rare: int) -> None:
    asserted = {"type": "assert-ref-snapshot-id", "ref": ref, "snapshot-id": None}
    before = {"snapshots": [{"snapshot-id": each} for each in snapshots]}
    assert len([*rarer_assertions([asserted], before)]) == rare


@pytest.mark.parametrize("check_id", ["states.two-lives", "states.life-at-once"])
def test_no_column_gets_an_id_that_another_has(check_id: str) -> None:
    """The last-column-id counts top-level columns; what is sent counts on from the highest id."""

    def lagging(body: Json) -> Json:
        columns = current_schema(body["metadata"]).get("fields", ())
        return body | {"metadata": body["metadata"] | {"last-column-id": len(columns)}}

    def install(registries: Registries) -> None:
        for operation in ("createTable", "loadTable", "updateTable"):
            alter_body(registries, operation, lagging)

    with serving(install) as (_, session):
        judge(CHECKS[check_id], Catalog(session, check_id))
        sent = [json.loads(e.request_body or b"{}") for e in session.exchanges]
    schemas = [u["schema"] for body in sent for u in body.get("updates", ()) if "schema" in u]
    repeated = [[*field_ids(each)] for each in schemas]
    assert schemas
    assert [ids for ids in repeated if len(ids) > len({*ids})] == []
