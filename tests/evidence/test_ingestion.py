"""What is taken in, once whatever its name is; and what is not, with the reason."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from icecheck.reports.evidence import heads, lines, told
from icecheck.reports.evidence.declared_tables import (
    CHECKS,
    DOCUMENTS,
    RUNS,
    VERSION,
    VERSION_PROPERTY,
)
from icecheck.reports.evidence.documents import rows_of
from icecheck.reports.evidence.sorting import ORPHAN
from tests.evidence.conftest import Evidence
from tests.evidence.reports_made import document, exchange, packed, put

pytestmark = pytest.mark.spark

FIVE = [exchange(number, elapsed_ms=number) for number in range(1, 6)]
COUNTS = """
    SELECT (SELECT count(*) FROM {silver.runs}), (SELECT count(*) FROM {silver.checks}),
      (SELECT count(*) FROM {bronze.lines}), (SELECT count(*) FROM {silver.exchanges})
"""


def reasons(evidence: Evidence) -> dict[tuple[str, int], str]:
    """Return (directory and file, line) -> reason of what was put aside."""
    return {
        ("/".join(each["file"].split("/")[-2:]), each["line"]): each["reason"]
        for each in told.put_aside(evidence.store)
    }


@pytest.mark.complete("three ingestions; the planted reports hold a copy too")
def test_a_run_is_taken_in_once_whatever_its_name_is(evidence: Evidence, tmp_path: Path) -> None:
    first = put(tmp_path / "in" / "first", document("a"), FIVE)
    done = evidence.take_in(tmp_path / "in")
    assert (len(done.reports), done.lines) == (1, 5)
    before = evidence.content()
    assert len(before["silver.exchanges"]) == 5

    again = evidence.take_in(tmp_path / "in")
    assert (len(again.reports), again.known) == (0, 2)
    shutil.copytree(first, tmp_path / "in" / "copy")
    (tmp_path / "in" / "copy" / "run.json").rename(tmp_path / "in" / "copy" / "run-nightly.json")
    shutil.move(first, tmp_path / "in" / "moved")
    copied = evidence.take_in(tmp_path / "in")
    assert (len(copied.reports), len(copied.others)) == (0, 4)
    assert evidence.content() == before
    assert {each["state"] for each in told.put_aside(evidence.store)} == {"duplicate"}


@pytest.mark.complete("the pieces of a document; each other test here reads them too")
def test_a_large_document_is_kept_in_pieces_and_read_as_one(
    evidence: Evidence, tmp_path: Path
) -> None:
    """Its sentences are longer than a piece, in characters of one to four bytes."""
    large = document("large")
    words = "aé€😀" * (heads.PIECE_CHARACTERS // 2)
    large["checks"][0]["summary"] = words
    place = put(tmp_path / "in" / "large", large)
    (place / "run.json").write_text(json.dumps(large, ensure_ascii=False), encoding="utf-8")
    put(tmp_path / "in" / "small", document("small", outcomes={"only.check": "pass"}))
    assert len(evidence.take_in(tmp_path / "in").reports) == 2
    pieces = evidence.rows(
        "SELECT file, piece, content, sha256 FROM {bronze.documents} ORDER BY file, piece"
    )
    of_large = [row for row in pieces if "/large/" in row[0]]
    assert [row[1] for row in of_large] == [0, 1, 2]
    assert [row[1] for row in pieces if row not in of_large] == [0]
    received = "".join(row[2] for row in of_large).encode()
    assert received == (tmp_path / "in" / "large" / "run.json").read_bytes()
    assert {row[3] for row in of_large} == {f"sha256:{hashlib.sha256(received).hexdigest()}"}
    checks = evidence.rows("SELECT check_id, summary FROM {silver.checks} ORDER BY check_id")
    assert len(checks) == 3
    assert (large["checks"][0]["id"], words) in checks


def test_what_version_1_took_in_is_read_without_a_number() -> None:
    content = json.dumps(document("old"))
    row = ("an id", "2026-03-01", "run.json", len(content), "sha256:00", None, content)
    stored = pd.DataFrame([row], columns=[*DOCUMENTS.columns])
    for table, count in ((RUNS, 1), (CHECKS, 2)):
        assert sum(len(rows) for rows in rows_of(table)(iter([stored]))) == count


@pytest.mark.complete("three ingestions, one after the other")
def test_exchanges_that_come_later_are_taken_in_then(evidence: Evidence, tmp_path: Path) -> None:
    place = put(tmp_path / "in" / "run", document("a"))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(COUNTS) == [(1, 2, 0, 0)]
    wrong = [b"no exchange"] * 9
    (place / "exchanges.jsonl.zst").write_bytes(packed([*FIVE[:2], *wrong]))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(COUNTS) == [(1, 2, 11, 2)]
    assert len(reasons(evidence)) == 9
    (place / "exchanges.jsonl.zst").write_bytes(packed(FIVE)[:-3])
    evidence.take_in(tmp_path / "in")
    assert len(reasons(evidence)) == 1
    (place / "exchanges.jsonl.zst").write_bytes(packed(FIVE))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(COUNTS) == [(1, 2, 5, 5)]
    assert reasons(evidence) == {}


@pytest.mark.complete("two ingestions, one after the other")
def test_a_run_json_that_comes_later_brings_its_exchanges(
    evidence: Evidence, tmp_path: Path
) -> None:
    place = put(tmp_path / "in" / "run", document("a"), FIVE)
    (place / "run.json").rename(tmp_path / "kept")
    evidence.take_in(tmp_path / "in")
    assert reasons(evidence) == {("run/exchanges.jsonl.zst", 0): ORPHAN}
    (tmp_path / "kept").rename(place / "run.json")
    evidence.take_in(tmp_path / "in")
    assert evidence.rows(COUNTS) == [(1, 2, 5, 5)]
    assert reasons(evidence) == {}


@pytest.mark.complete("three ingestions, one after the other")
def test_what_was_begun_is_completed_whatever_else_was_refused(
    evidence: Evidence, tmp_path: Path
) -> None:
    put(tmp_path / "mine", document("a"), FIVE)
    evidence.take_in(tmp_path / "mine")
    # As after an ingestion that was killed: what says that they are whole is written last.
    for table in ("bronze.files", "bronze.reports", "silver.checks", "silver.exchanges"):
        evidence.store.spark.sql(f"DELETE FROM {evidence.store.name(table)}")  # noqa: S608
    put(tmp_path / "other", document("a") | {"complete": False}, FIVE)
    evidence.take_in(tmp_path / "other")
    evidence.take_in(tmp_path / "mine")
    assert evidence.rows(COUNTS) == [(1, 2, 5, 5)]


def planted(root: Path) -> dict[tuple[str, int], str]:
    """Write reports with one mistake each; return a part of the reason for each."""
    expected = {}

    def wrong(name: str, reason: str, content: bytes | None = None, line: int = 0) -> Path:
        # What is wrong in lines is looked for in those of a report that states nothing.
        put(root / name, document(f"run{len(expected)}"), FIVE, stated=not line)
        if content is not None:
            (root / name / "run.json").write_bytes(content)
            expected[f"{name}/exchanges.jsonl.zst", 0] = ORPHAN
        file = "exchanges.jsonl.zst" if line else "run.json"
        expected[f"{name}/{file}", line] = reason
        return root / name

    def text(change: Callable[[dict], object]) -> bytes:
        made = document(f"run{len(expected)}")
        change(made)
        return json.dumps(made).encode()

    cut = wrong("truncated", "was not written to its end; 4 lines were read", line=5)
    whole = packed([*FIVE[:4], exchange(5, body="x" * 200_000)])
    # Of the last line nothing is left: what was inflated ends within it.
    (cut / "exchanges.jsonl.zst").write_bytes(whole[:-20])
    wrong("schema", "has not the form of a report: $.timing", text(lambda d: d.update(timing=3)))
    wrong("record", "is a record of a run", text(lambda d: d.pop("report_id")))
    wrong("version", "report_version is 1.9", text(lambda d: d.update(report_version="1.9")))
    wrong("later", "report_version is 2.0", text(lambda d: d.update(report_version="2.0")))
    future = text(lambda d: d.update(generated_at="2036-01-01T00:00:00+00:00"))
    wrong("future", "is in the future", future)
    wrong("empty", "is empty", b"")
    wrong("half", "not written to its end", text(lambda _: None)[:-100])
    wrong("not-json", "is no report of icecheck", b"[1]")
    wrong("bytes", "is not UTF-8 (byte ", text(lambda _: None).replace(b"Acme", b"\xff\xfe"))
    quoted = text(lambda d: d.update(report_id="') OR ('1'='1"))
    wrong("quoted", "report", quoted)
    long = wrong("long", "more than", line=2)
    huge = exchange(2, body="x" * (lines.LINE_BYTES_MAX + 1))
    (long / "exchanges.jsonl.zst").write_bytes(packed([FIVE[0], huge, *FIVE[2:]]))
    bad = wrong("bad-lines", "is not UTF-8", line=1)
    rest = [b'{"check": 3}', b"{", b'"\xff"', FIVE[4]]
    (bad / "exchanges.jsonl.zst").write_bytes(packed([b'{"\xff": 1}', *rest]))
    expected["bad-lines/exchanges.jsonl.zst", 2] = "is no exchange"
    expected["bad-lines/exchanges.jsonl.zst", 3] = "is no JSON"
    expected["bad-lines/exchanges.jsonl.zst", 4] = "is not UTF-8"
    none = wrong("no-bytes", "the file is empty", line=1)
    (none / "exchanges.jsonl.zst").write_bytes(b"")
    changed = put(root / "changed", document("changed"), [*FIVE, exchange(6)])
    (changed / "exchanges.jsonl.zst").write_bytes(packed(FIVE[:4]))
    expected["changed/exchanges.jsonl.zst", 0] = "run.json beside it states other exchanges"
    return expected


@pytest.mark.complete("half a minute of Spark; the usual command takes in runs without a fault")
def test_ten_planted_reports_end_in_the_quarantine_and_the_rest_goes_in(
    evidence: Evidence, tmp_path: Path
) -> None:
    expected = planted(tmp_path / "in")
    put(tmp_path / "in" / "zz-good", document("good"), FIVE)
    put(tmp_path / "in" / "zz-same", document("good"), FIVE)
    other = document("good") | {"complete": False}
    put(tmp_path / "in" / "zzz-other-content", other, FIVE)
    expected["zz-same/run.json", 0] = "the same report as"
    expected["zz-same/exchanges.jsonl.zst", 0] = "the same report as"
    expected["zzz-other-content/run.json", 0] = "with other content"
    expected["zzz-other-content/exchanges.jsonl.zst", 0] = ORPHAN
    evidence.take_in(tmp_path / "in")
    found = reasons(evidence)
    assert found.keys() == expected.keys()
    assert [(key, found[key]) for key, part in expected.items() if part not in found[key]] == []
    taken = evidence.rows(
        "SELECT count(*) FROM {silver.exchanges} UNION ALL SELECT count(*) FROM {silver.runs}"
    )
    assert taken == [(4 + 4 + 1 + 5,), (6,)]
    before = evidence.content()
    evidence.take_in(tmp_path / "in")
    assert evidence.content() == before


@pytest.mark.complete("one ingestion; each other report states a zone")
def test_a_time_without_a_zone_is_utc_on_every_machine(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "in", document("a", "2026-03-01T23:30:00"), FIVE)
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        evidence.take_in(tmp_path / "in")
    finally:
        monkeypatch.undo()
        time.tzset()
    shown = "SELECT CAST(day AS string), CAST(generated_at AS string) FROM {silver.runs}"
    assert evidence.rows(shown) == [("2026-03-01", "2026-03-01 23:30:00")]


@pytest.mark.complete("evidence of another release, which no usual ingestion meets")
def test_evidence_of_a_later_release_is_refused_and_of_an_earlier_one_completed(
    evidence: Evidence, tmp_path: Path
) -> None:
    store = evidence.store
    name = store.name("silver.runs")
    store.spark.sql(f"ALTER TABLE {name} DROP COLUMN headline")
    store.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '0')")
    store.prepare()
    put(tmp_path / "in", document("a"))
    evidence.take_in(tmp_path / "in")
    assert evidence.rows("SELECT count(*) FROM {silver.runs} WHERE headline IS NOT NULL") == [(1,)]
    shown = evidence.rows(f"SHOW TBLPROPERTIES {name}")
    assert (VERSION_PROPERTY, str(VERSION)) in shown
    later = VERSION + 1
    store.spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{VERSION_PROPERTY}' = '{later}')")
    with pytest.raises(Exception, match="of a later release of icecheck"):
        store.prepare()
