"""`icecheck explain` knows everything that reports, lists and the specification have names for."""

import json

import pytest

from icecheck.cli.listings.explanations import explain_symptom
from icecheck.mock_server.defects import defects
from icecheck.run.known_symptoms import known_symptoms
from tests.kit.contracts import CONTRACT


def test_an_operation_is_explained_with_its_requirements_checks_and_defects(icecheck):
    text = icecheck("explain", "dropNamespace").stdout
    assert text.startswith(
        "operation dropNamespace\n  DELETE /v1/{prefix}/namespaces/{namespace}\n"
    )
    for part in (
        CONTRACT.permalink(CONTRACT.operations["dropNamespace"].lines),
        "    dropNamespace.holds-table (must): ",
        "    dropNamespace.409 (must): ",
        "    namespace-drop-cascades: ",
        "    schema.dropNamespace.404: ",
    ):
        assert part in text


@pytest.mark.parametrize("operation", CONTRACT.operations)
def test_every_operation_has_requirements_and_checks(icecheck, operation):
    result = icecheck("explain", operation)
    assert result.exit_code == 0
    assert "\n  0 requirements" not in result.stdout
    assert "\n  0 checks" not in result.stdout


def test_a_defect_is_explained_with_what_it_breaks_and_what_notices_it(icecheck):
    text = icecheck("explain", "namespace-drop-cascades").stdout
    assert text.startswith("defect namespace-drop-cascades\n")
    assert defects()["namespace-drop-cascades"].suffering in text
    assert "    dropNamespace.holds-table: " in text
    assert "    requirement dropNamespace.holds-table" in text


@pytest.mark.parametrize(
    ("defect", "version"),
    [("namespace-drop-cascades", "1.10.0"), ("keys-ignored-of-drops", "1.11.0"),
     ("permits-all-registerView", "1.11.0")],
)  # fmt: skip
def test_a_defect_is_served_with_the_document_that_it_is_planted_in(icecheck, defect, version):
    said = f"\n  serve it: icecheck serve --spec {version} --defect {defect}\n"
    assert said in icecheck("explain", defect).stdout


def test_every_kind_of_name_that_is_listed_can_be_explained(icecheck):
    for what in ("checks", "requirements", "operations", "defects"):
        rows = json.loads(icecheck("list", what, "--format", "json").stdout)
        for row in rows[:: len(rows) // 5]:
            result = icecheck("explain", row["id"])
            assert result.exit_code == 0, row["id"]
            assert row["id"] in result.stdout.splitlines()[0]


@pytest.mark.parametrize("symptom", ["status", "schema:required", "effect-missing:snapshot"])
def test_a_symptom_of_a_report_is_explained(icecheck, symptom):
    result = icecheck("explain", symptom)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"symptom {symptom}\n")


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        (
            "committed-twice",
            ("Carries out a commit twice", "severity 0 of 5", "hurts: every client"),
        ),
        ("planned-file:lower-bounds", ("severity 0 of 5", "grouped with planned-file:")),
        ("error-type", ("severity 5 of 5", "hurts: no known client")),
        ("body-on-204", ("Sends a body with status 204", "severity 4 of 5")),
        ("spark-rows", ("severity 0 of 5", "hurts: Spark")),
        ("not-served", ("severity 3 of 5",)),
    ],
)
def test_a_symptom_is_explained_with_its_severity_and_who_suffers(icecheck, slug, said):
    result = icecheck("explain", slug)
    assert result.exit_code == 0
    assert [words for words in said if words not in result.stdout] == []


def test_every_declared_symptom_is_explained():
    for slug, symptom in known_symptoms().items():
        lines = [*explain_symptom(symptom)]
        assert lines[0] == f"symptom {slug}"
        assert lines[1] == f"  {symptom.meaning}"
        assert {line.strip().partition(" ")[0] for line in lines} >= {"severity", "hurts:"}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("createTabel", "createTable"),
        ("CREATETABLE", "createTable"),
        ("createNamespace.already-exist", "createNamespace.already-exists"),
        ("createNamespace.410", "createNamespace.409"),
        ("namespace-drop-cascade", "namespace-drop-cascades"),
        ("names-run-togther", "names-run-together"),
        ("comitted-twice", "committed-twice"),
        ("holds-table", "dropNamespace.holds-table"),
    ],
)
def test_a_near_miss_is_told_the_nearest_name(icecheck, wrong, right):
    result = icecheck("explain", wrong)
    assert result.exit_code == 2
    assert right in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_what_is_like_nothing_is_told_where_the_names_are(icecheck):
    result = icecheck("explain", "qqqqqqqq")
    assert result.exit_code == 2
    assert "icecheck list" in result.stderr
