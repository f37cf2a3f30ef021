"""What a run leaves on disk: a whole set of files, the exchanges among them, nothing stale."""

import errno
import hashlib
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from icecheck.reports.exchanges import ExchangeLog, read_exchanges
from icecheck.run.output import FORMATS, Output, ReportInvalid, write_report
from icecheck.targets.target import UsageError
from icecheck.targets.unwritable import Unwritable
from icecheck.wire.exchange import Exchange, Step

SET = {*FORMATS, "exchanges.jsonl.zst"}


def exchange(ordinal, **members):
    given = {
        "check": "createNamespace.created",
        "ordinal": ordinal,
        "step": Step.DO,
        "operation": "createNamespace",
        "method": "POST",
        "url": "http://catalog.test/v1/namespaces?a=%1F",
        "request_headers": (("Accept", "application/json"), ("X-Twice", "1"), ("X-Twice", "2")),
        "request_body": b'{"namespace": ["a"], "n": 1, "f": 1.0, "t": true, "z": null}',
        "status": 200,
        "response_headers": (("content-type", "application/json"),),
        "response_body": '{"é": 1}\r\n'.encode(),
        "elapsed_ms": 1.25,
    }
    return Exchange(**given | members)


EXCHANGES = [
    exchange(1),
    exchange(2, request_body=None, response_body=b""),
    exchange(3, request_body=b"\xff\x00\xfe", response_body=b"\x80binary\n"),
    exchange(4, status=None, error="ConnectError: refused", operation=None, step=Step.UNDO),
]


def test_exchanges_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "x.zst"
    log = ExchangeLog(path)
    for one in EXCHANGES:
        log.write(one)
    log.close()
    assert list(read_exchanges(path)) == EXCHANGES
    assert log.written == len(EXCHANGES)


def test_many_exchanges_come_back_across_chunks(tmp_path):
    many = [exchange(i, response_body=b"x" * 999) for i in range(300)]
    log = ExchangeLog(tmp_path / "x.zst")
    for one in many:
        log.write(one)
    log.close()
    assert [e.ordinal for e in read_exchanges(tmp_path / "x.zst")] == list(range(300))


def test_a_log_on_a_full_disk_says_so_once_and_at_its_end(tmp_path, monkeypatch):
    log = ExchangeLog(tmp_path / "x.zst")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(log, "_stream", SimpleNamespace(write=full, close=lambda: None))
    with pytest.raises(Unwritable, match="No space left"):
        log.write(EXCHANGES[0])
    log.write(EXCHANGES[1])
    with pytest.raises(Unwritable, match="No space left"):
        log.close()
    assert log.written == 0


def test_a_finished_output_is_the_whole_set_and_says_what_it_recorded(tmp_path, runs):
    output = Output(tmp_path / "out")
    for one in EXCHANGES:
        output.record(one)
    page = output.finish(runs["failed"])
    assert page == tmp_path / "out" / "index.html"
    assert {p.name for p in (tmp_path / "out").iterdir()} == SET
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    (artifact,) = document["artifacts"]
    content = (tmp_path / "out" / "exchanges.jsonl.zst").read_bytes()
    assert artifact == {
        "name": "exchanges.jsonl.zst",
        "sha256": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "bytes": len(content),
        "exchanges": 4,
    }


def test_every_run_can_be_written_and_read_back(tmp_path, run):
    write_report(run, tmp_path)
    for name in FORMATS:
        assert (tmp_path / name).read_text(encoding="utf-8")
    assert json.loads((tmp_path / "run.json").read_text())["run_id"] == run.run_id


def test_an_earlier_report_is_put_aside_until_the_next_is_whole(tmp_path, runs):
    write_report(runs["passed"], tmp_path)
    output = Output(tmp_path)
    output.record(EXCHANGES[0])
    assert SET.isdisjoint(p.name for p in tmp_path.iterdir())
    earlier = json.loads((tmp_path / "run.json.earlier").read_text())
    assert earlier["verdict"]["status"] == "conformant"
    output.finish(runs["failed"])
    assert json.loads((tmp_path / "run.json").read_text())["verdict"]["status"] == "not-conformant"
    assert {p.name for p in tmp_path.iterdir()} == SET


def test_an_abandoned_output_leaves_nothing_of_its_own(tmp_path, runs):
    fresh = Output(tmp_path / "fresh")
    fresh.record(EXCHANGES[0])
    fresh.abandon()
    assert not (tmp_path / "fresh").exists()
    write_report(runs["passed"], tmp_path / "used")
    Output(tmp_path / "used").abandon()
    assert {p.name for p in (tmp_path / "used").iterdir()} == {f"{n}.earlier" for n in FORMATS}
    write_report(runs["passed"], tmp_path / "misused")
    Output(tmp_path / "misused").abandon(as_it_was=True)
    assert {p.name for p in (tmp_path / "misused").iterdir()} == set(FORMATS)


def test_a_directory_that_cannot_be_written_is_misuse(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="name another directory"):
        Output(tmp_path / "file")


def test_the_error_file_of_an_earlier_run_is_removed(tmp_path, runs):
    (tmp_path / "error.txt").write_text("old")
    write_report(runs["passed"], tmp_path)
    assert not (tmp_path / "error.txt").exists()


def test_a_run_json_that_breaks_its_schema_is_not_published(tmp_path, runs):
    write_report(runs["passed"], tmp_path)
    broken = replace(runs["failed"], exit_code=99)
    with pytest.raises(ReportInvalid, match="exit_code"):
        write_report(broken, tmp_path)
    assert not (tmp_path / "run.json").exists()
    assert (tmp_path / "run.invalid.json").exists()
    assert "NOT CONFORMANT" in (tmp_path / "summary.md").read_text()
