"""A bundle is one file with the same bytes each time; whatever else a file is, one line says so."""

import json
import zipfile
from pathlib import Path

import pytest

from icecheck.bundles.bundle import BundleUnusable, Product
from icecheck.bundles.packing import open_bundle, pack
from icecheck.run.output import Output
from icecheck.targets.target import UsageError
from tests.bundles.recorded import PRODUCT
from tests.kit.finished_runs import finished, verdict

NEVER_WRITTEN = "/var/icecheck-was-here"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    output = Output(tmp_path / "report")
    output.finish(finished(verdict("createNamespace.409")))
    return tmp_path / "report"


@pytest.fixture
def bundle(report: Path) -> Path:
    pack(report, report / "b.zip", PRODUCT)
    return report / "b.zip"


def rewritten(
    bundle: Path, members: list[tuple[str, bytes]], how: int = zipfile.ZIP_STORED
) -> Path:
    with zipfile.ZipFile(bundle, "w", how) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return bundle


def members_of(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_equal_reports_give_equal_bytes(report, tmp_path):
    for name in ("one.zip", "two.zip"):
        pack(report, tmp_path / name, PRODUCT)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_manifest_says_what_was_verified_and_what_the_members_are(bundle, report):
    opened = open_bundle(bundle)
    assert opened.manifest["product"] == {
        "organization": "Acme",
        "product": "Acme Catalog",
        "version": "7.1",
        "contact": "conformance@acme.example",
    }
    assert opened.manifest["run_id"] == "abc123"
    assert opened.manifest["expectations"] is None
    assert [m["name"] for m in opened.manifest["members"]] == ["run.json", "exchanges.jsonl.zst"]
    assert opened.members["run.json"] == (report / "run.json").read_bytes()
    assert all(m["bytes"] == len(opened.members[m["name"]]) for m in opened.manifest["members"])


def test_an_expectations_file_is_told_by_its_hash(report):
    document = json.loads((report / "run.json").read_text())
    document["expectations"] |= {"file": "e.toml", "sha256": "sha256:ab", "entries": 2}
    (report / "run.json").write_text(json.dumps(document))
    pack(report, report / "b.zip", Product())
    told = open_bundle(report / "b.zip").manifest["expectations"]
    assert told == {"file": "e.toml", "sha256": "sha256:ab", "entries": 2}


def test_a_bundle_that_cannot_be_written_leaves_nothing(report, tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        pack(report, tmp_path / "missing" / "b.zip", PRODUCT)
    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        pack(report, tmp_path / "taken", PRODUCT)
    assert {p.name for p in tmp_path.iterdir()} == {"report", "taken"}


@pytest.mark.parametrize("lacking", ["run.json", "exchanges.jsonl.zst"])
def test_a_directory_without_a_whole_report_is_not_packed(report, lacking):
    (report / lacking).unlink()
    with pytest.raises(UsageError, match=lacking):
        pack(report, report / "b.zip", PRODUCT)
    assert not (report / "b.zip").exists()


def test_a_truncated_bundle_is_none(bundle):
    content = bundle.read_bytes()
    for length in (0, 10, len(content) // 2, len(content) - 5):
        bundle.write_bytes(content[:length])
        with pytest.raises(BundleUnusable, match="no bundle, or is truncated"):
            open_bundle(bundle)


def test_a_bundle_of_a_newer_form_is_named(bundle):
    members = members_of(bundle)
    manifest = json.loads(members["manifest.json"]) | {"bundle_version": "2.0"}
    rewritten(bundle, [*(members | {"manifest.json": json.dumps(manifest).encode()}).items()])
    with pytest.raises(BundleUnusable, match=r"format 2.0; this icecheck reads 1.x"):
        open_bundle(bundle)


@pytest.mark.parametrize(
    "manifest", [b"", b"[]", b"{}", b'{"kind": "IcebergRestConformanceReport"}', b"[" * 100_000]
)
def test_a_zip_file_without_a_manifest_is_no_bundle(bundle, manifest):
    rewritten(bundle, [*(members_of(bundle) | {"manifest.json": manifest}).items()])
    with pytest.raises(BundleUnusable, match="no bundle of icecheck"):
        open_bundle(bundle)


@pytest.mark.parametrize("name", ["../../run.json", NEVER_WRITTEN, "a/run.json", "run.json/"])
def test_a_member_of_another_name_is_refused(bundle, name):
    rewritten(bundle, [*members_of(bundle).items(), (name, b"x")])
    with pytest.raises(BundleUnusable, match="is no bundle: it holds"):
        open_bundle(bundle)
    assert not Path(NEVER_WRITTEN).exists()


def test_a_member_that_is_there_twice_is_refused(bundle):
    members = [*members_of(bundle).items()]
    with pytest.warns(UserWarning, match="Duplicate"):
        rewritten(bundle, [*members, members[1]])
    with pytest.raises(BundleUnusable, match=r"run\.json twice"):
        open_bundle(bundle)


def test_a_bundle_without_a_member_is_damaged(bundle):
    members = members_of(bundle)
    del members["exchanges.jsonl.zst"]
    rewritten(bundle, [*members.items()])
    with pytest.raises(BundleUnusable, match=r"holds exchanges.jsonl.zst not at all"):
        open_bundle(bundle)


def test_a_member_that_inflates_without_end_is_not_read(bundle):
    members = members_of(bundle) | {"manifest.json": bytes(1 << 24)}
    rewritten(bundle, [*members.items()], zipfile.ZIP_DEFLATED)
    assert bundle.stat().st_size < 1 << 20
    with pytest.raises(BundleUnusable, match="longer than"):
        open_bundle(bundle)
