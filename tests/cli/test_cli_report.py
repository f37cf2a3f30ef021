"""`icecheck report`: stored runs as pages again, side by side and over time; and misuse."""

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from icecheck.cli.closing import closing_lines
from icecheck.cli.commands.stored.report import FILES
from icecheck.contract import load
from icecheck.contract.document import DEFAULT_SPEC_VERSION
from icecheck.findings.verdict import Level, Outcome
from icecheck.mock_server import MockCatalog
from icecheck.mock_server.defects import defects
from icecheck.reports import run_json
from icecheck.run.output import FORMATS, write_report
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict

BESIDE = {*FORMATS} - {"run.json"}
CREATED = verdict("createNamespace.created", requirements=("createNamespace.200",))
CONFIG = verdict("getConfig.answered", requirements=("getConfig.200",), profile="core")
LISTED = verdict("listNamespaces.listed", requirements=("listNamespaces.200",), profile="read")
EXISTS = verdict("createNamespace.already-exists")
GOOD = (CONFIG, LISTED, CREATED, EXISTS)


def failed(check, actual="200"):
    finding = a_finding("status", "409", actual)
    words = f"expected 409, got {actual}"
    return replace(check, outcome=Outcome.FAIL, summary=words, findings=(finding,))


def of(project, run, *, run_id="abc123", day="2026-03-01", server="acme/1"):
    """Return the run as one of this catalog, on this day."""
    target = run.facts["target"]
    target |= {
        "implementation": {"project": project},
        "fingerprint": target["fingerprint"] | {"server_header": server},
    }
    generated_at = f"{day}T12:00:00+00:00"
    facts = run.facts | {"target": target}
    return replace(run, run_id=run_id, generated_at=generated_at, facts=facts)


CONFORMS = of("Acme", finished(*GOOD))
FAILS = of("Bcme", finished(CONFIG, LISTED, CREATED, failed(EXISTS)), run_id="def456")


@pytest.fixture
def stored(tmp_path):
    """Write a run's report into a directory and return its name."""

    def write(run, name=None):
        name = name or run.run_id
        write_report(run, tmp_path / name)
        return name

    return write


def rows_of(markdown):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in markdown.splitlines()
        if line.startswith("|")
    ]


# ---- one run


def test_a_report_becomes_pages_again(icecheck, stored, tmp_path):
    directory = tmp_path / stored(FAILS)
    before = {name: (directory / name).read_bytes() for name in FORMATS}
    for name in BESIDE:
        (directory / name).unlink()
    result = icecheck("report", "render", "def456")
    assert (result.exit_code, result.stdout) == (0, "def456/index.html\n")
    assert {name: (directory / name).read_bytes() for name in FORMATS} == before


def test_reports_are_rendered_into_directories_of_their_own(icecheck, stored, tmp_path):
    files = [stored(CONFORMS), f"{stored(FAILS)}/run.json"]
    assert icecheck("report", "render", *files, "--output", "pages").exit_code == 0
    assert {p.name for p in (tmp_path / "pages").iterdir()} == {"abc123", "def456"}
    for name in ("abc123", "def456"):
        assert {p.name for p in (tmp_path / "pages" / name).iterdir()} == BESIDE


def test_runs_of_one_id_are_not_written_over_each_other(icecheck, stored, tmp_path):
    names = [stored(CONFORMS, "one"), stored(FAILS, "two")]
    same = replace(FAILS, run_id="abc123")
    result = icecheck("report", "render", names[0], stored(same, "two"), "--output", "pages")
    assert result.exit_code == 2
    assert "abc123" in result.stderr
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("form", [*FILES, "text"])
def test_a_format_is_printed_as_the_run_wrote_it(icecheck, stored, form):
    result = icecheck("report", "render", stored(FAILS), "--format", form)
    if form not in FILES:
        assert result.stdout.splitlines() == closing_lines(FAILS, Path("run.json"))
    else:
        assert result.stdout == FORMATS[FILES[form]](FAILS)


def test_a_cause_is_an_annotation_by_its_level(icecheck, stored):
    finding = a_finding("another-way", "one", "two")
    should = replace(failed(CREATED), findings=(finding,), level=Level.SHOULD)
    run = replace(finished(CONFIG, failed(EXISTS), should), run_id="aaa111")
    lines = icecheck("report", "render", stored(run), "--format", "annotations").stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert lines[0].startswith("::error title=createNamespace%3A accepts names that are in use")
    assert lines[-1].startswith("::notice title=icecheck%3A NOT CONFORMANT::")


def test_a_hostile_title_ends_no_annotation(icecheck, stored):
    hostile = failed(EXISTS, "x::error::\n::stop-commands::y%0A,z")
    run = finished(CONFIG, hostile)
    lines = icecheck("report", "render", stored(run), "--format", "annotations").stdout.splitlines()
    assert len(lines) == 2
    title = re.match(r"::error title=(.*?)::", lines[0])[1]
    assert not {":", ","} & {*title}


@pytest.mark.parametrize(
    ("run", "words", "colour"),
    [
        (CONFORMS, "conformant", "#17663a"),
        (FAILS, "not conformant", "#a3211f"),
        (finished(*GOOD, interrupted=True), "partial (incomplete)", "#7a4d00"),
        (finished(), "no verdict", "#46515f"),
    ],
)
def test_a_badge_says_the_verdict_and_is_green_for_a_whole_run_only(
    icecheck, stored, run, words, colour
):
    name = stored(run)
    told = json.loads(icecheck("report", "render", name, "--format", "shields").stdout)
    assert (told["schemaVersion"], told["label"]) == (1, f"Iceberg REST {DEFAULT_SPEC_VERSION}")
    assert (told["message"], told["color"]) == (words, colour)
    badge = icecheck("report", "render", name, "--format", "badge").stdout
    picture = ET.fromstring(badge)  # noqa: S314 - ours
    texts = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [f"Iceberg REST {DEFAULT_SPEC_VERSION}", words]
    assert run.run_id in picture.get("aria-label")


# ---- several runs


def matrix_of(icecheck, form, *names):
    result = icecheck("report", "matrix", *names, "--format", form)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_catalogs_stand_side_by_side(icecheck, stored):
    names = [stored(CONFORMS), stored(FAILS)]
    document = json.loads(matrix_of(icecheck, "json", *names))
    assert [run["label"] for run in document["runs"]] == ["Acme", "Bcme"]
    assert document["verdicts"] == [CONFORMS.status, FAILS.status]
    assert document["profiles"]["write"] == ["conformant", "not-conformant"]
    (finding,) = document["findings"].values()
    assert finding["values"] == ["", "must"]
    (requirement,) = document["requirements"].items()
    assert requirement[0] == "createNamespace.409"
    assert requirement[1]["values"] == ["pass", "fail"]
    assert (
        requirement[1]["title"]
        == load(DEFAULT_SPEC_VERSION).requirements["createNamespace.409"].text
    )
    assert document["held_by_all"]["write"] == 1
    rows = rows_of(matrix_of(icecheck, "markdown", *names))
    assert rows[0] == ["", "Acme", "Bcme"]
    assert ["Verdict", CONFORMS.status, "not conformant"] in rows


def test_runs_of_one_catalog_are_told_apart(icecheck, stored):
    runs = [
        of("Acme", finished(*GOOD), run_id="one1", day="2026-03-01"),
        of("Acme", finished(*GOOD), run_id="two2", day="2026-03-02"),
        of("Acme", finished(*GOOD), run_id="three3", day="2026-03-02"),
        of("Bcme", finished(*GOOD), run_id="four4"),
    ]
    document = json.loads(matrix_of(icecheck, "json", *map(stored, runs)))
    assert [run["label"] for run in document["runs"]] == [
        "Acme, 2026-03-01", "Acme, 2026-03-02, two2", "Acme, 2026-03-02, three3", "Bcme",
    ]  # fmt: skip


def test_what_one_of_three_alone_does_is_marked(icecheck, stored):
    third = of("Ccme", finished(*GOOD), run_id="ccc333")
    page = matrix_of(icecheck, "html", *map(stored, (CONFORMS, FAILS, third)))
    (row,) = re.findall(r"<tr><th scope=\"row\"><code>createNamespace.409.*?</tr>", page, re.DOTALL)
    assert re.findall(r'<td class="n (.*?)">', row) == ["good", "bad odd", "good"]
    page = matrix_of(icecheck, "html", "abc123", "def456")
    (row,) = re.findall(r"<tr><th scope=\"row\"><code>createNamespace.409.*?</tr>", page, re.DOTALL)
    assert "odd" not in row


def test_a_record_without_requirements_is_compared_by_its_checks(icecheck, tmp_path):
    document = json.loads(run_json.render(FAILS))
    for check in document["checks"]:
        del check["requirements"], check["profile"]
    (tmp_path / "record.json").write_text(json.dumps(document))
    told = json.loads(matrix_of(icecheck, "json", "record.json"))
    assert [*told["requirements"]] == ["createNamespace.already-exists"]


def test_a_trend_tells_what_broke_and_what_was_repaired_in_order_of_time(icecheck, stored):
    runs = [
        of("Acme", finished(*GOOD), run_id="one1", day="2026-03-01"),
        of("Acme", finished(*GOOD[:3], failed(EXISTS)), run_id="two2", day="2026-03-02"),
        of("Acme", finished(*GOOD), run_id="three3", day="2026-03-03", server="acme/2"),
    ]
    names = [stored(run) for run in reversed(runs)]
    result = icecheck("report", "trend", *names, "--format", "json")
    document = json.loads(result.stdout)
    assert [run["run_id"] for run in document["runs"]] == ["one1", "two2", "three3"]
    assert [run["moved"] for run in document["runs"]] == [{}, {"regression": 1}, {"fixed": 1}]
    assert [run["lost"] for run in document["runs"]] == [[], [EXISTS.check], []]
    assert [run["changed"] for run in document["runs"]] == [[], [], ["server"]]
    assert [len(run["new_findings"]) for run in document["runs"]] == [0, 1, 0]
    assert [len(run["gone_findings"]) for run in document["runs"]] == [0, 0, 1]
    page = icecheck("report", "trend", *names).stdout
    assert re.findall(r"<title>(2026-.*?)</title>", page) == [
        "2026-03-01: 0 fail, 0 blocked", "2026-03-02: 1 fail, 0 blocked",
        "2026-03-03: 0 fail, 0 blocked",
    ]  # fmt: skip
    rows = rows_of(icecheck("report", "trend", *names, "--format", "markdown").stdout)
    assert rows[-1][-2:] == ["1 fixed", "the server changed between the runs"]


def test_a_run_without_a_check_is_shown_as_such_and_passed_over(icecheck, stored):
    runs = [
        of("Acme", finished(*GOOD), run_id="one1", day="2026-03-01"),
        of("Acme", finished(tripped=True), run_id="two2", day="2026-03-02"),
        of("Acme", finished(*GOOD[:3], failed(EXISTS)), run_id="three3", day="2026-03-03"),
    ]
    names = [stored(run) for run in runs]
    told = json.loads(icecheck("report", "trend", *names, "--format", "json").stdout)["runs"]
    assert [(run["run_id"], run["judged"]) for run in told] == [
        ("one1", True), ("two2", False), ("three3", True)
    ]  # fmt: skip
    assert [run["moved"] for run in told] == [{}, {}, {"regression": 1}]
    rows = rows_of(icecheck("report", "trend", *names, "--format", "markdown").stdout)
    assert rows[3][-2:] == ["nothing was judged", ""]


def test_a_trend_is_of_the_newest_runs_document_unless_another_is_named(icecheck, tmp_path):
    names = []
    for number, spec in enumerate(("1.9.0", "1.10.0", "1.9.0", "1.10.0")):
        # Two runs end at the same time, as those that judge by two documents do.
        run = of("Acme", finished(*GOOD), run_id=f"run{number}", day=f"2026-03-0{1 + number // 2}")
        document = json.loads(run_json.render(run))
        document["spec"]["id"] = f"iceberg-rest/{spec}"
        names.append(f"{number}.json")
        (tmp_path / names[-1]).write_text(json.dumps(document))
    for order in (names, names[::-1]):
        for words, runs in (((), {"run1", "run3"}), (("--spec", "1.9.0"), {"run0", "run2"})):
            result = icecheck("report", "trend", *order, *words, "--format", "json")
            told = json.loads(result.stdout)
            assert {run["run_id"] for run in told["runs"]} == runs
            assert [*told["left_out"].values()] == [2]
    result = icecheck("report", "trend", *names, "--spec", "1.8.0")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_a_page_about_several_runs_is_written_where_it_is_asked_for(icecheck, stored, tmp_path):
    for what in ("matrix", "trend"):
        file = f"pages/{what}.html"
        result = icecheck("report", what, stored(CONFORMS), "--output", file)
        assert (result.exit_code, result.stdout) == (0, f"{file}\n")
        assert (tmp_path / file).read_text().startswith("<!doctype html>")


# ---- misuse


def test_what_is_no_whole_report_is_exit_2_and_nothing_is_written(icecheck, stored, tmp_path):
    good = stored(CONFORMS)
    whole = json.loads(run_json.render(FAILS))
    text = json.dumps(whole)
    damaged = {
        "truncated": text[: len(text) // 2],
        "of another kind": json.dumps({"kind": "pytest"}),
        "of another format": json.dumps(whole | {"report_version": "2.0"}),
        "without causes": json.dumps({k: v for k, v in whole.items() if k != "causes"}),
        "with a lie": json.dumps(whole | {"complete": False, "totals": {}}),
        "of an unknown document": json.dumps(
            whole | {"suite": whole["suite"] | {"requirement_set": "iceberg-rest/9.9.9"}}
        ),
    }
    for name, content in damaged.items():
        (tmp_path / "bad.json").write_text(content)
        result = icecheck("report", "render", good, "bad.json", "--output", "pages")
        assert result.exit_code == 2, name
        (line,) = result.stderr.splitlines()
        assert "bad.json" in line, name
        assert not (tmp_path / "pages").exists()


DAMAGES = {
    "profiles": [{"id": "core"}],
    "causes": [{"id": "one"}],
    "target": {},
    "generated_at": None,
    "verdict": {},
}


@pytest.mark.parametrize("block", DAMAGES)
@pytest.mark.parametrize("what", [("report", "matrix"), ("report", "trend"), ("gate",)])
def test_a_damaged_report_is_exit_2_or_does_not_matter(icecheck, tmp_path, what, block):
    damaged = json.loads(run_json.render(FAILS)) | {block: DAMAGES[block]}
    (tmp_path / "bad.json").write_text(json.dumps(damaged))
    demands = ("--require", "write", "--max-age", "30d") if what == ("gate",) else ()
    result = icecheck(*what, "bad.json", *demands)
    assert result.exit_code in {0, 1, 2}
    if result.exit_code == 2:
        (line,) = result.stderr.splitlines()
        assert "bad.json" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("render",), "Missing argument"),
        (("render", "gone.json"), "gone.json cannot be read"),
        (("render", "a", "b", "--format", "html"), "--format prints one RUN"),
        (("render", "a", "--output", "d", "--format", "html"), "--format prints one RUN"),
        (("matrix", "gone.json"), "gone.json cannot be read"),
        (("trend", "gone.json"), "gone.json cannot be read"),
    ],
)
def test_misuse_is_exit_2_in_one_line(icecheck, arguments, words):
    result = icecheck("report", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert words in line


def test_a_page_that_cannot_be_written_is_exit_2(icecheck, stored, tmp_path):
    (tmp_path / "file").write_text("")
    name = stored(CONFORMS)
    for arguments in (
        ("render", name, "--output", "file/d"),
        ("matrix", name, "--output", "file/d"),
    ):
        result = icecheck("report", *arguments)
        assert result.exit_code == 2
        assert "--output file/d cannot be written" in result.stderr


# ---- parts of one run


def test_parts_become_a_report(icecheck, stored, tmp_path):
    parts = [
        stored(replace(finished(CONFIG, LISTED), run_id="one1")),
        stored(replace(finished(CREATED, failed(EXISTS)), run_id="two2")),
    ]
    result = icecheck("report", "merge", *parts, "--output", "whole")
    assert result.exit_code == 1
    assert result.stdout.startswith("NOT CONFORMANT: 1 of 4 checks fail")
    assert {p.name for p in (tmp_path / "whole").iterdir()} == {*FORMATS}
    document = json.loads((tmp_path / "whole" / "run.json").read_text())
    assert run_json.problems_of(json.dumps(document)) == []
    again = icecheck("report", "merge", *parts, "--output", "whole")
    assert again.exit_code == 2
    assert "there is a report in whole already" in again.stderr


@pytest.mark.complete("four runs of the whole suite on the mock")
def test_the_shards_of_a_run_make_the_verdict_of_the_whole_run(icecheck, tmp_path):
    def verify(name, *options):
        fixed = ("--seed", "1", "-q", "--implementation", "mock", "--run-id", name)
        icecheck("run", mock.uri, "--warehouse", "wh", "--output", name, *fixed, *options)
        return json.loads((tmp_path / name / "run.json").read_text())

    with MockCatalog(seed=1, warehouses=["wh"]) as mock:
        defects()["commit-asserts-nothing"].install(mock.registries)
        whole = verify("whole")
        for group in ("checks", "generated", "scenarios"):
            verify(group, "--only", group)
    icecheck("report", "merge", "checks", "generated", "scenarios", "--output", "merged")
    merged = json.loads((tmp_path / "merged" / "run.json").read_text())
    assert {c["id"]: {*c["checks"]} for c in merged["causes"]} == {
        c["id"]: {*c["checks"]} for c in whole["causes"]
    }
    assert [(p["id"], p["status"], p["must"]) for p in merged["profiles"]] == [
        (p["id"], p["status"], p["must"]) for p in whole["profiles"]
    ]
    assert merged["verdict"]["status"] == whole["verdict"]["status"]
