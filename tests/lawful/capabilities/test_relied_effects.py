"""What a catalog acknowledges and never keeps is one finding, and blocks what cannot do without."""

import contextlib
from typing import Any

import pytest
from msgspec.structs import replace

from icecheck.client.catalog import Catalog
from icecheck.judging.explaining.effects import EFFECTS
from icecheck.mock_server.core.context import Call, Outcome, Registries, RemoveFile, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_request_body,
    forget_effect,
    wrap,
)
from icecheck.mock_server.defects.kit.updating import alter_view_update, ignore_update
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.protocol.replies import problem_reply
from icecheck.replies.expect import Blocked, NotOffered, Violation
from tests.kit.shares import some
from tests.lawful.capabilities.serving import every_check, said_of
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.lawful import Install
from tests.lawful.serving import design_session

Json = dict[str, Any]
CHECKS = {check.id: check for check in every_check()}


def forgets(operation_id: str) -> Install:
    return lambda registries: forget_effect(registries, operation_id)


def creates_without(operation_id: str, *members: str) -> Install:
    def without(body: Json) -> Json:
        properties = body.get("properties") or {}
        kept = {key: value for key, value in properties.items() if key == "format-version"}
        lost: Json = {"properties": kept, "stage-create": False}
        return body | {member: lost[member] for member in members if member in body}

    return lambda registries: alter_request_body(registries, operation_id, without)


def crosses_not(operation_id: str) -> Install:
    """Acknowledge a rename into another namespace, and do nothing."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        done, sent = faithful(state, call), sent_json(call)
        here = sent["source"]["namespace"] == sent["destination"]["namespace"]
        return done if here else replace(done, state=state, effects=())

    return lambda registries: wrap(registries, operation_id, around)


def done_with_404(operation_id: str, kind: str) -> Install:
    """Carry a drop out, and answer that nothing was there."""
    gone = problem_reply(Problem(404, f"NoSuch{kind}Exception", "It is not there any more"))

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        return replace(faithful(state, call), reply=gone)

    return lambda registries: wrap(registries, operation_id, around)


def keeps_tags(registries: Registries) -> None:
    """Give all tables one entity tag for ever."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        headers = {k: v for k, v in call.request.headers.items() if k != "if-none-match"}
        plain = replace(call, request=replace(call.request, headers=headers))
        outcome, tag = faithful(state, plain), ("etag", '"x"')
        if len(headers) < len(call.request.headers):
            return replace(outcome, reply=Reply(304, (tag,), b""))
        kept = [each for each in outcome.reply.headers if each[0] != "etag"]
        return replace(outcome, reply=replace(outcome.reply, headers=(*kept, tag)))

    wrap(registries, "loadTable", around)


def ignores(action: str) -> Install:
    return lambda registries: ignore_update(registries, action, lambda _, d: not d.is_new_table)


def commits_first_alone(registries: Registries) -> None:
    """Apply the first update of each commit and forget the others."""

    def first(body: Json) -> Json:
        updates = body.get("updates")
        return {**body, "updates": updates[:1]} if isinstance(updates, list) else body

    alter_request_body(registries, "updateTable", first)


def view_ignores(action: str) -> Install:
    return lambda registries: alter_view_update(registries, action, lambda *_: None)


LOSSES: dict[str, tuple[Install, tuple[str, ...]]] = {
    "createNamespace.exists-afterwards": (
        forgets("createNamespace"), ("createNamespace.already-exists", "names.space"),
    ),
    "createTable.immediate": (
        forgets("createTable"), ("listTables.all", "commit.one-winner"),
    ),
    "registerTable.answer-is-the-table": (
        forgets("registerTable"), ("registerTable.overwrites", "registerTable.keeps-identity"),
    ),
    "createView.immediate": (
        forgets("createView"), ("listViews.all", "renameView.moves-view", "dropView.succeeds"),
    ),
    "createTable.stage-creates-nothing": (
        creates_without("createTable", "stage-create"),
        ("commit.completes-staged-table", "assertion.assert-create.satisfied"),
    ),
    "createTable.properties-kept": (
        creates_without("createTable", "properties"),
        ("update.set-properties", "registerTable.overwrites", "transaction.every-table-changes"),
    ),
    "createView.properties-kept": (
        creates_without("createView", "properties"), ("view-update.remove-properties",),
    ),
    "createNamespace.properties-stored": (
        creates_without("createNamespace", "properties"),
        ("updateProperties.remove", "updateProperties.reports-removed", "dropNamespace.recreate"),
    ),
    "update.set-properties.effect": (
        ignores("set-properties"), ("commit.new-metadata-location", "etag.differs-after-commit"),
    ),
    "update.remove-properties.effect": (ignores("remove-properties"), ("commit.updates-in-order",)),
    "update.add-schema.effect": (
        ignores("add-schema"), ("update.set-current-schema", "commit.several-updates"),
    ),
    "update.set-current-schema.effect": (
        ignores("set-current-schema"), ("update.set-current-schema.unknown-id",),
    ),
    "update.remove-schemas.effect": (
        ignores("remove-schemas"), ("update.remove-schemas.current",),
    ),
    "update.add-spec.effect": (
        ignores("add-spec"), ("update.set-default-spec", "update.add-spec.unknown-column"),
    ),
    "update.set-default-spec.effect": (
        ignores("set-default-spec"), ("update.set-default-spec.unknown-id",),
    ),
    "update.remove-partition-specs.effect": (
        ignores("remove-partition-specs"), ("update.remove-partition-specs.default",),
    ),
    "update.add-sort-order.effect": (
        ignores("add-sort-order"), ("update.set-default-sort-order",),
    ),
    "update.set-default-sort-order.effect": (
        ignores("set-default-sort-order"), ("update.set-default-sort-order.unknown-id",),
    ),
    "update.add-snapshot.effect": (
        ignores("add-snapshot"),
        ("commit.int64-members", "commit.one-winner", "commit.snapshot-log"),
    ),
    "update.set-snapshot-ref.effect": (
        ignores("set-snapshot-ref"), ("commit.one-winner", "loadTable.referenced-snapshots"),
    ),
    "update.set-statistics.effect": (ignores("set-statistics"), ("commit.int64-members",)),
    "view-update.set-properties.effect": (
        view_ignores("set-properties"), ("replaceView.new-location",),
    ),
    "view-update.add-view-version.effect": (
        view_ignores("add-view-version"), ("view-update.add-view-version.last-added-schema",),
    ),
    "view-update.set-current-view-version.effect": (
        view_ignores("set-current-view-version"),
        ("view-update.set-current-view-version.unknown-id",),
    ),
    "commit.several-updates": (
        commits_first_alone, ("commit.updates-in-order", "commit.unknown-update"),
    ),
    "transaction.every-table-changes": (
        forgets("commitTransaction"), ("transaction.several-namespaces",),
    ),
    "renameTable.moves": (
        forgets("renameTable"), ("renameTable.keeps-table", "dialect.spark.tables"),
    ),
    "renameTable.across-namespaces": (crosses_not("renameTable"), ("renameTable.unsupported",)),
    "renameView.moves": (forgets("renameView"), ("renameView.keeps-view",)),
    "renameView.across-namespaces": (crosses_not("renameView"), ("renameView.unsupported",)),
    "dropView.gone": (forgets("dropView"), ("dropView.missing", "dropView.frees-name")),
    "dropTable.204": (
        done_with_404("dropTable", "Table"), ("dropTable.spares-others", "registerTable.succeeds"),
    ),
    "dropView.204": (
        done_with_404("dropView", "View"), ("dropView.missing", "dropView.frees-name"),
    ),
    "dropNamespace.204": (
        done_with_404("dropNamespace", "Namespace"),
        ("dropNamespace.recreate",),
    ),
    "etag.changes-with-commit": (keeps_tags, ("etag.stale-gets-new-metadata",)),
}  # fmt: skip
"""Requirement of an effect -> a catalog that acknowledges and loses it, and checks that need it."""
PLAINEST = {"etag.changes-with-commit": "etag.differs-after-commit"}
UNTRIED = {"update.remove-snapshot-ref.effect", "view-update.remove-properties.effect"}
"""Effects on which no other check relies in a way that could fail."""


def test_every_effect_has_a_catalog_that_loses_it() -> None:
    tried = {effect.requirement for effect in EFFECTS if not effect.route}
    assert tried == LOSSES.keys() | UNTRIED  # test_judged_without has the routes that are unknown


@pytest.mark.parametrize("requirement", LOSSES)
def test_a_lost_effect_is_one_finding_and_blocks_or_is_left_out_of_what_needs_it(
    requirement: str,
) -> None:
    install, needing = LOSSES[requirement]
    proving = [check for check in every_check() if requirement in check.proves]
    plainest = PLAINEST.get(requirement, requirement.removesuffix(".effect"))
    own = [check for check in proving if check.id == plainest] or proving
    said = said_of([*own, *(CHECKS[each] for each in needing)], install)
    (cause,) = said.causes
    assert {*cause.members} <= {check.id for check in own}
    partly = {verdict.check for verdict in said.verdicts if requirement in verdict.without}
    assert {*needing} == {*cause.blocked, *partly} - {check.id for check in own}


def test_a_drop_answered_404_of_a_view_that_still_loads_is_one_finding() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        faithful(state, call)
        raise Problem(404, "NoSuchViewException", "No such view")

    needing = ("dropView.succeeds", "dropView.missing", "names.views", "dialect.spark.views")
    checks = [CHECKS[each] for each in ("dropView.removes-view", *needing)]
    said = said_of(checks, lambda registries: wrap(registries, "dropView", around))
    (cause,) = said.causes
    assert cause.members == ("dropView.removes-view",)
    assert {*cause.blocked} == {*needing}
    assert said.residue != ()


def test_a_drop_that_removes_the_metadata_file_is_a_finding_of_the_drop() -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        table, dropped = state.table(call.namespace, call.name), faithful(state, call)
        gone = () if table is None else (RemoveFile(table.metadata_location),)
        return replace(dropped, effects=(*dropped.effects, *gone))

    checks = [check for check in every_check() if check.operations[:1] == ("registerTable",)]
    checks.append(CHECKS["dropTable.without-purge"])
    said = said_of(checks, lambda registries: wrap(registries, "dropTable", around))
    (cause,) = said.causes
    assert (cause.members, cause.blocked) == (("dropTable.without-purge",), ())


@pytest.mark.parametrize(
    "sent",
    [
        {"source": "a.t", "destination": ["b", "t"]},
        {"updates": [{"action": {}}, 1], "table-changes": "x"},
        {"table-changes": [1, {"updates": {}}]},
        {"properties": ["x"], "stage-create": "yes"},
    ],
)
def test_bodies_of_another_shape_rely_on_nothing(sent: Json) -> None:
    relying = {effect.requirement for effect in EFFECTS if effect.relies(sent)}
    assert not any(name.startswith(("update.", "view-update.")) for name in relying)
    assert "renameTable.across-namespaces" not in relying


@pytest.mark.parametrize("design", some(DESIGNS, 3))
def test_no_lawful_catalog_is_said_to_lose_an_effect(design: str) -> None:
    lost = []
    with design_session(FREEDOMS[name] for name in DESIGNS[design].freedoms) as session:
        for effect in EFFECTS:
            with contextlib.suppress(Blocked, NotOffered, Violation):
                prober = Catalog(session, f"probe.{effect.requirement}")
                lost += [] if effect.is_kept(prober) else [effect.requirement]
    assert lost == []
