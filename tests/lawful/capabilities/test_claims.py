"""Claims against behaviour: catalogs that lie about endpoints or capabilities, and their causes."""

from collections.abc import Sequence
from itertools import product

import pytest

from icecheck.findings.verdict import Outcome as Ended
from icecheck.judging.check import Check
from icecheck.judging.probes import CAPABILITIES
from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import (
    alter_body,
    answer_status,
    forget_effect,
    refuse_as,
)
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.kit.shares import in_shares, some
from tests.lawful.capabilities.serving import GROUPS, Said, every_check, said_of
from tests.lawful.capabilities.watching import watched
from tests.lawful.lawful import Install

OPERATIONS = CONTRACT.operations
# A request for a capability gets a 2xx without it: this never counts as a missing capability.
FALSE_ACCEPTANCES = {
    "nested-namespaces": "namespace-flattened",
    "deep-namespaces": "namespace-flattened",
    "namespace-properties": "properties-update-forgotten",
    "stage-create": "staged-table-created",
    "client-location": "table-location-ignored",
    "client-view-location": "view-location-ignored",
    "table-relocation": "update-forgotten-set-location",
    "view-relocation": "view-update-forgotten-set-location",
    "cross-namespace-rename": "rename-keeps-the-namespace",
    "cross-namespace-view-rename": "view-rename-across-creates-anew",
    "pagination": "pages-skip-tables",
    "etag": "etag-always-current",
    "snapshots-refs": "load-refs-means-main",
    "snapshot-history": "load-newest-snapshots-only",
    "metadata-only-snapshots": "update-forgotten-add-snapshot",
    "branches": "update-forgotten-set-snapshot-ref",
    "tags": "update-forgotten-set-snapshot-ref",
    "format-version-1": "format-version-always-2",
    "format-version-2": "format-version-always-newest",
    "format-version-3": "format-version-always-2",
    "purge": "drop-purge-queued",
    "view-dialects": "view-one-dialect",
    "mixed-case-names": "names-lower-case",
    "case-distinct-names": "names-one-for-two-cases",
    "names-with-space": "names-space-not-decoded",
    "names-with-plus": "names-plus-as-space",
    "names-with-percent": "names-decoded-twice",
    "names-with-unicode": "names-latin-1",
    "names-with-dot": "names-dot-splits",
    "names-with-slash": "names-slash-splits",
}


def about(*operation_ids: str) -> tuple[Check, ...]:
    """Return the checks whose first operation is one of these."""
    return tuple(c for c in every_check() if c.operations[:1] and c.operations[0] in operation_ids)


def assessment(said: Said, operation_id: str) -> str:
    return said.claim(f"endpoint:{OPERATIONS[operation_id].endpoint}").assessment


def unserved(status: int, *operation_ids: str) -> Install:
    """Keep operations in the list, and answer them as if they were not implemented."""

    def nobody(_context: Context, _state: WarehouseState, _call: Call) -> Outcome:
        raise Problem(status, "NotFoundException", "No such route")

    def install(registries: Registries) -> None:
        for operation_id in operation_ids:
            registries.operations[operation_id] = nobody

    return install


def unlisted(*operation_ids: str) -> Install:
    """Serve operations that are not in the list."""
    endpoints = {OPERATIONS[operation_id].endpoint for operation_id in operation_ids}

    def install(registries: Registries) -> None:
        alter_body(
            registries,
            "getConfig",
            lambda body: body | {"endpoints": [e for e in body["endpoints"] if e not in endpoints]},
        )

    return install


def switching_metrics(member: str, value: object, *, listed: bool) -> Install:
    """Serve no metrics, and say so in the config, with or without a list of endpoints."""
    off = {"rest-metrics-reporting-enabled": value}

    def alter(body: dict[str, object]) -> dict[str, object]:
        said = body[member]
        kept = {k: v for k, v in body.items() if listed or k != "endpoints"}
        return kept | {member: {**said, **off} if isinstance(said, dict) else off}

    def install(registries: Registries) -> None:
        unserved(404, "reportMetrics")(registries)
        alter_body(registries, "getConfig", alter)

    return install


METRICS = (*about("reportMetrics"), *(c for c in every_check() if "endpoints-served" in c.id))


@pytest.mark.parametrize(
    ("member", "value"), [("defaults", "false"), ("overrides", "FALSE"), ("overrides", "off")]
)
def test_a_default_endpoint_that_the_config_switches_off_is_not_claimed(
    member: str, value: str
) -> None:
    said = said_of(METRICS, switching_metrics(member, value, listed=False))
    assert said.wrong == []
    assert not said.claim(f"endpoint:{OPERATIONS['reportMetrics'].endpoint}").declared
    assert assessment(said, "reportMetrics") == "not-supported"


@pytest.mark.parametrize("value", ["true", "True", None])
def test_a_default_endpoint_that_the_config_leaves_on_is_claimed(value: str | None) -> None:
    said = said_of(METRICS, switching_metrics("overrides", value, listed=False))
    assert "not-served" in [cause.symptom for cause in said.causes]


def test_a_listed_endpoint_that_the_config_switches_off_is_claimed() -> None:
    said = said_of(METRICS, switching_metrics("overrides", "false", listed=True))
    assert [cause.symptom for cause in said.causes] == ["not-served"]


def test_what_is_claimed_and_works_is_supported() -> None:
    found = {row.id: row.assessment for row in watched().said.claims}
    assert set(found.values()) == {"supported"}
    assert len(found) == len(OPERATIONS) + len(CAPABILITIES)


def test_a_walk_that_fails_at_others_says_nothing_of_its_first_operation() -> None:
    walk = "request.json-on-every-route"
    wanted = [c for c in every_check() if c.id in {walk, "createNamespace.created"}]
    said = said_of(wanted, defects()["load-cached"].install)
    assert [line.partition(":")[0] for line in said.wrong] == [f"fail {walk}"]
    assert assessment(said, "createNamespace") == "supported"


def test_a_read_that_shows_a_change_wrongly_has_accepted_nothing_itself() -> None:
    wanted = {"loadTable.succeeds", "states.every-look"}
    checks = [c for c in collect(GROUPS, CONTRACT) if c.id in wanted]
    said = said_of(checks, defects()["register-new-uuid"].install)
    assert [line.partition(":")[0] for line in said.wrong] == ["fail states.every-look"]
    assert assessment(said, "loadTable") == "supported"


@pytest.mark.parametrize(
    ("status", "operation_id"),
    some(
        [
            (501, "renameTable"),
            (404, "listViews"),
            (405, "reportMetrics"),
            (501, "commitTransaction"),
        ],
        2,
    ),
)
def test_what_is_claimed_and_not_served_is_one_cause(status: int, operation_id: str) -> None:
    said = said_of(watched().checks_of_operation(operation_id), unserved(status, operation_id))
    assert assessment(said, operation_id) == "false-advertising"
    assert [cause.symptom for cause in said.causes] == ["not-served"]
    (cause,) = said.causes
    assert cause.actual == str(status)
    assert operation_id in cause.expected
    assert said.lacking == set()


@pytest.mark.parametrize(
    ("operation_id", "status"),
    some([*product(["dropTable", "dropNamespace", "updateProperties"], [404, 501])], 3),
)
def test_what_others_use_and_is_not_served_blocks_no_check_of_its_own(
    operation_id: str, status: int
) -> None:
    checks = [c for c in every_check() if c.id == "getConfig.endpoints-served"]
    lacks = unserved(status, operation_id)
    said = said_of([*about(operation_id), *checks], lacks, accept_residue=True)
    assert [cause.id for cause in said.causes] == [f"not-served-{status}"]
    assert said.causes[0].blocked == ()
    assert checks[0].id in said.causes[0].members


def test_a_whole_family_that_is_not_served_is_one_cause() -> None:
    views = [id_ for id_ in OPERATIONS if "View" in id_]
    said = said_of(about(*views), unserved(404, *views))
    assert [cause.id for cause in said.causes] == ["not-served-404"]
    assert {assessment(said, "loadView"), assessment(said, "createView")} == {"false-advertising"}


def test_what_creates_and_is_not_served_blocks_under_its_cause() -> None:
    said = said_of(about("createTable", "loadTable", "dropTable"), unserved(501, "createTable"))
    assert [cause.id for cause in said.causes] == ["not-served-501"]
    assert len(said.causes[0].blocked) > len(said.causes[0].members)
    # Operations that could not be observed are neither supported nor at fault.
    assert {assessment(said, "loadTable"), assessment(said, "dropTable")} == {"unknown"}


@pytest.mark.parametrize(
    "operation_id",
    some(["tableExists", "namespaceExists", "viewExists", "listViews", "loadCredentials"], 3),
)
def test_what_is_served_and_not_claimed_is_said_so(operation_id: str) -> None:
    said = said_of(about(operation_id), unlisted(operation_id))
    assert assessment(said, operation_id) == "served-but-undeclared"
    assert said.wrong == []
    assert said.residue == ()


def test_a_family_that_is_served_and_not_claimed_is_tried_and_removed() -> None:
    views = [id_ for id_ in OPERATIONS if "View" in id_]
    said = said_of(about(*views), unlisted(*views))
    assert {assessment(said, id_) for id_ in views} == {"served-but-undeclared"}
    assert said.wrong == []
    assert said.residue == ()


def test_nothing_is_made_to_try_what_may_not_be_removed() -> None:
    views = [id_ for id_ in OPERATIONS if "View" in id_]
    said = said_of(about(*views), hidden=("dropView", "createView"))
    assert {assessment(said, id_) for id_ in ("createView", "dropView")} == {"not-supported"}
    assert said.residue == ()


def test_what_is_neither_claimed_nor_served_is_not_supported() -> None:
    said = said_of(about("tableExists"), hidden=("tableExists",))
    assert assessment(said, "tableExists") == "not-supported"


@pytest.mark.parametrize(
    "operation_id",
    some(["renameTable", "dropTable", "createNamespace", "updateProperties", "dropView"], 3),
)
def test_what_is_accepted_and_not_done_is_false_acceptance(operation_id: str) -> None:
    def install(registries: Registries) -> None:
        forget_effect(registries, operation_id)

    said = said_of(about(operation_id), install, accept_residue=True)
    assert assessment(said, operation_id) == "false-acceptance"


@pytest.mark.parametrize("operation_id", some(["dropTable", "dropNamespace", "dropView"], 3))
def test_a_gone_object_with_another_status_is_no_false_acceptance(operation_id: str) -> None:
    """The object is gone: its wrong status is a finding on reading, not on dropping."""
    reading = ("loadTable", "loadView", "loadNamespaceMetadata", "tableExists", "viewExists")

    def install(registries: Registries) -> None:
        for id_ in (*reading, "namespaceExists"):
            refuse_as(registries, id_, 404, 409, "AlreadyExistsException")

    said = said_of(about(operation_id), install)
    assert [cause.actual for cause in said.causes] == ["409"]
    assert assessment(said, operation_id) in {"supported", "unknown"}


@pytest.mark.parametrize("operation_id", some(["dropTable", "tableExists", "renameView"], 3))
def test_a_success_with_the_status_of_another_is_served(operation_id: str) -> None:
    def install(registries: Registries) -> None:
        answer_status(registries, operation_id, 200)

    said = said_of(about(operation_id), install)
    assert any(v.outcome is Ended.FAIL for v in said.verdicts)
    assert assessment(said, operation_id) == "supported"


def test_what_could_not_be_tried_is_unknown() -> None:
    said = said_of(about("updateTable"), hidden=("createTable",))
    assert assessment(said, "updateTable") == "unknown"


def test_a_false_acceptance_is_known_for_every_capability() -> None:
    assert {*FALSE_ACCEPTANCES} == {*CAPABILITIES}


@pytest.mark.parametrize("capability", some(FALSE_ACCEPTANCES, 3))
def test_a_success_without_the_effect_is_a_finding_and_no_lack(capability: str) -> None:
    defect = defects()[FALSE_ACCEPTANCES[capability]]
    said = said_of(_aimed_at(defect.breaks), defect.install)
    assert said.wrong != []
    assert capability not in said.lacking


def _aimed_at(requirement_id: str) -> Sequence[Check]:
    return [check for check in every_check() if requirement_id in check.proves]


@in_shares
def test_a_catalog_that_says_the_same_to_everything_has_one_cause() -> None:
    def nothing(_context: Context, state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, Reply(200, (("content-type", "application/json"),), b"{}"))

    def install(registries: Registries) -> None:
        for operation_id in {*registries.operations} - {"getConfig", "getToken"}:
            registries.operations[operation_id] = nothing

    said = said_of(every_check(), install, accept_residue=True)
    assert [cause.symptom for cause in said.causes] == ["same-answer"]
    assert said.lacking == set()
