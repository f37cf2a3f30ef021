"""`--spec auto` finds the release out; a list of releases tells of several from one run."""

import json

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import alter_body

IN_THE_WAY = ("--only", "checks", "--check", "createView.table-in-the-way")


@pytest.fixture
def catalog():
    """A catalog that gives a view the name of a table: a SHOULD in 1.10.0, a MUST in 1.11.0."""
    with MockCatalog(spec="1.11.0") as catalog:
        defects()["createview-looks-at-no-table"].install(catalog.registries)
        yield catalog


def spec_of(tmp_path):
    return json.loads((tmp_path / "icecheck-report" / "run.json").read_text())["spec"]


def test_auto_takes_the_newest_release_that_the_config_shows(icecheck, catalog, tmp_path):
    ended = icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "auto")
    assert ended.exit_code == 1, ended.output
    assert spec_of(tmp_path)["id"] == "iceberg-rest/1.11.0"
    assert "register-view" in spec_of(tmp_path)["reason"]
    assert spec_of(tmp_path)["reason"] in ended.output


def test_auto_is_the_default_where_the_config_shows_nothing_newer(icecheck, tmp_path):
    with MockCatalog() as catalog:
        plain = icecheck("run", catalog.uri, *IN_THE_WAY)
        ended = icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "auto")
    assert ended.exit_code == plain.exit_code == 0, ended.output
    assert spec_of(tmp_path)["id"] == "iceberg-rest/1.10.0"
    assert "nothing" in spec_of(tmp_path)["reason"]


@pytest.mark.parametrize("member", ["idempotency-key-lifetime", "overrides"])
def test_auto_sees_what_the_config_announces_without_a_list_of_endpoints(
    icecheck, tmp_path, member
):
    shown = {"idempotency-key-lifetime": "PT1H", "overrides": {"namespace-separator": "%2E"}}
    with MockCatalog() as catalog:
        alter_body(
            catalog.registries,
            "getConfig",
            lambda _body: {"defaults": {}, "overrides": {}, member: shown[member]},
        )
        icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "auto")
    assert spec_of(tmp_path)["id"] == "iceberg-rest/1.11.0"


@pytest.mark.parametrize("junk", [3, "", {}, {"endpoints": 1, "overrides": []}])
def test_auto_reads_any_config(icecheck, junk):
    with MockCatalog() as catalog:
        alter_body(catalog.registries, "getConfig", lambda _body: junk)
        ended = icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "auto")
    assert ended.exit_code in {0, 1, 4, 5}, ended.output
    assert "Traceback" not in ended.output


def test_two_releases_are_told_side_by_side(icecheck, catalog, tmp_path):
    ended = icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "1.10.0, 1.11.0")
    assert ended.exit_code == 1, ended.output
    spec = spec_of(tmp_path)
    assert spec["id"] == "iceberg-rest/1.11.0"
    (older,) = spec["beside"]
    assert (older["id"], older["exit_code"]) == ("iceberg-rest/1.10.0", 0)
    (row,) = older["differs"]
    assert (row["check"], row["outcome"], row["there"]) == (IN_THE_WAY[-1], "fail", "fail")
    assert (row["level"], row["there_level"]) == ("must", "should")
    assert "by iceberg-rest/1.10.0" in ended.output
    page = (tmp_path / "icecheck-report" / "index.html").read_text()
    assert "By iceberg-rest/1.10.0" in page


def test_what_only_the_newer_document_knows_is_not_demanded_by_the_older(
    icecheck, catalog, tmp_path
):
    icecheck("run", catalog.uri, "--check", "registerView.*", "--spec", "1.10.0,1.11.0")
    (older,) = spec_of(tmp_path)["beside"]
    assert {each["id"] for each in older["profiles"]}.isdisjoint({"register-view", "idempotency"})


def test_a_stored_run_shows_the_other_release_again(icecheck, catalog, tmp_path):
    icecheck("run", catalog.uri, *IN_THE_WAY, "--spec", "1.10.0,1.11.0")
    again = icecheck("report", "render", "icecheck-report", "--format", "html")
    assert again.exit_code == 0, again.output
    assert "By iceberg-rest/1.10.0" in again.stdout


@pytest.mark.parametrize(
    "wrong", ["1.10.0,1.10.0", "1.11.0,auto", "1.11.0,", "9.9.9", "1.10.0,9.9.9", "automatic"]
)
def test_a_release_that_is_none_is_told_in_one_line(icecheck, wrong):
    ended = icecheck("run", "--mock", "--spec", wrong)
    assert ended.exit_code == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "--spec" in ended.stderr
