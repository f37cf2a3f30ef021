"""What is read of a line of exchanges: exactly what it says, or a reason; in bounded memory."""

import base64
import hashlib
import json
import math
import tracemalloc
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import zstandard

from icecheck.reports.evidence import lines
from icecheck.reports.evidence.declared_tables import LINES
from tests.evidence.conftest import Evidence
from tests.evidence.reports_made import document, exchange, packed, put


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def read(path: Path, *given: Any) -> pd.DataFrame:
    """Return the rows of bronze of a file with these lines."""
    content = packed(given)
    path.write_bytes(content)
    asked = pd.DataFrame(
        [(f"file://{path}", "an id", "2026-03-01", digest(content))],
        columns=["uri", "report_id", "day", "exchanges_sha256"],
    )
    rows = [*lines.exchange_lines(iter([asked]))]
    found = pd.concat(rows)
    assert [*found.columns] == [*LINES.columns]
    return found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"elapsed_ms": math.nan}, "is no JSON"),
        ({"elapsed_ms": math.inf}, "is no JSON"),
        ({"status": 3_000_000_000}, "$.status"),
        ({"status": 3e9}, "$.status"),
        ({"ordinal": 2**40}, "$.ordinal"),
        ({"ordinal": -(2**31) - 1}, "$.ordinal"),
        ({"response_body": {"base64": "@@@"}}, "base64"),
    ],
)
def test_a_number_that_no_column_holds_is_put_aside(
    tmp_path: Path, changed: dict, reason: str
) -> None:
    found = read(tmp_path / "x.jsonl.zst", exchange(1), exchange(2) | changed)
    first, second = found.to_dict("records")
    assert first["problem"] is None
    assert reason in second["problem"]
    assert second["line"] == 2


def test_a_line_with_half_a_surrogate_pair_is_an_exchange(tmp_path: Path) -> None:
    odd = exchange(1, body="\ud800") | {"url": "http://catalog.test/\udfff"}
    too_much = json.dumps(odd | {"elapsed_ms": 1.5}).replace("1.5", "1e999").encode()
    found = read(tmp_path / "x.jsonl.zst", odd, odd | {"elapsed_ms": math.nan}, too_much)
    good, nan, infinite = found.to_dict("records")
    assert good["problem"] is None
    good["url"].encode()
    assert "is no JSON" in nan["problem"]
    assert "elapsed_ms" in infinite["problem"]


def test_a_line_that_is_nested_too_deeply_is_put_aside(tmp_path: Path) -> None:
    deep = b"[" * 200_000
    for line in (deep, b'{"later": ' + deep, b'{"later": "\\ud800", "more": ' + deep):
        (found,) = read(tmp_path / "x.jsonl.zst", line).to_dict("records")
        assert "nested too deeply" in found["problem"] or "is no " in found["problem"]


def test_what_is_read_of_a_line_is_what_it_says(tmp_path: Path) -> None:
    said = exchange(7, status=None, elapsed_ms=3) | {
        "request_body": {"base64": base64.b64encode(b"\xff\x00").decode()},
        "response_body": {"text": "é€"},
        "raced": True,
    }
    (found,) = read(tmp_path / "x.jsonl.zst", said).to_dict("records")
    assert json.loads(found["content"]) == said
    same = ("ordinal", "step", "operation", "method", "url", "status", "elapsed_ms", "error")
    assert [found[name] for name in same] == [said[name] for name in same]
    assert (found["check_id"], found["raced"]) == ("one.check", True)
    assert (found["request_bytes"], found["response_bytes"]) == (2, 5)
    assert [*map(list, found["request_headers"])] == said["request_headers"]


def test_a_file_that_is_not_what_was_looked_at_says_so_in_its_last_line(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl.zst"
    whole = packed([exchange(number, body="x" * number) for number in range(1, 400)])
    for content in (packed([exchange(1)]), packed([b"no exchange"]), whole[:-30], b"", None):
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        *_, last = lines.lines_of(f"file://{file}", digest(whole))
        assert last.problem.startswith(lines.UNREAD)
    file.write_bytes(whole[:-30])
    *_, last = lines.lines_of(f"file://{file}", digest(whole[:-30]))
    assert last.problem.startswith("the file was not written to its end")


def test_what_is_inflated_at_once_is_bounded(tmp_path: Path) -> None:
    """A quarter of a GiB of one character is some KiB in the file."""
    packer = zstandard.ZstdCompressor().compressobj()
    block = b"x" * (1 << 20)
    packed = [*(packer.compress(block) for _ in range(256)), packer.compress(b"\n")]
    content = b"".join([*packed, packer.flush()])
    assert len(content) < 1 << 16
    (tmp_path / "bomb.jsonl.zst").write_bytes(content)
    tracemalloc.start()
    try:
        ((line, peak),) = [
            (line, tracemalloc.get_traced_memory()[1])
            for line in lines.lines_of(f"file://{tmp_path}/bomb.jsonl.zst", digest(content))
        ]
    finally:
        tracemalloc.stop()
    assert f"{256 << 20} bytes, more than 64 MiB" in line.problem
    assert len(line.content) == 200
    # The beginning of the line, once more while it is put together, and what was inflated at once.
    assert peak < 2 * lines.LINE_BYTES_MAX + (40 << 20)


@pytest.mark.spark
@pytest.mark.complete("an exchange of 20 MB; that silver has what bronze read is seen with each")
def test_an_exchange_with_a_large_body_is_read_whole(evidence: Evidence, tmp_path: Path) -> None:
    large = exchange(2, body="x" * 20_100_000)
    put(tmp_path / "in", document("a"), [exchange(1), large, exchange(3)])
    done = evidence.take_in(tmp_path / "in")
    assert (done.lines, done.bad_lines) == (3, 0)
    query = "SELECT line, check_id, status, response_bytes FROM {silver.exchanges} ORDER BY line"
    assert evidence.rows(query) == [
        (1, "one.check", 200, 2),
        (2, "one.check", 200, 20_100_000),
        (3, "one.check", 200, 2),
    ]
