"""The errata of 1.11.0: those that remain correct the same, and each new one, as for 1.10.0."""

from typing import Any

import pytest

from icecheck.bundles.second.validators import JsonSchemaValidator, Text
from icecheck.contract import Level, load
from icecheck.replies.schema import SchemaJudge
from tests.contract.corrections import expect_repaired, expect_stricter, is_valid
from tests.contract.test_contract_errata import (
    ERROR,
    METADATA_V2,
    REPAIRS,
    STRICTER,
    VIEW_NAMESPACES,
)

CONTRACT = load("1.11.0")
RAW = CONTRACT.raw
REPAIRED = CONTRACT.corrected(("repair",))
STRICT = CONTRACT.corrected(("repair", "strict"))
FIXED = {"E08", "E09", "E10", "E14"}
"""The errata of 1.10.0 that 1.11.0 has not; what is left of E09 and E10 is E07."""
NEW = {f"E11-{number}" for number in range(1, 11)}
SIGN = "/v1/{prefix}/namespaces/{namespace}/tables/{table}/sign"
CONFIG: dict[str, Any] = {"defaults": {}, "overrides": {}}
KEY = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"


def test_what_was_fixed_is_gone_and_the_rest_remains() -> None:
    before = load("1.10.0").errata
    assert before.keys() - CONTRACT.errata.keys() == FIXED
    assert CONTRACT.errata.keys() - before.keys() == NEW


@pytest.mark.parametrize(
    ("erratum", "schema", "lawful", "unlawful"), [r for r in REPAIRS if r[0] not in FIXED]
)
def test_a_repair_that_remains_lets_lawful_payloads_pass(
    erratum: str, schema: str, lawful: Any, unlawful: Any
) -> None:
    expect_repaired(CONTRACT, erratum, schema, lawful, unlawful)


@pytest.mark.parametrize(
    ("erratum", "schema", "lawful", "unlawful"), [r for r in REPAIRS if r[0] in FIXED]
)
def test_what_was_fixed_needs_no_erratum_of_its_own(
    erratum: str, schema: str, lawful: Any, unlawful: Any
) -> None:
    assert is_valid(RAW, schema, lawful) == (erratum in {"E08", "E14"})
    assert is_valid(REPAIRED, schema, lawful)
    assert not is_valid(REPAIRED, schema, unlawful)


ID_IS_REQUIRED = {"status": "submitted"}
"""The document itself refuses this submitted plan without an id, once E13 is repaired."""


@pytest.mark.parametrize(
    ("erratum", "schema", "unlawful", "lawful"),
    [row for row in STRICTER if row[2] != ID_IS_REQUIRED],
)
def test_a_strict_correction_that_remains_refuses_the_same(
    erratum: str, schema: str, unlawful: Any, lawful: Any
) -> None:
    expect_stricter(CONTRACT, erratum, schema, unlawful, lawful)


def test_a_plan_needs_its_id_once_branches_do_not_overlap() -> None:  # E13, E34
    assert is_valid(RAW, "PlanTableScanResult", ID_IS_REQUIRED)
    assert not is_valid(REPAIRED, "PlanTableScanResult", ID_IS_REQUIRED)
    assert is_valid(REPAIRED, "PlanTableScanResult", {"status": "completed", "plan-id": "p"})
    assert not is_valid(REPAIRED, "PlanTableScanResult", {"status": "completed"})


@pytest.mark.parametrize(
    "response", ["LoadTableResponse", "CreateTableResponse", "CommitTableResponse"]
)
def test_the_etag_is_a_header_of_its_own_in_three_responses(response: str) -> None:  # E18
    headers = REPAIRED["components"]["responses"][response]["headers"]
    assert list(headers) == ["ETag"]
    assert not {"name", "in", "$ref"} & set(headers["ETag"])


def test_the_creation_of_a_view_takes_a_key() -> None:  # E11-1
    key = {"$ref": "#/components/parameters/idempotency-key"}
    assert "parameters" not in RAW["paths"][VIEW_NAMESPACES]["post"]
    assert REPAIRED["paths"][VIEW_NAMESPACES]["post"]["parameters"] == [key]
    taking = [
        operation.id
        for operation in CONTRACT.operations.values()
        if "Idempotency-Key" in {parameter.name for parameter in operation.parameters}
    ]
    assert len(taking) == 16
    assert "createView" not in taking


def test_signing_for_no_table_has_an_answer() -> None:  # E11-2
    raw, repaired = (d["paths"][SIGN]["post"]["responses"] for d in (RAW, REPAIRED))
    assert "404" not in raw
    assert is_valid(REPAIRED, repaired["404"]["content"]["application/json"]["schema"], ERROR)


def test_whether_a_signature_may_be_kept_is_said_in_a_declared_header() -> None:  # E11-3
    raw, repaired = (d["components"]["responses"]["RemoteSignResponse"] for d in (RAW, REPAIRED))
    assert "headers" not in raw
    assert [*repaired["headers"]] == ["Cache-Control"]


def test_empty_values_that_mean_something_are_allowed() -> None:  # E11-4
    for document, allowed in ((RAW, None), (REPAIRED, True)):
        parent = document["paths"]["/v1/{prefix}/namespaces"]["get"]["parameters"][2]
        assert parent["name"] == "parent"
        token = document["components"]["parameters"]["page-token"]
        assert parent.get("allowEmptyValue") is token.get("allowEmptyValue") is allowed


def test_views_that_lead_to_a_table_are_a_list() -> None:  # E11-5
    raw, repaired = (d["components"]["parameters"]["referenced-by"] for d in (RAW, REPAIRED))
    assert raw["schema"] == {"type": "string"}
    assert (repaired["style"], repaired["explode"]) == ("form", False)
    assert is_valid(REPAIRED, repaired["schema"], ["a\x1fv", "a\x1fw"])
    assert not is_valid(REPAIRED, repaired["schema"], [])
    assert not is_valid(REPAIRED, repaired["schema"], ["a\x1fv", ""])


@pytest.mark.parametrize(
    ("key", "good"),
    [(KEY, True), (KEY.lower(), True), (KEY.replace("-7", "-4"), False), (KEY[:-1], False)],
)
def test_a_key_is_a_uuid_of_version_7(key: str, good: bool) -> None:  # E11-6
    schema = STRICT["components"]["parameters"]["idempotency-key"]["schema"]
    assert is_valid(STRICT, schema, key) == good


@pytest.mark.parametrize(
    ("lifetime", "good"),
    [
        ("PT30M", True), ("PT24H", True), ("P1D", True), ("P1DT2H3M4.5S", True), ("PT0.5S", True),
        ("P1W", False), ("P1M", False), ("P1Y", False), ("PT", False), ("P", False), ("", False),
        ("30 minutes", False), ("PT1M1H", False),
    ],
)  # fmt: skip
def test_a_lifetime_is_one_that_java_reads(lifetime: str, good: bool) -> None:  # E11-7
    config = CONFIG | {"idempotency-key-lifetime": lifetime}
    assert is_valid(REPAIRED, "CatalogConfig", config)
    assert is_valid(STRICT, "CatalogConfig", config) == good


def test_a_separator_separates() -> None:  # E11-8
    for separator, good in (("%2E", True), ("", False)):
        config = CONFIG | {"overrides": {"namespace-separator": separator, "other": ""}}
        assert is_valid(REPAIRED, "CatalogConfig", config)
        assert is_valid(STRICT, "CatalogConfig", config) == good


def test_a_scan_asks_for_no_fewer_than_no_rows() -> None:  # E11-9
    for rows, good in ((0, True), (7, True), (-1, False)):
        assert is_valid(REPAIRED, "PlanTableScanRequest", {"min-rows-requested": rows})
        assert is_valid(STRICT, "PlanTableScanRequest", {"min-rows-requested": rows}) == good


def test_who_is_told_to_have_requests_signed_is_told_where() -> None:  # E11-10
    on = {"s3.remote-signing-enabled": "true"}
    for config, good in (
        (on, False), (on | {"signer.endpoint": "v1/sign"}, True), ({}, True),
        ({"s3.remote-signing-enabled": "false"}, True),
    ):  # fmt: skip
        loaded = {"metadata": METADATA_V2, "config": config}
        assert is_valid(REPAIRED, "LoadTableResult", loaded)
        assert is_valid(STRICT, "LoadTableResult", loaded) == good


def test_only_readings_and_what_clients_need_is_less_than_a_must() -> None:
    levels = {id_: CONTRACT.errata[id_].level for id_ in NEW}
    assert {id_ for id_, level in levels.items() if level is Level.MUST} == {"E11-6"}
    assert {id_ for id_, level in levels.items() if level is Level.SHOULD} == {"E11-10"}
    needs = {id_ for id_, level in levels.items() if level is Level.INTEROP}
    assert needs == {"E11-7", "E11-8", "E11-9"}


def test_no_answer_is_blamed_for_what_only_clients_need() -> None:
    """Checks of their own judge it, at the level of a need of clients."""
    judge, second = SchemaJudge(CONTRACT), JsonSchemaValidator(CONTRACT)
    odd = CONFIG | {"overrides": {"namespace-separator": ""}, "idempotency-key-lifetime": "P1W"}
    assert judge.response_problems("getConfig", "200", odd) == ()
    assert all(second.fits(text, "getConfig", "200", odd) for text in Text)
    scan = {"min-rows-requested": -1}
    assert judge.request_is_valid("planTableScan", scan)
