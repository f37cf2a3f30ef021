"""What a catalog needs is found out once and reported, and the run goes on with it."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from icecheck.findings.verdict import Group, Run
from icecheck.findings.verdict import Outcome as Ending
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body, wrap
from icecheck.mock_server.protocol import problem
from icecheck.reports import run_json, summary
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.adaptations import Adaptations, location_below
from icecheck.targets.target import Target, UsageError
from tests.kit.contracts import CONTRACT
from tests.kit.shares import some

PARENT = ("given",)
Refused = Callable[[Call], bool]


def refuse(registries: Registries, operation_id: str, refused: Refused, status: int = 400) -> None:
    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if refused(call):
            raise problem.Problem(status, "BadRequestException", "not in this way")
        return faithful(state, call)

    wrap(registries, operation_id, around)


def always_a_location(registries: Registries) -> None:
    def placed(body: dict[str, Any]) -> dict[str, Any]:
        levels, properties = body.get("namespace"), body.get("properties", {})
        if not isinstance(levels, list) or not isinstance(properties, dict):
            return body
        location = "/".join(("memory://root/own", *map(str, levels)))
        return body | {"properties": {"location": location, **properties}}

    alter_request_body(registries, "createNamespace", placed)
    refuse(registries, "createTable", lambda call: not sent_json(call).get("location"))


def no_null_location(registries: Registries) -> None:
    refuse(registries, "createTable", lambda call: sent_json(call).get("location", "") is None)


def never_a_location(registries: Registries) -> None:
    refuse(registries, "createTable", lambda call: bool(sent_json(call).get("location")))


def no_new_namespaces(registries: Registries) -> None:
    refuse(registries, "createNamespace", lambda call: bool(sent_json(call).get("namespace")))


def tables_in_parent_only(registries: Registries) -> None:
    for operation_id in ("createTable", "createView", "registerTable"):
        refuse(registries, operation_id, lambda call: call.namespace != PARENT)
    for operation_id in ("renameTable", "renameView"):
        refuse(registries, operation_id, leaves_the_parent)


def no_nulls(registries: Registries) -> None:
    defects()["table-refuses-nulls"].install(registries)


def leaves_the_parent(call: Call) -> bool:
    destination = sent_json(call).get("destination")
    return isinstance(destination, dict) and destination.get("namespace") != [*PARENT]


def run_on(
    install: Callable[[Registries], None], globs: tuple[str, ...] = (), **target: Any
) -> Run:
    mock = MockCatalog(seed=1, warehouses=["wh"], root="memory://root")
    transport = mock.httpx_transport()
    with httpx.Client(transport=transport, base_url="http://m/v1/wh") as http:
        http.post("/namespaces", json={"namespace": [*PARENT]}).raise_for_status()
    before = mock.state("wh")
    install(mock.registries)
    try:
        options = RunOptions(
            Target("http://m", warehouse="wh", **target), "r1", groups=(Group.CHECKS,), globs=globs
        )
        run = run_checks(options, transport=transport)
        assert mock.state("wh") == before
        return run
    finally:
        mock.stop()


def gone_wrong(run: Run) -> set[str]:
    return {v.check for v in run.verdicts if v.outcome not in {Ending.PASS, Ending.SKIP}}


@pytest.mark.parametrize(
    ("install", "target", "words", "findings"),
    some(
        [
            (
                always_a_location,
                {},
                "below memory://root/own",
                {"createTable.minimal-body-accepted"},
            ),
            (
                always_a_location,
                {"location_root": "memory://root/mine"},
                None,
                {"createTable.minimal-body-accepted"},
            ),
            (no_null_location, {}, "left out", {"createTable.nulls-accepted"}),
            (no_nulls, {}, "null members", {"createTable.nulls-accepted"}),
            (never_a_location, {"location_root": "memory://root/mine"}, "sent without", set()),
            (lambda _: None, {"location_root": "memory://root/mine"}, None, set()),
            (tables_in_parent_only, {"namespace": PARENT}, "in given itself", set()),
        ],
        6,
    ),
)
def test_the_run_goes_on_with_what_the_catalog_needs(
    install: Callable[[Registries], None],
    target: dict[str, Any],
    words: str | None,
    findings: set[str],
) -> None:
    run = run_on(install, **target)
    assert gone_wrong(run) == findings
    assert len(run.causes) == len(findings)
    records = run.facts["target"]["accommodations"]
    if words is None:
        assert records == []
    else:
        [record] = records
        assert words in record
        assert record in run_json.render(run)
        assert "accommodated" in summary.render(run)
    passed = sum(v.outcome is Ending.PASS for v in run.verdicts)
    assert passed > 120


def test_without_new_namespaces_everything_is_made_in_the_one_that_was_given() -> None:
    run = run_on(no_new_namespaces, namespace=PARENT)
    [cause] = run.causes
    assert cause.actual in {"400", "4xx"}
    assert all(check.startswith(("createNamespace.", "error.")) for check in cause.members)
    [record] = run.facts["target"]["accommodations"]
    assert "creates no namespaces" in record
    passed = {v.check for v in run.verdicts if v.outcome is Ending.PASS}
    assert {"createTable.succeeds", "loadTable.succeeds", "loadView.succeeds"} <= passed


def test_an_ordinary_catalog_needs_nothing() -> None:
    run = run_on(lambda _: None, ("createTable.succeeds",))
    assert run.facts["target"]["accommodations"] == []


def test_a_hiccup_is_no_need() -> None:
    turns = iter([True])

    def hiccup(registries: Registries) -> None:
        refuse(registries, "createTable", lambda _: next(turns, False), 500)

    run = run_on(hiccup, ("createTable.succeeds",))
    assert run.facts["target"]["accommodations"] == []
    assert gone_wrong(run) == set()


def test_who_accepts_residue_is_accommodated_too() -> None:
    run = run_on(no_null_location, ("createTable.succeeds",), accept_residue=True)
    assert len(run.facts["target"]["accommodations"]) == 1
    assert gone_wrong(run) == set()


def test_everything_is_placed_below_the_location_root() -> None:
    seen = []

    def watch(registries: Registries) -> None:
        for operation_id in ("createTable", "createView"):
            refuse(registries, operation_id, lambda call: seen.append(sent_json(call)) or False)

    run_on(watch, ("loadTable.succeeds", "loadView.succeeds"), location_root="memory://root/mine/")
    places = [each["location"] for each in seen]
    assert len(places) >= 3
    assert all(re.fullmatch(r"memory://root/mine/icecheck_r1[\w/]+", place) for place in places)
    assert len(set(places)) == len(places)


def test_a_location_is_spelled_without_what_clients_decode_differently() -> None:
    spelled = location_below("s3://b/", ("a", "x y/z"))
    assert re.fullmatch(r"s3://b/a/x_y_z_[0-9a-f]{8}", spelled)
    assert location_below("s3://b", ("a", "x_y_z")) != spelled


def test_a_location_that_a_check_chose_stays() -> None:
    create = CONTRACT.operations["createTable"]
    known = Adaptations(location_root="s3://b")
    body = {"name": "t", "location": "s3://mine"}
    assert known.fitted(create, {"namespace": ("n",)}, body, 1) is body
    assert known.fitted(create, {"namespace": ("n",)}, b"{}", 1) == b"{}"
    fitted = known.fitted(create, {"namespace": ("n",)}, {"name": "t", "location": None}, 7)
    assert fitted == {"name": "t", "location": "s3://b/n/t_7"}


@pytest.mark.parametrize("root", ["", "bucket", "s3:bucket", "s3://b/\n", "/"])
def test_a_location_root_that_is_no_uri_is_refused(root: str) -> None:
    with pytest.raises(UsageError, match="location root"):
        Target("http://m", location_root=root)
