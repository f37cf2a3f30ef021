"""Catalogs that offer little, or say it oddly: what follows from that is not another finding."""

import json

import msgspec

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.core.context import Outcome as Answer
from icecheck.mock_server.defects.kit.rewriting import alter_body, refuse_as, with_answer, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem
from icecheck.proof.defective import defective_session
from tests.kill.killing import MODULES, checks_of

_FAMILIES = ("test_updates_", "test_table", "test_name", "test_columns", "test_errors")
CHECKS = {check.id: check for check in checks_of(*(m for m in MODULES if m.startswith(_FAMILIES)))}


def judged(check_ids, *installs, accepts=False) -> tuple[dict[str, Verdict], list[Verdict]]:
    with defective_session(installs, from_the_start=True, accept_residue=accepts) as (_, session):
        verdicts = {id_: judge(CHECKS[id_], Catalog(session, id_)) for id_ in check_ids}
        observed = observe(session.exchanges, session.schemas)
        return verdicts, passive_verdicts(observed, session.contract)


def outcomes(check_ids, *installs, accepts=False) -> list[Outcome]:
    verdicts, _ = judged(check_ids, *installs, accepts=accepts)
    return [verdicts[id_].outcome for id_ in check_ids]


def breaks_on_version_3(registries) -> None:
    """Neither makes tables of version 3, which end as a 500, nor upgrades to it."""

    def creates(faithful, state, call):
        if b'"format-version":"3"' in call.request.body:
            raise Problem(500, "NotImplementedError", "No version 3")
        return faithful(state, call)

    def commits(faithful, state, call):
        if b'"format-version":3' in call.request.body:
            raise Problem(400, "BadRequestException", "No version 3")
        return faithful(state, call)

    wrap(registries, "createTable", creates)
    wrap(registries, "updateTable", commits)


def test_a_server_error_for_a_format_version_is_one_finding_and_blocks_what_needs_it():
    ids = ["createTable.format-version-3", "createTable.format-version-2",
           "createTable.keeps-defaults", "update.upgrade-format-version"]  # fmt: skip
    assert outcomes(ids, breaks_on_version_3) == [
        Outcome.FAIL, Outcome.PASS, Outcome.BLOCKED, Outcome.PASS,
    ]  # fmt: skip


def forbids_removing(registries) -> None:
    def around(faithful, state, call):
        if b'"remove-' in call.request.body:
            raise Problem(403, "ForbiddenException", "Everything is kept")
        return faithful(state, call)

    wrap(registries, "updateTable", around)


def test_what_nobody_may_do_is_not_asked_for_another_refusal():
    ids = ["update.remove-partition-specs.default", "update.remove-schemas.current"]
    assert outcomes(ids, forbids_removing) == [Outcome.SKIP] * 2


def takes_each_id_once(registries) -> None:
    def around(faithful, state, call):
        updates = json.loads(call.request.body)["updates"]
        added = [u.get("schema") or u.get("sort-order") or u.get("spec") or {} for u in updates]
        for member in ("schema-id", "order-id", "spec-id"):
            ids = [each[member] for each in added if member in each]
            if len({*ids}) < len(ids):
                raise Problem(422, "ValidationError", "Two additions with one id")
        return faithful(state, call)

    wrap(registries, "updateTable", around)


def test_several_additions_of_one_commit_have_ids_of_their_own():
    kinds = ("set-current-schema", "set-default-spec", "set-default-sort-order")
    ids = [*(f"update.{kind}.last-added" for kind in kinds), "update.remove-schemas"]
    assert outcomes(ids, takes_each_id_once) == [Outcome.PASS] * 4


def says_another_media_type(registries) -> None:
    def around(faithful, state, call):
        outcome = faithful(state, call)
        headers = (("content-type", "application/x-amz-json-1.0"),)
        reply = msgspec.structs.replace(outcome.reply, headers=headers)
        return msgspec.structs.replace(outcome, reply=reply)

    for operation_id in ("createTable", "loadTable", "updateTable"):
        wrap(registries, operation_id, around)


def loses_properties(registries) -> None:
    def around(faithful, state, call):
        outcome = faithful(state, call)
        body = json.loads(outcome.reply.body)
        body["metadata"].pop("properties", None)
        return with_answer(outcome, body)

    for operation_id in ("createTable", "loadTable", "updateTable"):
        wrap(registries, operation_id, around)


def test_json_under_another_name_is_read_and_its_shape_judged():
    ids = ["update.set-properties"]
    assert outcomes(ids, says_another_media_type) == [Outcome.PASS]
    kept = ["createTable.keeps-properties"]
    assert outcomes(kept, loses_properties, says_another_media_type) == [Outcome.FAIL]
    (told,) = [
        v for v in judged(ids, says_another_media_type)[1] if v.check == "schema.updateTable.200"
    ]
    assert [f.symptom.slug for f in told.findings] == ["schema:media-type"]
    checks = ["http.json-content-type"]
    (told,) = judged(checks, says_another_media_type)[0].values()
    assert [f.symptom.slug for f in told.findings] == ["schema:media-type"]


def has_no_location(registries) -> None:
    def without(body):
        return body | {"metadata": body["metadata"] | {"location": None}}

    for operation_id in ("createTable", "loadTable", "updateTable"):
        alter_body(registries, operation_id, without)


def test_what_is_ill_shaped_elsewhere_blocks_no_finding():
    ids = ["createTable.keeps-properties"]
    assert outcomes(ids, has_no_location, loses_properties) == [Outcome.FAIL]


def drops_nothing_and_lists_no_endpoints(registries) -> None:
    for operation_id in ("dropTable", "dropNamespace"):
        refuse_as(registries, operation_id, 404, 501)

        def refused(faithful, state, call):
            raise Problem(501, "UnsupportedOperationException", "Not supported")

        wrap(registries, operation_id, refused)
    alter_body(
        registries, "getConfig", lambda body: {k: v for k, v in body.items() if k != "endpoints"}
    )


def test_what_needs_a_drop_is_left_out_where_none_is_served():
    ids = ["dropTable.succeeds", "dropTable.twice", "second-life.table"]
    expected = [Outcome.FAIL, Outcome.SKIP, Outcome.SKIP]
    assert outcomes(ids, drops_nothing_and_lists_no_endpoints, accepts=True) == expected


def keeps_the_first_level(registries) -> None:
    """Namespaces have one level; of a deeper one the first is taken, and no drop is served."""

    def creates(faithful, state, call):
        sent = json.loads(call.request.body)
        first = msgspec.structs.replace(
            call.request, body=json.dumps(sent | {"namespace": sent["namespace"][:1]}).encode()
        )
        try:
            return faithful(state, msgspec.structs.replace(call, request=first))
        except Problem:
            return Answer(state, replies.json_reply(sent | {"namespace": sent["namespace"][:1]}))

    wrap(registries, "createNamespace", creates)
    drops_nothing_and_lists_no_endpoints(registries)


def test_a_level_that_is_never_kept_is_not_built_on():
    with defective_session([keeps_the_first_level], from_the_start=True, accept_residue=True) as (
        _,
        session,
    ):
        assert session.isolation.mode == "flat"
        assert "nested-namespaces" in session.unkept
