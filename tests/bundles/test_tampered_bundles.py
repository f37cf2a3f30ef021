"""Whoever changes a bundle is found out, whether the hashes are computed anew or not."""

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from icecheck.bundles.bundle import BundleUnusable
from icecheck.bundles.packing import open_bundle
from icecheck.bundles.verification import verified
from tests.bundles.recorded import (
    changed_exchanges,
    changed_report,
    lines_of,
    open_catalog,
    packed,
    recorded_run,
    verification_of,
)
from tests.kit.shares import some

CHECKS = (
    "createNamespace.already-exists",
    "createTable.already-exists",
    "loadTable.complete",
    "race.drop",
    "assertion.assert-ref-snapshot-id.without-id",
    "error.several-faults",
)
DEFECTS = ("status-updateTable.400-is-500", "other-code-loadTable.404")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    directory = tmp_path_factory.mktemp("recorded")
    with open_catalog(*DEFECTS) as transport:
        recorded_run(directory, transport, globs=CHECKS)
    return directory


@pytest.fixture
def report(recorded, tmp_path) -> Path:
    shutil.copytree(recorded, tmp_path / "report")
    return tmp_path / "report"


def row_of(document, check):
    return next(row for row in document["checks"] if row["id"] == check)


def outcome_of(check, outcome, **members):
    def change(document):
        row_of(document, check).update(outcome=outcome, **members)

    return change


def with_member(bundle: Path, name: str, content: bytes) -> Path:
    with zipfile.ZipFile(bundle) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(bundle, "w") as archive:
        for each, old in members.items():
            archive.writestr(each, content if each == name else old)
    return bundle


def test_nothing_is_said_of_what_was_not_changed(report):
    assert lines_of(verification_of(report)) == []


@pytest.mark.parametrize("name", ["run.json", "exchanges.jsonl.zst"])
def test_a_flipped_byte_of_a_member_is_named(report, name):
    bundle = packed(report)
    content = bytearray(open_bundle(bundle).members[name])
    content[len(content) // 2] ^= 1
    shown = lines_of(verified(open_bundle(with_member(bundle, name, bytes(content)))))
    assert any(line.startswith(f"manifest: {name}: stated sha256:") for line in shown)


def test_a_request_of_an_operation_that_there_is_not_is_named(report):
    def change(exchanges):
        for each in exchanges:
            other = "fetchvlanningResult" if each.operation == "createNamespace" else each.operation
            yield replace(each, operation=other)

    changed_exchanges(report, change)
    wanted = "the exchanges: stated requests for fetchvlanningResult; derived no operation of"
    assert any(line.startswith(wanted) for line in lines_of(verification_of(report)))


def test_a_flipped_byte_in_the_file_itself_is_named(report):
    bundle = packed(report)
    content = bytearray(bundle.read_bytes())
    place = content.index(b'"kind": "IcebergRestConformanceReport"') + 2000
    content[place] ^= 1
    bundle.write_bytes(bytes(content))
    assert any("manifest: run.json" in line for line in lines_of(verified(open_bundle(bundle))))


def test_a_changed_hash_of_the_manifest_is_named(report):
    bundle = packed(report)
    manifest = dict(open_bundle(bundle).manifest)
    manifest["members"][1]["sha256"] = "sha256:" + "0" * 64
    with_member(bundle, "manifest.json", json.dumps(manifest).encode())
    [line] = lines_of(verified(open_bundle(bundle)))
    assert line.startswith("manifest: exchanges.jsonl.zst: stated sha256:0000")


def test_a_changed_hash_of_the_exchanges_in_the_report_is_named(report):
    def change(document):
        document["artifacts"][0]["sha256"] = "sha256:" + "0" * 64

    changed_report(report, change)
    [line] = lines_of(verification_of(report))
    assert line.startswith("run.json: artifacts sha256: stated sha256:0000")


@pytest.mark.parametrize("passive", [False, True])
def test_a_failure_that_is_stated_to_be_a_pass_is_named(report, passive):
    document = json.loads((report / "run.json").read_text())
    failed = next(
        row["id"]
        for row in document["checks"]
        if row["outcome"] == "fail" and row["passive"] is passive
    )
    changed_report(report, outcome_of(failed, "pass", summary="", assertions=[], exchanges=[]))
    shown = lines_of(verification_of(report))
    mine = [line for line in shown if line.startswith(f"{failed}: stated pass; derived fail")]
    assert mine
    assert f"of {failed}: " in mine[0] or "[exchange" in mine[0]
    if passive:  # both judges say so
        assert any("fail by the second judge" in line for line in mine)


def test_a_pass_that_is_made_a_failure_is_named(report):
    changed_report(report, outcome_of("createNamespace.already-exists", "fail", summary="no"))
    shown = lines_of(verification_of(report))
    assert "createNamespace.already-exists: stated fail (no); derived pass" in shown


@pytest.mark.parametrize("member", ["summary", "assertions"])
def test_a_finding_that_is_told_otherwise_is_named(report, member):
    document = json.loads((report / "run.json").read_text())
    failed = next(row for row in document["checks"] if row["outcome"] == "fail")

    def change(document):
        row = row_of(document, failed["id"])
        if member == "summary":
            row["summary"] += " or so"
        else:
            row["assertions"][0]["actual"] = "something else"

    changed_report(report, change)
    shown = lines_of(verification_of(report))
    assert any(line.startswith(f"{failed['id']}: stated {member} ") for line in shown)


def test_a_row_that_is_left_out_is_named(report):
    gone = "createNamespace.already-exists"

    def change(document):
        document["checks"] = [row for row in document["checks"] if row["id"] != gone]

    changed_report(report, change)
    shown = lines_of(verification_of(report))
    assert (
        f"{gone}: stated no verdict in a complete run; derived a check that was to be run" in shown
    )


def test_a_row_of_a_check_that_nobody_knows_is_named(report):
    def change(document):
        again = dict(row_of(document, "createNamespace.already-exists"), id="createNamespace.more")
        document["checks"].append(again)

    changed_report(report, change)
    shown = lines_of(verification_of(report))
    assert any(
        line.startswith("createNamespace.more: stated a check; derived none") for line in shown
    )


@pytest.mark.parametrize("member", some(["status", "headline", "exit_code"], 3))
def test_a_conclusion_that_does_not_follow_is_named(report, member):
    values = {"status": "conformant", "headline": "all is well", "exit_code": 0}

    def change(document):
        document["verdict"][member] = values[member]

    changed_report(report, change)
    shown = lines_of(verification_of(report))
    told = f"run.json: verdict {member}: stated {values[member]}; derived "
    assert any(line.startswith(told) for line in shown)


def test_causes_profiles_and_totals_that_do_not_follow_are_named(report):
    def change(document):
        document["causes"] = []
        document["profiles"][2]["status"] = "conformant"
        document["totals"]["fail"] = 0

    changed_report(report, change)
    about = {line.partition(": stated")[0] for line in lines_of(verification_of(report))}
    profile = "run.json: profile write"
    assert about == {"run.json: causes", "run.json: totals", profile}


def test_a_changed_body_that_a_check_reads_is_named(report):
    def change(exchanges):
        for each in exchanges:
            if each.check == "loadTable.complete" and each.operation == "loadTable":
                body = each.response_body.replace(b'"schemas"', b'"schemaz"')
                yield replace(each, response_body=body)
            else:
                yield each

    changed_exchanges(report, change)
    about = {line.partition(":")[0] for line in lines_of(verification_of(report))}
    assert "loadTable.complete" in about
    assert "schema.loadTable.200" in about


def test_a_changed_status_is_named(report):
    def change(exchanges):
        for each in exchanges:
            conflict = each.check == "createNamespace.already-exists" and each.status == 409
            yield replace(each, status=200) if conflict else each

    changed_exchanges(report, change)
    shown = lines_of(verification_of(report))
    wrong = [
        line for line in shown if line.startswith("createNamespace.already-exists: stated pass")
    ]
    assert "expected 409, got 200" in wrong[0]


def test_an_exchange_that_is_left_out_is_named(report):
    check = "createNamespace.already-exists"

    def change(exchanges):
        mine = [each for each in exchanges if each.check == check and each.status == 409]
        return [each for each in exchanges if each not in mine]

    changed_exchanges(report, change)
    shown = lines_of(verification_of(report))
    assert any(line.startswith(f"{check}: stated pass; derived error") for line in shown)
    assert any("has no recorded answer" in line for line in shown)


def test_an_exchange_that_is_added_is_named(report):
    check = "createNamespace.already-exists"

    def change(exchanges):
        extra = next(each for each in exchanges if each.check == check)
        return [*exchanges, replace(extra, url=f"{extra.url}/more", ordinal=9)]

    changed_exchanges(report, change)
    shown = lines_of(verification_of(report))
    assert any(line.startswith(f"{check}: stated one more request recorded") for line in shown)


def test_the_exchanges_of_another_run_are_named(report, tmp_path):
    with open_catalog() as transport:
        other = tmp_path / "other"
        recorded_run(other, transport, globs=CHECKS)

    def change(exchanges):
        for each in exchanges:
            url = each.url.replace("recorded1", "recorded2")
            body = each.request_body and each.request_body.replace(b"recorded1", b"recorded2")
            yield replace(each, url=url, request_body=body)

    changed_exchanges(report, change)
    shown = lines_of(verification_of(report))
    assert (
        "the exchanges: stated those of the run icecheck_recorded1; derived none of them names it"
        in shown
    )


def test_an_outcome_of_a_race_is_compared_with_the_exchanges_that_it_shows(report):
    def change(document):
        shown = {
            "n": 3,
            "role": "do",
            "operation": "dropTable",
            "request": {"method": "DELETE", "url": "http://mock.invalid/v1/x", "body": ""},
            "response": {"status": 500, "headers": "", "body": ""},
        }
        row_of(document, "race.drop").update(exchanges=[shown])

    changed_report(report, change)
    shown = lines_of(verification_of(report))
    assert any(line.startswith("race.drop: stated exchange 3: DELETE") for line in shown)


def test_a_report_that_breaks_its_schema_is_named_and_derived_all_the_same(report):
    def change(document):
        document["verdict"]["status"] = "excellent"

    changed_report(report, change)
    shown = verification_of(report)
    about = [each.about for each in shown.differences]
    assert about == ["run.json: its schema", "run.json: verdict status"]
    assert shown.replayed > 0


@pytest.mark.parametrize("part", some(["safety", "totals", "expectations", "config"], 4))
def test_a_report_that_lacks_a_part_is_named(report, part):
    changed_report(report, lambda document: document.update({part: {}}))
    about = [each.about for each in verification_of(report).differences]
    assert "run.json: its schema" in about


def test_exchanges_that_cannot_be_read_are_no_bundle_if_their_hash_is_right(report):
    (report / "exchanges.jsonl.zst").write_bytes(b"no frame")
    with pytest.raises(BundleUnusable, match=r"exchanges.jsonl.zst cannot be inflated"):
        verification_of(report)
