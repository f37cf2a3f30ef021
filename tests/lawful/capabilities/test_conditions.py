"""The conditions of requirements: a refusal is believed where it may be, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from icecheck.findings.verdict import Group, Outcome
from icecheck.judging.check import Check
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.context import Outcome as Answer
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    alter_request_body,
    wrap,
)
from icecheck.mock_server.protocol.problem import Problem
from icecheck.run.collect import collect
from icecheck.run.releases.demands import demanded_by, demanded_verdicts
from tests.kill.refusing import refuse_if, updates_in
from tests.kit.contracts import CONTRACT
from tests.kit.shares import share, some
from tests.lawful.capabilities.designs import REFUSED, SPELLINGS, Spelling, stopped_on_the_way
from tests.lawful.capabilities.serving import Said, every_check, said_of
from tests.lawful.lawful import LAWFUL, Install, send_whole
from tests.lawful.lawful_earlier import follow
from tests.lawful.lawful_tables import alter_metadata

NAMES = tuple(check for check in every_check() if check.id.startswith("names."))


def checks_of(*prefixes: str) -> tuple[Check, ...]:
    return tuple(check for check in every_check() if check.id.startswith(prefixes))


def symptoms(said: Said) -> list[str]:
    return [cause.id for cause in said.causes]


def test_names_that_end_in_a_server_error_are_one_finding_about_that() -> None:
    def install(registries: Registries) -> None:
        for capability, (refused, _) in REFUSED.items():
            if capability.startswith("names-with"):
                refused(Spelling(500, "Oops"))(registries)

    said = said_of(NAMES, install)
    assert symptoms(said) == ["status-500-for-4xx"]
    assert said.residue == ()


@pytest.mark.parametrize("status", some([400, 404, 501], 3))
def test_a_web_server_that_stops_encoded_slashes_is_no_finding(status: int) -> None:
    said = said_of(NAMES, stopped_on_the_way(status, "%2f"))
    assert said.wrong == []
    assert said.lacking == {"names-with-slash"}
    assert said.residue == ()


def test_a_web_server_that_stops_what_it_suspects_is_no_finding() -> None:
    """Jetty refuses backslashes and control characters in a path by itself."""
    said = said_of(
        checks_of("names.", "error.", "roundtrip.namespace-n", "alike."),
        stopped_on_the_way(400, "%5c", "%00", "%09", "%0a", "%7f"),
    )
    assert said.wrong == []
    assert said.residue == ()


def _forbidden_first(registries: Registries) -> None:
    """Look at what a user may do before looking at the request: 403 where another would say 400."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        try:
            return faithful(state, call)
        except Problem as problem:
            if problem.status != 400:
                raise
            raise Problem(403, "ForbiddenException", "Not for you") from None

    for operation_id in registries.operations:
        if operation_id not in {"getConfig", "getToken"}:
            wrap(registries, operation_id, around)


@pytest.mark.parametrize("step", some([1, -1], 2), ids=["in order", "backwards"])
def test_403_where_only_400_is_recommended_is_a_right_that_the_user_lacks(step: int) -> None:
    """Where 400 is a MUST, as to what is malformed, a user who may do the rest has the right.

    That may show only after the check, so it is decided at the end.
    """
    checks = checks_of("createTable.", "commit.malformed", "update.set-properties")
    said = said_of(checks[::step], _forbidden_first)
    (cause,) = said.causes
    assert (cause.id, cause.level) == ("status-403-for-400", "must")
    assert "commit.malformed-refused" in cause.members
    assert cause.lesser == ()
    skipped = {v.check for v in said.verdicts if v.outcome is Outcome.SKIP}
    assert "createTable.impossible-format-version" in skipped


@pytest.mark.parametrize(
    ("entry", "level"),
    [
        ("POST /v1/{prefix}/transactions/commit", None),
        ("POST /v1/{prefix}/transaction/commit", "interop"),  # may be a route of its own
        ("POST /{prefix}/Transactions/commit", "interop"),
        ("POST /v1/{prefix}/Transactions/commit", "must"),
        ("POST /v1/kill/transactions/commit", "must"),
        ("POST https://catalog.example.com/v1/{prefix}/transactions/commit", "must"),
    ],
)
def test_a_route_that_is_only_nearly_one_of_the_document_may_be_another(
    entry: str, level: str | None
) -> None:
    def other(body: dict[str, list[str]]) -> dict[str, list[str]]:
        documented = "POST /v1/{prefix}/transactions/commit"
        return body | {"endpoints": [entry if e == documented else e for e in body["endpoints"]]}

    checks = checks_of("getConfig.endpoint-")
    said = said_of(checks, lambda registries: alter_body(registries, "getConfig", other))
    assert [cause.level for cause in said.causes] == ([level] if level else [])


@pytest.mark.parametrize(
    "operation_id",
    some(
        [
            "registerTable",
            "renameTable",
            "renameView",
            "updateProperties",
            "updateTable",
            "dropView",
        ],
        3,
    ),
)
def test_an_operation_that_the_user_may_not_use_is_no_finding(operation_id: str) -> None:
    """403 comes before every other answer, also where a 404, a 409 or a 406 would be due."""

    def around(_faithful: Faithful, _state: WarehouseState, _call: Call) -> Answer:
        raise Problem(403, "ForbiddenException", "Not for you")

    said = said_of(
        checks_of(f"{operation_id}.", "commit.", "assertion.", "viewExists."),
        lambda registries: wrap(registries, operation_id, around),
    )
    assert said.wrong == []


def test_a_location_that_is_not_kept_is_nothing_that_a_catalog_must_do() -> None:
    def own(registries: Registries) -> None:
        alter_request_body(registries, "createTable", lambda body: body | {"location": None})

    said = said_of(checks_of("createTable."), own)
    assert [(c.level, c.members) for c in said.causes] == [
        ("interop", ("createTable.keeps-location",))
    ]


@pytest.mark.parametrize(
    "word", some([word for word in SPELLINGS if word not in {"403", "404"}], 3)
)
def test_staging_that_is_refused_is_one_finding(word: str) -> None:
    install: Install = REFUSED["stage-create"][0](SPELLINGS[word])
    staging = (c for c in every_check() if "stage-create" in c.needs)
    said = said_of((*checks_of("createTable.staged-answer"), *staging), install)
    (cause,) = said.causes
    assert cause.level == "must"
    assert "createTable.staged-answer" in cause.members
    assert len(cause.blocked) > 3
    assert said.lacking == {"stage-create"}


def test_a_purge_that_is_refused_is_a_finding() -> None:
    said = said_of(checks_of("dropTable."), REFUSED["purge"][0](SPELLINGS["406"]))
    assert [(c.level, c.members) for c in said.causes] == [("should", ("dropTable.with-purge",))]
    assert said.lacking == {"purge"}


def _unreadable_snapshot_left_out(body: Json) -> Json:
    """A decoder that leaves out what has another scalar type."""
    kept = not isinstance(body, dict) or isinstance(body.get("snapshot-id", 1), int)
    return body if kept else {k: v for k, v in body.items() if k != "snapshot-id"}


def _wrong_client_400(registries: Registries) -> None:
    """A server that answers invalid_client as OAuth2 does where no header was sent (RFC 6749)."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Answer:
        outcome = faithful(state, call)
        status = 400 if outcome.reply.status == 401 else outcome.reply.status
        return Answer(outcome.state, replace(outcome.reply, status=status))

    wrap(registries, "getToken", around)


@pytest.mark.parametrize(
    ("check", "install"),
    [
        ("getToken.wrong-secret", _wrong_client_400),
        (
            "planTableScan.malformed-refused",
            by(alter_request_body, "planTableScan", _unreadable_snapshot_left_out),
        ),
    ],
)
def test_what_the_document_leaves_open_is_no_finding(check: str, install: Install) -> None:
    assert said_of(checks_of(check), install).wrong == []


@pytest.mark.parametrize(
    ("defect", "check"),
    [
        ("list-namespaces-with-tables-only", "listNamespaces.top-level"),
        ("namespace-drop-with-views-400", "dropNamespace.holds-a-view"),
        ("commit-enumerations-guessed", "commit.enumerations"),
    ],
)
def test_what_the_document_only_recommends_is_a_should(defect: str, check: str) -> None:
    found = said_of(
        checks_of(check, "listNamespaces.", "dropNamespace."), defects()[defect].install
    )
    assert [(c.level, c.members[0]) for c in found.causes] == [("should", check)]


LISTS = ("listNamespaces", "listTables", "listViews")


@pytest.mark.parametrize("paged", some(LISTS, 3))
def test_a_catalog_may_page_one_kind_of_list_and_send_others_whole(paged: str) -> None:
    def install(registries: Registries) -> None:
        for operation_id in {*LISTS} - {paged}:
            send_whole(registries, operation_id)

    said = said_of(checks_of(*LISTS, "generated.list", "alike.pages"), install)
    assert said.wrong == []


def _referenced(metadata: dict[str, Any]) -> dict[str, Any]:
    """Show only the snapshots that a ref names."""
    named = {ref["snapshot-id"] for ref in metadata["refs"].values()}
    return metadata | {"snapshots": [s for s in metadata["snapshots"] if s["snapshot-id"] in named]}


def _of_the_current_snapshot(metadata: dict[str, Any]) -> dict[str, Any]:
    """Show the current snapshot, and only what is about that one."""
    current = metadata.get("current-snapshot-id")
    refs = {k: v for k, v in metadata["refs"].items() if v["snapshot-id"] == current}
    about = ("snapshots", "snapshot-log", "statistics", "partition-statistics")
    kept = {m: [e for e in metadata.get(m) or () if e["snapshot-id"] == current] for m in about}
    return metadata | kept | {"refs": refs}


BELOW = ("listNamespaces.no-children", "listNamespaces.list-present")


@pytest.mark.parametrize("status", some([400, 404, 406], 3))
def test_a_catalog_of_one_level_may_refuse_the_list_below_a_namespace(status: int) -> None:
    def install(registries: Registries) -> None:
        LAWFUL["one-level-namespaces"](registries)
        refuse_where(
            registries, "listNamespaces", lambda _, call: bool(call.query.get("parent")), status, ""
        )

    said = said_of(checks_of(*BELOW), install)
    assert said.wrong == []
    assert {v.outcome for v in said.verdicts if v.check in BELOW} == {Outcome.SKIP}


@pytest.mark.parametrize("levels", ["one-level-namespaces", None])
def test_a_parent_that_is_ignored_is_found_whatever_the_levels(levels: str | None) -> None:
    def install(registries: Registries) -> None:
        if levels:
            LAWFUL[levels](registries)
        defects()["list-namespaces-ignores-parent"].install(registries)

    said = said_of(checks_of(*BELOW), install)
    assert [v.check for v in said.verdicts if v.outcome is Outcome.FAIL] == [BELOW[0]]


@pytest.mark.parametrize("shown", some([_referenced, _of_the_current_snapshot], 2))
def test_snapshots_that_are_not_shown_are_a_lack_and_no_fault(
    shown: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    def install(registries: Registries) -> None:
        for operation_id in ("loadTable", "updateTable"):
            alter_metadata(registries, operation_id, shown)

    checks = checks_of("states.", "roundtrip.updateTable", "planTableScan.", "update.", "loadTable")
    said = said_of(checks, install)
    assert said.wrong == []
    assert said.lacking == {"snapshot-history"}


@pytest.mark.parametrize(("levels", "status"), some([(2, 400), (2, 422), (3, 501)], 3))
def test_a_limit_on_the_depth_of_namespaces_is_no_fault(levels: int, status: int) -> None:
    def deeper(call: Call) -> bool:
        namespace = sent_json(call).get("namespace")
        return isinstance(namespace, list) and len(namespace) > levels

    def install(registries: Registries) -> None:
        refuse_if(registries, "createNamespace", deeper, status)

    prefixes = ("createNamespace.", "dropNamespace.", "listNamespaces.", "names.", "scenario.")
    said = said_of(checks_of(*prefixes), install)
    assert said.wrong == []
    passed = {v.check for v in said.verdicts if v.outcome is Outcome.PASS}
    assert "createNamespace.nested" in passed


def test_properties_that_the_server_alone_sets_are_shown_without_fault() -> None:
    def install(registries: Registries) -> None:
        refuse_if(registries, "updateProperties", lambda _: True, 406)

    said = said_of(checks_of("loadNamespace", "updateProperties.", "createNamespace."), install)
    assert said.wrong == []
    assert said.lacking == {"namespace-properties"}


@pytest.mark.parametrize("status", some([400, 501], 2))
def test_overwriting_at_registration_may_be_refused(status: int) -> None:
    def install(registries: Registries) -> None:
        wanted = lambda call: sent_json(call).get("overwrite") is True  # noqa: E731
        refuse_if(registries, "registerTable", wanted, status)

    assert said_of(checks_of("registerTable.", "states.overwritten"), install).wrong == []


def test_a_catalog_of_version_3_may_lack_times_of_nanoseconds() -> None:
    def install(registries: Registries) -> None:
        refuse_if(registries, "createTable", lambda call: b"_ns" in call.request.body, 422)

    every = collect((Group.GENERATED,), CONTRACT)
    judged = [check for check in every if check.id == "planTableScan.nanoseconds"]
    said = said_of(judged, install)
    assert (said.wrong, said.verdicts[0].outcome) == ([], Outcome.SKIP)


@pytest.mark.parametrize("status", some([400, 422], 2))
def test_odd_values_of_properties_may_be_refused(status: int) -> None:
    def odd(call: Call) -> bool:
        sent = [sent_json(call).get("properties"), *(u.get("updates") for u in updates_in(call))]
        values = [value for each in sent if isinstance(each, dict) for value in each.values()]
        return any(isinstance(v, str) and (not v.isascii() or not v) for v in values)

    def install(registries: Registries) -> None:
        for operation_id in ("createTable", "updateTable", "createView", "replaceView"):
            refuse_if(registries, operation_id, odd, status)

    said = said_of(checks_of("createTable.", "createView.", "update.", "view-update."), install)
    assert said.wrong == []


RELEASES = ("1.6.0", "1.7.0", "1.8.0", "1.9.0")
OTHERS = pytest.mark.complete("every release: the usual command has 1.7.0, which lacks most")


@pytest.mark.parametrize(
    "release",
    [r if r == "1.7.0" else pytest.param(r, marks=OTHERS) for r in RELEASES],
)
def test_a_catalog_of_an_earlier_document_is_not_at_fault_when_held_to_that(release: str) -> None:
    plain = share(every_check(), 0, 3, always=lambda check: check.group is Group.SCENARIOS)
    checks, _ = demanded_by(release, plain)
    said = said_of(checks, lambda registries: follow(registries, release), spec=release)
    wrong = {Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR}
    judged = demanded_verdicts(said.verdicts, release, CONTRACT)
    assert [(v.check, v.summary) for v in judged if v.outcome in wrong] == []
    assert said.lacking == {"format-version-3"}
    assert sum(v.outcome is Outcome.PASS for v in judged) > 100
