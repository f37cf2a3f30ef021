"""No generated request names what the run has not made: neither in path, query nor body."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from icecheck.client.catalog import NO_BODY
from icecheck.conformance.generated import test_generated as generated_checks
from icecheck.conformance.generated.confinement import Place, confine
from icecheck.conformance.generated.flaws import Flaw
from icecheck.conformance.generated.generation import cases_of
from icecheck.conformance.generated.test_generated import OPERATIONS
from icecheck.judging.check import declaration_of
from icecheck.replies.schema import schema_judge
from tests.kit.contracts import CONTRACT

TOKEN = "icecheck_t1"
KINDS = ("namespaces", "tables", "views")
ROUTES = {
    ("GET", "namespaces"): "listNamespaces",
    ("POST", "namespaces"): "createNamespace",
    ("POST", "namespaces/*/properties"): "updateProperties",
    ("POST", "namespaces/*/tables"): "createTable",
    ("POST", "namespaces/*/register"): "registerTable",
    ("POST", "namespaces/*/tables/*"): "updateTable",
    ("POST", "namespaces/*/tables/*/metrics"): "reportMetrics",
    ("POST", "namespaces/*/tables/*/plan"): "planTableScan",
    ("POST", "namespaces/*/tables/*/tasks"): "fetchScanTasks",
    ("POST", "tables/rename"): "renameTable",
    ("POST", "transactions/commit"): "commitTransaction",
    ("POST", "namespaces/*/views"): "createView",
    ("POST", "namespaces/*/views/*"): "replaceView",
    ("POST", "views/rename"): "renameView",
}


def place():
    count = iter(range(1, 10_000))
    return Place(
        base=(TOKEN,),
        namespace=(TOKEN, f"{TOKEN}_given"),
        parent=f"{TOKEN}\x1f{TOKEN}_given",
        new_name=lambda: f"{TOKEN}_new_{next(count)}",
        contract=CONTRACT,
        table=f"{TOKEN}_table",
        location=f"s3://bucket/{TOKEN}_table",
        metadata_location=f"s3://bucket/{TOKEN}_table/metadata/1.metadata.json",
        updated_ms=1000,
    )


def test_the_ends_of_a_rename_are_named_apart():
    usual = cases_of("renameTable", CONTRACT)[0]
    assert usual.body["source"] is usual.body["destination"]
    body = confine(usual, place()).body
    assert body["source"]["name"] == f"{TOKEN}_table"
    assert body["destination"]["name"] == f"{TOKEN}_new_1"


@pytest.mark.parametrize("value", [7, -1, 1.5, True, {"a": 1}])
@pytest.mark.parametrize(
    ("operation_id", "way"),
    [
        ("createNamespace", ()),
        ("renameTable", ("source",)),
        ("renameTable", ("destination",)),
        ("updateTable", ("identifier",)),
        ("commitTransaction", ("table-changes", 0, "identifier")),
    ],
)
def test_what_a_lenient_catalog_takes_for_a_namespace_of_others_is_not_sent(
    operation_id, way, value
):
    usual = cases_of(operation_id, CONTRACT)[0]
    body = json.loads(json.dumps(usual.body))
    holder = body
    for step in way:
        holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
    for instead, sent in ((value, False), (0, True)):
        holder["namespace"] = instead
        case = replace(usual, body=body, flaw=Flaw.UNUSABLE, flawed_part="body")
        assert (confine(case, place()) is not None) is sent


def names_in(operation_id, body):
    """Yield every value that stands where a body names an object or a place."""
    if not isinstance(body, dict):
        return
    match operation_id:
        case "createNamespace":
            yield from [body["namespace"]] if "namespace" in body else []
        case "createTable" | "createView":
            yield from [body[k] for k in ("name", "location") if k in body]
            yield from names_in_version(body.get("view-version"))
        case "registerTable":
            yield from [body[k] for k in ("name", "metadata-location") if k in body]
        case "renameTable" | "renameView":
            yield from [body[k] for k in ("source", "destination") if k in body]
        case "updateTable" | "replaceView":
            yield from names_in_commit(body)
        case "commitTransaction":
            changes = body.get("table-changes")
            for change in changes if isinstance(changes, list) else []:
                yield from names_in_commit(change) if isinstance(change, dict) else []
        case "reportMetrics":
            yield from [body["table-name"]] if "table-name" in body else []


def names_in_commit(body):
    yield from [body["identifier"]] if "identifier" in body else []
    updates = body.get("updates")
    for update in updates if isinstance(updates, list) else []:
        if isinstance(update, dict):
            yield from [update["location"]] if "location" in update else []
            yield from names_in_version(update.get("view-version"))


def names_in_version(version):
    if isinstance(version, dict) and "default-namespace" in version:
        yield version["default-namespace"]


def strays(value):
    """Return what could be read as the name of somebody else's object."""
    match value:
        case str():
            return [] if TOKEN in value else [value]
        case [str(first), *_] if TOKEN in first:
            return []
        case {"not-in-the-document": _, **rest}:
            return strays(rest)
        case {"namespace": namespace, **rest}:
            return strays(namespace) + [s for v in rest.values() for s in strays(v)]
        case dict():
            return [s for v in value.values() for s in strays(v)]
    return [value]


def check_body(operation_id, body):
    """A body that is not confined must be one that the contract refuses."""
    found = [stray for name in names_in(operation_id, body) for stray in strays(name)]
    if found or not isinstance(body, dict):
        assert not schema_judge(CONTRACT).request_is_valid(operation_id, body), (operation_id, body)
        assert not any(isinstance(stray, str) for stray in found), (operation_id, found)


@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_case_is_confined_or_refused_by_our_own_validator(operation_id):
    sent = 0
    for case in cases_of(operation_id, CONTRACT):
        request = confine(case, place())
        if request is None:
            continue
        sent += 1
        if request.body is not NO_BODY and not case.cut_off:
            check_body(operation_id, request.body)
        for name in request.names.values():
            assert strays(name if isinstance(name, str) else list(name)) == []
        for key, value in request.query:
            assert key not in {"parent", "warehouse"} or TOKEN in value
    assert sent


def test_nearly_every_case_survives_confinement():
    lost = [c for o in OPERATIONS for c in cases_of(o, CONTRACT) if confine(c, place()) is None]
    assert len(lost) < 20


def test_an_allowed_request_stays_allowed():
    for operation_id in OPERATIONS:
        for case in cases_of(operation_id, CONTRACT):
            request = confine(case, place())
            if request is not None and case.flaw is None and case.has_body:
                assert schema_judge(CONTRACT).request_is_valid(operation_id, request.body)


def test_a_cut_off_body_is_no_json():
    cut = [c for o in OPERATIONS for c in cases_of(o, CONTRACT) if c.cut_off]
    assert cut
    for case in cut:
        body = confine(case, place()).body
        with pytest.raises(ValueError, match=r"."):
            json.loads(body)


def test_confining_a_case_does_not_change_it():
    case = next(c for c in cases_of("createNamespace", CONTRACT) if c.flaw is None)
    before = json.dumps(case.body)
    confine(case, place())
    assert json.dumps(case.body) == before


CHECKS = [f for name, f in sorted(vars(generated_checks).items()) if declaration_of(f) is not None]


@pytest.mark.parametrize("isolation", ["nested", "flat"])
@pytest.mark.parametrize("function", CHECKS, ids=lambda f: declaration_of(f).id)
def test_each_check_passes_and_sends_nothing_that_lies_outside_the_run(
    function, isolation, run_check
):
    verdict, requests = run_check(function, isolation=isolation)
    assert verdict.outcome == "pass", verdict.summary
    assert len(requests) > 2
    for method, target, body in requests:
        check_request(method, target, body)


def check_request(method, target, body):
    path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
    segments = path.split("/")[2:]
    if segments == ["config"]:
        return
    operation_id = operation_of(method, segments[1:])
    named = {segments[i + 1] for i, s in enumerate(segments[:-1]) if s in KINDS}
    for name in named - {"rename"}:
        assert TOKEN in unquote(name), target
    if operation_id == "listNamespaces":
        assert all(TOKEN in parent for parent in query.get("parent", [""])), target
    try:
        parsed = json.loads(body) if body else None
    except ValueError:
        return
    if parsed is not None:
        check_body(operation_id, parsed)


def operation_of(method, segments):
    shape = [
        "*" if before in KINDS and segment != "rename" else segment
        for before, segment in zip(["", *segments], segments, strict=False)
    ]
    return ROUTES.get((method, "/".join(shape)), "")
