"""What `CONTRACT` says about operations, responses and the lists of the document."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest

from icecheck.contract import SPEC_VERSIONS, Contract, UnknownRef, load
from icecheck.contract.document import version_text
from tests.kit.contracts import CONTRACT, of_every_version


def test_the_files_of_a_version_are_read_once() -> None:
    again = load(CONTRACT.version)
    assert again == CONTRACT
    assert again.operations is CONTRACT.operations
    assert again.raw is CONTRACT.raw
    assert again.requirements is CONTRACT.requirements
    assert again.corrected(["repair"]) is CONTRACT.corrected()


def test_an_unknown_version_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"9\.9\.9.*1\.10\.0"):
        load("9.9.9")


def test_every_version_loads_completely() -> None:
    for version in SPEC_VERSIONS:
        contract = load(version)
        assert contract.operations
        assert contract.requirements
        assert contract.errata
        assert contract.corrected(("repair", "strict"))


@of_every_version
def test_every_operation_and_response_of_the_document_is_there(contract: Contract) -> None:
    bodies = [body for item in contract.raw["paths"].values() for body in item.values()]
    written = {b["operationId"]: b["responses"] for b in bodies if "operationId" in b}
    assert {id_: {*o.responses} for id_, o in contract.operations.items()} == {
        id_: {*responses} for id_, responses in written.items()
    }
    every = [f"{id_}.{status}" for id_, responses in written.items() for status in responses]
    assert sorted(response.id for response in contract.documented_responses) == sorted(every)


@of_every_version
def test_every_operation_has_a_profile_and_a_summary(contract: Contract) -> None:
    for operation in contract.operations.values():
        assert operation.profile
        assert operation.summary


def test_an_endpoint_is_verb_and_path() -> None:
    operation = CONTRACT.operations["listNamespaces"]
    assert operation.endpoint == "GET /v1/{prefix}/namespaces"


@of_every_version
def test_endpoints_are_distinct(contract: Contract) -> None:
    endpoints = [operation.endpoint for operation in contract.operations.values()]
    assert len(set(endpoints)) == len(endpoints)


@of_every_version
def test_the_default_endpoints_are_the_documented_fourteen(contract: Contract) -> None:
    assert {*contract.default_endpoints} == {
        "GET /v1/{prefix}/namespaces",
        "POST /v1/{prefix}/namespaces",
        "GET /v1/{prefix}/namespaces/{namespace}",
        "DELETE /v1/{prefix}/namespaces/{namespace}",
        "POST /v1/{prefix}/namespaces/{namespace}/properties",
        "GET /v1/{prefix}/namespaces/{namespace}/tables",
        "POST /v1/{prefix}/namespaces/{namespace}/tables",
        "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "POST /v1/{prefix}/namespaces/{namespace}/register",
        "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
        "POST /v1/{prefix}/tables/rename",
        "POST /v1/{prefix}/transactions/commit",
    }
    assert len({*contract.default_endpoints}) == len(contract.default_endpoints)


def test_parameters_of_the_path_come_before_those_of_the_operation() -> None:
    parameters = CONTRACT.operations["loadTable"].parameters
    assert [(p.name, p.location, p.required) for p in parameters] == [
        ("prefix", "path", True),
        ("namespace", "path", True),
        ("table", "path", True),
        ("X-Iceberg-Access-Delegation", "header", False),
        ("If-None-Match", "header", False),
        ("snapshots", "query", False),
    ]


def test_request_bodies_are_known() -> None:
    create = CONTRACT.operations["createTable"]
    assert create.request_media_type == "application/json"
    assert create.request_required
    assert create.request_schema == {"$ref": "#/components/schemas/CreateTableRequest"}
    token = CONTRACT.operations["getToken"]
    assert token.request_media_type == "application/x-www-form-urlencoded"
    assert token.deprecated
    assert not CONTRACT.operations["planTableScan"].request_required
    assert CONTRACT.operations["dropTable"].request_media_type is None


def test_a_response_through_a_ref_has_its_schema() -> None:
    response = CONTRACT.operations["loadTable"].responses["200"]
    assert response.id == "loadTable.200"
    assert response.has_body
    assert response.media_types == ("application/json",)
    assert response.schema == {"$ref": "#/components/schemas/LoadTableResult"}
    pointer = f"/paths/{CONTRACT.operations['loadTable'].path.replace('/', '~1')}/get"
    assert response.lines == CONTRACT.lines(f"{pointer}/responses/200")
    assert response.lines != CONTRACT.lines(f"{pointer}/responses/304")


def test_a_response_without_content_has_no_body() -> None:
    for response_id in ("dropTable.204", "loadTable.304", "viewExists.404"):
        operation_id, status = response_id.split(".")
        response = CONTRACT.operations[operation_id].responses[status]
        assert not response.has_body
        assert response.schema is None


@pytest.mark.parametrize(
    ("status", "row"), [(200, "200"), (409, "409"), (503, "503"), (500, "5XX"), (599, "5XX")]
)
def test_a_status_finds_its_row(status: int, row: str) -> None:
    response = CONTRACT.response("createTable", status)
    assert response is not None
    assert response.status == row


def test_the_exact_row_wins_over_5xx() -> None:
    response = CONTRACT.response("updateTable", 500)
    assert response is not None
    assert response.status == "500"


@pytest.mark.parametrize("status", [201, 204, 302, 418])
def test_an_undocumented_status_has_no_row(status: int) -> None:
    assert CONTRACT.response("createTable", status) is None


@of_every_version
def test_table_commits_have_every_update_but_those_of_views_and_every_assertion(
    contract: Contract,
) -> None:
    schemas = contract.raw["components"]["schemas"]
    updates = {*schemas["BaseUpdate"]["discriminator"]["mapping"]}
    assert {*contract.table_updates} == updates - {"add-view-version", "set-current-view-version"}
    assert "set-partition-statistics" in contract.table_updates  # missing from the union: E14
    assertions = {name for name in schemas if name.startswith("Assert")}
    assert len(contract.table_assertions) == len(assertions - {"AssertViewUUID"})
    assert all(name.startswith("assert-") for name in contract.table_assertions)


def test_view_commits_have_their_updates_in_the_order_of_the_document() -> None:
    assert CONTRACT.view_updates == (
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-location",
        "set-properties",
        "remove-properties",
        "add-view-version",
        "set-current-view-version",
    ), f"the document of {CONTRACT.version} has other updates of views: write them here"
    assert CONTRACT.view_assertions == ("assert-view-uuid",)


@of_every_version
def test_the_corrected_union_holds_every_table_update(contract: Contract) -> None:
    schemas = contract.corrected()["components"]["schemas"]
    mapping = schemas["BaseUpdate"]["discriminator"]["mapping"]
    members = {member["$ref"] for member in schemas["TableUpdate"]["anyOf"]}
    assert members == {mapping[action] for action in contract.table_updates}


def test_a_permalink_points_into_the_tagged_document() -> None:
    # The file at the tag lacks a note of four lines, L19-L22 of the document that was given.
    file = (
        "https://github.com/apache/iceberg/blob/apache-iceberg-1.10.0"
        "/open-api/rest-catalog-open-api.yaml"
    )
    contract = load("1.10.0")
    assert contract.permalink((2022, 2045)) == f"{file}#L2018-L2041"
    assert contract.permalink((1, 23)) == f"{file}#L1-L19"
    assert contract.permalink((20, 21)) == f"{file}#L18-L18"


@pytest.mark.parametrize("version", SPEC_VERSIONS)
def test_lines_of_a_pointer_are_known(version: str) -> None:
    contract, pointer = load(version), "/components/schemas/TableMetadata"
    written = json.loads(version_text(version, "lines.json"))
    start, end = contract.lines(pointer)
    first, last = contract.lines(f"{pointer}/properties/next-row-id")
    assert [start, end] == written[pointer]
    assert start < first < last <= end
    with pytest.raises(UnknownRef, match="NoSuchThing"):
        CONTRACT.lines("/components/schemas/NoSuchThing")


def test_a_contract_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Contract("1.10.0").version = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        CONTRACT.operations["x"] = CONTRACT.operations["getConfig"]  # type: ignore[index]


def test_importing_the_contract_brings_in_nothing_heavy() -> None:
    program = (
        "import sys, icecheck.contract as c; c.load('1.10.0').operations;"
        "print(*sorted({'yaml', 'tomllib', 'hashlib', 'msgspec', 'httpx', 'jsonschema_rs',"
        " 'importlib.metadata', 'argparse', 'icecheck.contract.register'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.split() == []
