"""`--spec`: a catalog may be held to the document of an older release, and its age shows."""

import json

import pytest

from icecheck.contract import JUDGED_VERSIONS, Ref
from icecheck.contract.releases import is_newer, newest, number
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects.kit.rewriting import alter_body, refuse_as
from icecheck.run.releases.demands import release_to_hold_to
from icecheck.targets.target import UsageError
from tests.kit.contracts import CONTRACT

NEWEST = newest(JUDGED_VERSIONS)
MAJOR, MINOR, PATCH = number(NEWEST)
PATCHED = f"{MAJOR}.{MINOR}.{PATCH + 1}"  # a patch release has the same document
AFTER = f"{MAJOR}.{MINOR + 1}.0"


@pytest.fixture
def catalog_of_1_8():
    """A catalog that refuses to drop what is not empty with 400: no status was named then."""
    with MockCatalog() as catalog:
        refuse_as(catalog.registries, "dropNamespace", 409, 400)
        yield catalog


def document(tmp_path):
    return json.loads((tmp_path / "icecheck-report" / "run.json").read_text())


def outcomes(run):
    return {c["id"]: c["outcome"] for c in run["checks"]}


@pytest.mark.parametrize("command", ["run", "plan"])
def test_the_help_promises_no_older_release(icecheck, command):
    words = " ".join(icecheck(command, "--help").stdout.split())
    _, _, told = words.partition("--spec RELEASE")
    assert told.startswith(" Hold the catalog to the document of another release of Iceberg")


DROPS = ("--only", "checks", "--check", "dropNamespace.*")


def test_what_an_older_document_does_not_demand_is_skipped_and_says_why(
    icecheck, catalog_of_1_8, tmp_path
):
    newest = icecheck("run", catalog_of_1_8.uri, *DROPS)
    assert newest.exit_code == 1
    assert outcomes(document(tmp_path))["dropNamespace.holds-table"] == "fail"
    older = icecheck("run", catalog_of_1_8.uri, *DROPS, "--spec", "1.8.0")
    assert older.exit_code == 0, older.output
    run = document(tmp_path)
    assert run["spec"]["id"] == "iceberg-rest/1.8.0"
    # The report names that release's document.
    assert run["spec"]["git_tag"] == "apache-iceberg-1.8.0"
    assert "/apache-iceberg-1.8.0/" in run["spec"]["url"]
    assert run["spec"]["sha256"] != f"sha256:{CONTRACT.document_sha256}"
    (check,) = (c for c in run["checks"] if c["id"] == "dropNamespace.holds-table")
    assert check["outcome"] == "skip"
    assert check["skip"]["kind"] == "spec-version"
    assert check["skip"]["reason"] == ("demanded since Iceberg 1.9.0; the run holds to 1.8.0")
    assert outcomes(run)["dropNamespace.gone"] == "pass"


@pytest.mark.complete("a whole run; test_conditions holds catalogs to earlier documents")
def test_nothing_newer_than_the_release_is_judged(icecheck, tmp_path):
    ran = icecheck("run", "--mock", "--only", "checks", "--spec", "1.6.0", "-q")
    assert ran.exit_code == 0, ran.output
    run = document(tmp_path)
    register = CONTRACT.requirements
    judged = [c for c in run["checks"] if c["outcome"] != "skip"]
    assert len(judged) > 300
    assert run["verdict"]["status"] == "conformant"
    statuses = {p["id"]: p["status"] for p in run["profiles"]}
    assert statuses["scan-planning"] == statuses["credentials"] == "not-claimed"
    assert statuses["views"] == "conformant"
    since = {c["id"]: newest(register[r].since for r in c["requirements"]) for c in judged}
    assert [id_ for id_, release in since.items() if is_newer(release, "1.6.0")] == []
    assert not any(c["id"].startswith(("planTableScan", "schema.planTableScan")) for c in judged)


@pytest.mark.parametrize(
    ("named", "held_to"),
    [("1.9.2", "1.9.2"), (PATCHED, NEWEST), (NEWEST, NEWEST)],
)
def test_a_patch_release_is_a_release_too(icecheck, tmp_path, named, held_to):
    few = ("--only", "checks", "--check", "getConfig.answered")
    assert icecheck("run", "--mock", *few, "--spec", named).exit_code == 0
    assert document(tmp_path)["spec"]["id"] == f"iceberg-rest/{held_to}"


@pytest.mark.parametrize("named", ["1.5.0", "0.14.0", AFTER, "99.0.0", "1.9", "latest", "1.²9.0"])
def test_a_release_that_cannot_be_held_to_is_one_line_and_exit_2(icecheck, named):
    result = icecheck("run", "--mock", "--spec", named)
    assert result.exit_code == 2
    assert f"--spec {named}: " in result.output
    assert f"1.6.0 to {NEWEST}" in result.output
    assert len(result.output.strip().splitlines()) == 1


# ------------------------------------------------------------------- what a catalog shows
def observed(run):
    return {o["id"]: o for o in run["observations"]}


def test_findings_newer_than_what_a_catalog_shows_are_told_as_such(
    icecheck, catalog_of_1_8, tmp_path
):
    shown = "1.7.0"
    newer = {
        operation.endpoint
        for id_, operation in CONTRACT.operations.items()
        if is_newer(CONTRACT.since(Ref.parse(f"operation:{id_}")), shown)
    }

    def few_endpoints(body):
        return body | {"endpoints": [e for e in body["endpoints"] if e not in newer]}

    alter_body(catalog_of_1_8.registries, "getConfig", few_endpoints)
    icecheck("run", catalog_of_1_8.uri, *DROPS)
    told = observed(document(tmp_path))["newer-requirements"]
    assert f"({shown})" in told["question"]
    assert "dropNamespace.holds-table (since 1.9.0)" in told["answer"]
    assert "dropNamespace.gone" not in told["answer"]


def test_a_catalog_that_shows_nothing_of_its_age_is_not_guessed_at(
    icecheck, catalog_of_1_8, tmp_path
):
    registries = catalog_of_1_8.registries
    alter_body(registries, "getConfig", lambda b: {k: v for k, v in b.items() if k != "endpoints"})
    icecheck("run", catalog_of_1_8.uri, *DROPS)
    assert observed(document(tmp_path)) == {}


def test_endpoints_of_later_documents_are_recognised(icecheck, tmp_path):
    later = "POST /v1/{prefix}/namespaces/{namespace}/register-view"
    with MockCatalog() as catalog:
        alter_body(
            catalog.registries,
            "getConfig",
            lambda b: b | {"endpoints": [*b["endpoints"], later, "GET /v1/own/{thing}"]},
        )
        few = ("--only", "checks", "--check", "getConfig.*")
        assert icecheck("run", catalog.uri, *few).exit_code == 0
    told = observed(document(tmp_path))["later-endpoints"]
    assert told["answer"] == later
    assert told["spec_says"] == f"{later}: 1.11.0, A view is registered from its metadata file."


def test_a_document_whose_demands_have_no_checks_yet_is_not_judged_by():
    """A run that cannot find what breaks a document must not call anything conformant to it."""
    with pytest.raises(UsageError, match=r"list requirements --diff 1\.10\.0 1\.11\.0"):
        release_to_hold_to("1.11.0", versions=("1.10.0",))
