"""`icecheck bundle` and `icecheck verify`: one file of a run, and its verdicts again."""

import json
import zipfile

import pytest


@pytest.fixture
def report(icecheck, tmp_path):
    """Run three checks on the mock, and return the directory of their report."""
    options = ["--check", "createNamespace.*", "--check", "race.drop", "--run-id", "bundled1"]
    ended = icecheck("run", "--mock", *options, "--output", "report", "--quiet")
    assert ended.exit_code == 0, ended.output
    return tmp_path / "report"


def test_a_run_is_packed_and_verified_without_its_catalog(icecheck, report):
    packed = icecheck("bundle", report, "--organization", "Acme", "--product-version", "7")
    assert packed.output == f"bundle: {report / 'bundle.zip'}\n"
    assert packed.exit_code == 0
    shown = icecheck("verify", report / "bundle.zip")
    assert shown.exit_code == 0, shown.output
    *_, race, verdicts, last = shown.output.splitlines()
    reason = "several of its requests were sent at the same time"
    assert race == f"judged from their exchanges only (1), {reason}: race.drop"
    assert verdicts.startswith("verdicts: ")
    but = "but for the 1 check named above"
    assert last == f"VERIFIED: run bundled1: every verdict was derived again, {but}"


def test_a_changed_verdict_is_named_and_ends_with_1(icecheck, report):
    document = json.loads((report / "run.json").read_text())
    document["verdict"]["headline"] = "all is well"
    (report / "run.json").write_text(json.dumps(document))
    icecheck("bundle", report, "--output", "b.zip")
    shown = icecheck("verify", "b.zip")
    assert shown.exit_code == 1
    first, *_, last = shown.output.splitlines()
    assert first.startswith("differs: run.json: verdict headline: stated all is well; derived all ")
    assert last == "NOT VERIFIED: run bundled1: 1 difference"


def test_a_run_of_another_version_is_said_to_be_of_that(icecheck, report):
    document = json.loads((report / "run.json").read_text())
    document["suite"]["version"] = "0.0.9"
    (report / "run.json").write_text(json.dumps(document))
    icecheck("bundle", report, "--output", "b.zip")
    *_, told, _last = icecheck("verify", "b.zip").output.splitlines()
    assert told.startswith("the run was made by icecheck 0.0.9, and this is ")
    assert told.endswith("verify it with icecheck 0.0.9 before you call it changed")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "no bundle, or is truncated"),
        (b"{}", "no bundle, or is truncated"),
    ],
)
def test_another_file_ends_with_2_and_one_line(icecheck, tmp_path, content, words):
    if content is not None:
        (tmp_path / "b.zip").write_bytes(content)
    shown = icecheck("verify", "b.zip")
    assert shown.exit_code == 2
    assert words in shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    assert shown.stdout == ""


def test_a_report_without_its_options_ends_with_2_and_one_line(icecheck, report):
    document = json.loads((report / "run.json").read_text())
    del document["config"]["target"]
    (report / "run.json").write_text(json.dumps(document))
    icecheck("bundle", report, "--output", "b.zip")
    shown = icecheck("verify", "b.zip")
    assert shown.exit_code == 2
    assert "does not say with which options it was run" in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_a_directory_without_a_report_is_not_packed(icecheck, tmp_path):
    (tmp_path / "empty").mkdir()
    shown = icecheck("bundle", "empty", "--output", "b.zip")
    assert shown.exit_code == 2
    assert "name the directory of a run's report" in shown.stderr
    assert not (tmp_path / "b.zip").exists()


def test_control_characters_of_a_bundle_are_not_printed(icecheck, report):
    icecheck("bundle", report, "--output", "b.zip")
    with zipfile.ZipFile("b.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"]) | {"run_id": "\x1b[31mred\u202e"}
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile("b.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    shown = icecheck("verify", "b.zip")
    assert shown.exit_code == 1
    assert "\x1b" not in shown.output
    assert "\u202e" not in shown.output


def test_a_bundle_is_read_like_the_report_in_it(icecheck, report, tmp_path):
    icecheck("bundle", report, "--output", "b.zip")
    for command in (("gate",), ("report", "matrix"), ("report", "render", "--format", "markdown")):
        name, *rest = command
        of_bundle = icecheck(name, *rest[:1], "b.zip", *rest[1:])
        of_report = icecheck(name, *rest[:1], report, *rest[1:])
        assert (of_bundle.exit_code, of_bundle.stdout) == (of_report.exit_code, of_report.stdout)
        assert of_bundle.stdout
    assert icecheck("compare", "b.zip", report).exit_code == 0
    truncated = (tmp_path / "b.zip").read_bytes()
    (tmp_path / "damaged.zip").write_bytes(
        truncated.replace(b"IcebergRestConformanceBundle", b"x" * 28)
    )
    result = icecheck("gate", "damaged.zip")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert "damaged.zip" in line
