"""Each erratum: what the document wrongly refuses or accepts, and what correcting it does."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.corrections import expect_repaired, expect_stricter, is_valid
from tests.kit.contracts import CONTRACT

RAW = CONTRACT.raw
REPAIRED = CONTRACT.corrected(("repair",))
STRICT = CONTRACT.corrected(("repair", "strict"))

SNAPSHOT_FREE = {"format-version": 3, "table-uuid": "u", "location": "file:/t"}
METRICS: dict[str, Any] = {"m": {"unit": "count", "value": 1}}
SCAN_REPORT = {
    "report-type": "scan-report",
    "table-name": "t",
    "snapshot-id": 1,
    "filter": True,
    "schema-id": 0,
    "projected-field-ids": [1],
    "projected-field-names": ["a"],
    "metrics": METRICS,
}
COMMIT_REPORT = {
    "report-type": "commit-report",
    "table-name": "t",
    "snapshot-id": 1,
    "sequence-number": 1,
    "operation": "append",
    "metrics": METRICS,
}
METADATA_V2 = {
    "format-version": 2,
    "table-uuid": "u",
    "location": "file:/t",
    "last-updated-ms": 1,
    "last-column-id": 1,
    "last-sequence-number": 0,
    "schemas": [{"type": "struct", "fields": []}],
    "current-schema-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "default-spec-id": 0,
    "last-partition-id": 999,
    "sort-orders": [{"order-id": 0, "fields": []}],
    "default-sort-order-id": 0,
}
PARTITION_STATISTICS = {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1}
FIELD = {"id": 1, "name": "a", "required": False, "type": "int"}
VIEW_NAMESPACES = "/v1/{prefix}/namespaces/{namespace}/views"
BARE_ERROR = {"message": "m", "type": "t", "code": 404}
ERROR = {"error": BARE_ERROR}
ASSERT_REF = {"type": "assert-ref-snapshot-id", "ref": "main"}


# erratum, schema, what must be accepted, what must stay refused
REPAIRS: list[tuple[str, str, Any, Any]] = [
    (
        "E01",
        "ListTablesResponse",
        {"identifiers": [], "next-page-token": None},
        {"identifiers": [], "next-page-token": 7},
    ),
    (
        "E01",
        "ListNamespacesResponse",
        {"namespaces": [], "next-page-token": None},
        {"namespaces": [], "next-page-token": []},
    ),
    (
        "E02",
        "GetNamespaceResponse",
        {"namespace": ["a"], "properties": None},
        {"namespace": ["a"], "properties": []},
    ),
    (
        "E03",
        "UpdateNamespacePropertiesResponse",
        {"updated": [], "removed": [], "missing": None},
        {"updated": [], "removed": [], "missing": "a"},
    ),
    (
        "E04",
        "LoadTableResult",
        {"metadata-location": None, "metadata": METADATA_V2},
        {"metadata-location": 1, "metadata": METADATA_V2},
    ),
    ("E05", "AssertRefSnapshotId", {**ASSERT_REF, "snapshot-id": None}, ASSERT_REF),
    (
        "E06",
        "TableMetadata",
        {**SNAPSHOT_FREE, "current-snapshot-id": None},
        {**SNAPSHOT_FREE, "current-snapshot-id": "none"},
    ),
    ("E07", "StructField", {**FIELD, "write-default": 7}, {**FIELD, "write-default": {}}),
    ("E07", "PrimitiveTypeValue", "2007-12-03", None),
    (
        "E08",
        "UnaryExpression",
        {"type": "is-null", "term": "a"},
        {"type": "is-null"},
    ),
    (
        "E09",
        "LiteralExpression",
        {"type": "eq", "term": "a", "value": 5},
        {"type": "eq", "term": "a"},
    ),
    (
        "E10",
        "SetExpression",
        {"type": "in", "term": "a", "values": [1, 2]},
        {"type": "in", "term": "a", "values": [{}]},
    ),
    ("E11", "Expression", True, "true"),
    ("E11", "ReportMetricsRequest", SCAN_REPORT, {**SCAN_REPORT, "filter": "true"}),
    (
        "E12",
        "FetchPlanningResult",
        {"status": "failed", "error": BARE_ERROR},
        {"status": "failed"},
    ),
    (
        "E13",
        "PlanTableScanResult",
        {"status": "submitted", "plan-id": "p"},
        {"status": "forgotten", "plan-id": "p"},
    ),
    (
        "E14",
        "TableUpdate",
        {"action": "set-partition-statistics", "partition-statistics": PARTITION_STATISTICS},
        {"action": "set-partition-statistics"},
    ),
    (
        "E14",
        "TableUpdate",
        {"action": "remove-partition-statistics", "snapshot-id": 1},
        {"action": "remove-partition-statistics"},
    ),
    (
        "E24",
        "OAuthClientCredentialsRequest",
        {"grant_type": "client_credentials", "scope": "catalog"},
        {"scope": "catalog"},
    ),
    (
        "E24",
        "OAuthTokenResponse",
        {"access_token": "t", "token_type": "Bearer"},
        {"access_token": "t", "token_type": "ticket"},
    ),
    ("E12", "IcebergErrorResponse", {**ERROR, "request-id": "r"}, {"request-id": "r"}),
]

# erratum, schema, what must now be refused, its nearest lawful relative
STRICTER: list[tuple[str, str, Any, Any]] = [
    (
        "E30",
        "CommitTableRequest",
        {"requirements": [{"type": "assert-bogus"}], "updates": []},
        {"requirements": [{"type": "assert-create"}], "updates": []},
    ),
    (
        "E30",
        "CommitTableRequest",
        {"requirements": [{"type": "assert-table-uuid"}], "updates": []},
        {"requirements": [{"type": "assert-table-uuid", "uuid": "u"}], "updates": []},
    ),
    (
        "E30",
        "CommitTableRequest",
        {"requirements": [ASSERT_REF], "updates": []},
        {"requirements": [{**ASSERT_REF, "snapshot-id": None}], "updates": []},
    ),
    (
        "E31",
        "ReportMetricsRequest",
        {**COMMIT_REPORT, "report-type": "scan-report"},
        COMMIT_REPORT,
    ),
    (
        "E32",
        "CommitTransactionRequest",
        {"table-changes": [{"requirements": [], "updates": []}]},
        {
            "table-changes": [
                {
                    "identifier": {"namespace": ["a"], "name": "t"},
                    "requirements": [],
                    "updates": [],
                }
            ]
        },
    ),
    (
        "E33",
        "PlanTableScanRequest",
        {"snapshot-id": 1, "start-snapshot-id": 1, "end-snapshot-id": 2},
        {"start-snapshot-id": 1, "end-snapshot-id": 2},
    ),
    ("E33", "PlanTableScanRequest", {"start-snapshot-id": 1}, {"snapshot-id": 1}),
    ("E33", "PlanTableScanRequest", {"snapshot-id": 1, "end-snapshot-id": 2}, {}),
    (
        "E34",
        "PlanTableScanResult",
        {"status": "submitted"},
        {"status": "submitted", "plan-id": "p"},
    ),
    (
        "E34",
        "PlanTableScanResult",
        {"status": "submitted", "plan-id": "p", "plan-tasks": ["t"]},
        {"status": "completed", "plan-id": "p", "plan-tasks": ["t"]},
    ),
    ("E35", "ListTablesResponse", {}, {"identifiers": []}),
    ("E35", "ListNamespacesResponse", {}, {"namespaces": []}),
    ("E35", "CreateNamespaceRequest", {"namespace": []}, {"namespace": ["a"]}),
    ("E36", "TableMetadata", {"format-version": 2, "table-uuid": "u"}, METADATA_V2),
    (
        "E40",
        "TableMetadata",
        {**METADATA_V2, "format-version": 3},
        {**METADATA_V2, "format-version": 3, "next-row-id": 0},
    ),
    (
        "E36",
        "TableMetadata",
        {name: value for name, value in METADATA_V2.items() if name != "schemas"},
        {
            "format-version": 1,
            "table-uuid": "u",
            "location": "l",
            "last-updated-ms": 1,
            "last-column-id": 1,
        },
    ),
    (
        "E37",
        "SQLViewRepresentation",
        {"type": "python", "sql": "1", "dialect": "d"},
        {"type": "sql", "sql": "select 1", "dialect": "spark"},
    ),
    ("E38", "PrimitiveType", "banana", "decimal(10, 2)"),
    ("E38", "StructField", {**FIELD, "type": "struct"}, {**FIELD, "type": "variant"}),
]


@pytest.mark.parametrize(("erratum", "schema", "lawful", "unlawful"), REPAIRS)
def test_a_repair_lets_lawful_payloads_pass(
    erratum: str, schema: str, lawful: Any, unlawful: Any
) -> None:
    expect_repaired(CONTRACT, erratum, schema, lawful, unlawful)


@pytest.mark.parametrize(("erratum", "schema", "unlawful", "lawful"), STRICTER)
def test_a_strict_correction_refuses_what_the_prose_forbids(
    erratum: str, schema: str, unlawful: Any, lawful: Any
) -> None:
    expect_stricter(CONTRACT, erratum, schema, unlawful, lawful)


def test_a_cancelled_plan_is_no_answer_to_planning() -> None:  # E13
    assert is_valid(RAW, "PlanTableScanResult", {"status": "cancelled"})
    assert not is_valid(REPAIRED, "PlanTableScanResult", {"status": "cancelled"})
    assert is_valid(REPAIRED, "FetchPlanningResult", {"status": "cancelled"})


def test_a_view_may_be_created_with_an_empty_default_namespace() -> None:  # E35's limit
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
        "default-namespace": [],
    }
    assert is_valid(STRICT, "ViewVersion", version)


def test_the_406_body_is_wrapped() -> None:  # E15
    def schema(document: Mapping[str, Any]) -> Mapping[str, Any]:
        response = document["components"]["responses"]["UnsupportedOperationResponse"]
        found: Mapping[str, Any] = response["content"]["application/json"]["schema"]
        return found

    assert is_valid(RAW, schema(RAW), BARE_ERROR)
    assert not is_valid(RAW, schema(RAW), ERROR)
    assert is_valid(REPAIRED, schema(REPAIRED), ERROR)
    assert not is_valid(REPAIRED, schema(REPAIRED), BARE_ERROR)


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        (VIEW_NAMESPACES, "get", ["404"]),
        (VIEW_NAMESPACES, "post", ["404", "409"]),
        (VIEW_NAMESPACES + "/{view}", "get", ["404"]),
        (VIEW_NAMESPACES + "/{view}", "post", ["404", "409", "500", "502", "504", "5XX"]),
        (VIEW_NAMESPACES + "/{view}", "delete", ["404"]),
        ("/v1/{prefix}/views/rename", "post", ["404", "409"]),
    ],
)
def test_view_errors_are_wrapped(path: str, method: str, statuses: list[str]) -> None:  # E16
    for status in statuses:
        raw, repaired = (
            document["paths"][path][method]["responses"][status]["content"]["application/json"]
            for document in (RAW, REPAIRED)
        )
        assert not is_valid(RAW, raw["schema"], ERROR)
        assert is_valid(REPAIRED, repaired["schema"], ERROR)
        assert not is_valid(REPAIRED, repaired["schema"], BARE_ERROR)


def test_access_delegation_is_a_list() -> None:  # E17
    raw, repaired = (d["components"]["parameters"]["data-access"] for d in (RAW, REPAIRED))
    both = "vended-credentials,remote-signing"
    assert not is_valid(RAW, raw["schema"], both)
    assert is_valid(REPAIRED, repaired["schema"], both.split(","))
    assert not is_valid(REPAIRED, repaired["schema"], ["telepathy"])
    assert not is_valid(REPAIRED, repaired["schema"], [])
    assert (repaired["style"], repaired["explode"]) == ("simple", False)


@pytest.mark.parametrize("response", ["LoadTableResponse", "CreateTableResponse"])
def test_the_etag_is_a_header_of_its_own(response: str) -> None:  # E18
    headers = REPAIRED["components"]["responses"][response]["headers"]
    assert list(headers) == ["ETag"]
    assert not {"name", "in", "$ref"} & set(headers["ETag"])
    assert "$ref" in RAW["components"]["responses"][response]["headers"]["etag"]
    assert "etag" not in REPAIRED["components"]["parameters"]


@pytest.mark.parametrize("operation_id", ["namespaceExists", "tableExists", "viewExists"])
def test_no_answer_to_head_has_content(operation_id: str) -> None:  # E19
    operation = CONTRACT.operations[operation_id]
    raw, repaired = (d["paths"][operation.path]["head"]["responses"] for d in (RAW, REPAIRED))
    assert any("$ref" in response for response in raw.values())
    assert set(raw) <= set(repaired)
    assert all(set(response) == {"description"} for response in repaired.values())


def test_a_view_check_may_be_forbidden() -> None:  # E20
    path = CONTRACT.operations["viewExists"].path
    assert "403" not in RAW["paths"][path]["head"]["responses"]
    assert "403" in REPAIRED["paths"][path]["head"]["responses"]


def test_examples_are_corrected_in_documentation_only() -> None:  # E21, E22, E25
    for erratum in ("E21", "E22", "E25"):
        assert CONTRACT.corrected(("repair",), leave_out=[erratum]) == REPAIRED


def test_ids_that_clients_send_are_not_read_only() -> None:  # E23
    def members(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        schemas = document["components"]["schemas"]
        return [
            schemas["Schema"]["allOf"][1]["properties"]["schema-id"],
            schemas["PartitionSpec"]["properties"]["spec-id"],
            schemas["SortOrder"]["properties"]["order-id"],
        ]

    assert all(member["readOnly"] for member in members(RAW))
    assert not any("readOnly" in member for member in members(REPAIRED))


def test_asking_for_a_token_needs_no_token() -> None:  # E24
    assert "security" not in RAW["paths"]["/v1/oauth/tokens"]["post"]
    assert REPAIRED["paths"]["/v1/oauth/tokens"]["post"]["security"] == []


@pytest.mark.parametrize("operation_id", ["planTableScan", "fetchScanTasks"])
def test_planning_requests_need_their_body(operation_id: str) -> None:  # E39
    path = CONTRACT.operations[operation_id].path
    assert not REPAIRED["paths"][path]["post"]["requestBody"].get("required", False)
    assert STRICT["paths"][path]["post"]["requestBody"]["required"]


def test_every_erratum_is_shown_here() -> None:
    shown = {row[0] for row in (*REPAIRS, *STRICTER)}
    shown |= {"E15", "E16", "E17", "E18", "E19", "E20", "E21", "E22", "E23", "E25", "E39"}
    assert shown == set(CONTRACT.errata)
