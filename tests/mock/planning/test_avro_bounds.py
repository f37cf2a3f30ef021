"""What the mock reads of one Avro file is bounded, whatever the file announces."""

import io
import zlib
from pathlib import Path
from typing import Any

import fastavro
import httpx
import pytest

from icecheck.mock_server.planning.avro_reading import read_avro
from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.storage.files import FILE_BYTES_MAX
from tests.mock.planning.handmade import File, Manifest, make_table
from tests.mock.planning.serving import plan

WORDS = {"type": "record", "name": "r", "fields": [{"name": "word", "type": "string"}]}
COLUMNS = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "type": "long", "required": False}],
}
NOTHING = {"type": "record", "name": "nothing", "fields": []}
EMPTY = ["null", NOTHING, {"type": "fixed", "name": "f", "size": 0}]


def avro_file(schema: Any, records: list[Any], codec: str = "null") -> bytes:
    buffer = io.BytesIO()
    fastavro.writer(buffer, schema, records, codec=codec, sync_marker=b"s" * 16)
    return buffer.getvalue()


def long(number: int) -> bytes:
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, "long", number)
    return buffer.getvalue()


def with_block(schema: Any, codec: str, count: int, data: bytes) -> bytes:
    """Return a file whose one block announces ``count`` records."""
    header = avro_file(schema, [], codec)
    return header + long(count) + long(len(data)) + data + b"s" * 16


def deflated(size: int) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    zeros = bytes(1 << 20)
    parts = [compressor.compress(zeros) for _ in range(size // len(zeros))]
    return b"".join([*parts, compressor.flush()])


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_every_codec_is_read(codec: str) -> None:
    records = [{"word": f"w{at}" * 100} for at in range(500)]
    assert read_avro(avro_file(WORDS, records, codec), "f").records == tuple(records)


def test_a_block_that_decompresses_to_more_than_a_file_may_have_is_not_read() -> None:
    bomb = with_block(WORDS, "deflate", 1, deflated(FILE_BYTES_MAX + (1 << 20)))
    assert len(bomb) < 1 << 20
    with pytest.raises(PlanningFailure):
        read_avro(bomb, "f")


@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
def test_all_blocks_of_a_file_share_one_bound(codec: str) -> None:
    content = avro_file(WORDS, [{"word": "w" * 10_000}] * 40, codec)
    assert len(read_avro(content, "f").records) == 40
    with pytest.raises(PlanningFailure):
        read_avro(content, "f", bytes_max=300_000)


def test_a_block_has_no_more_records_than_bytes() -> None:
    with pytest.raises(PlanningFailure):
        read_avro(with_block(NOTHING, "null", 100_000, b""), "f")


@pytest.mark.parametrize("items", EMPTY)
def test_an_array_of_values_without_bytes_is_not_read(items: Any) -> None:
    """Ten bytes would announce any number of them."""
    field = {"name": "many", "type": ["null", {"type": "array", "items": items}]}
    schema = {"type": "record", "name": "r", "fields": [field]}
    data = long(1) + long(100_000) + long(0)
    with pytest.raises(PlanningFailure):
        read_avro(with_block(schema, "null", 1, data), "f")


def test_a_plan_of_a_manifest_beyond_the_bound_fails(http: httpx.Client, tmp_path: Path) -> None:
    table = make_table(http, tmp_path, "t", COLUMNS)
    table.commit(Manifest([File("a.parquet", ())]))
    file = tmp_path / "t" / "manifest-1001-0.avro"
    file.write_bytes(with_block(WORDS, "deflate", 1, deflated(FILE_BYTES_MAX + (1 << 20))))
    answer = plan(http, "t")
    assert answer["status"] == "failed"
    assert answer["error"]["type"] == "RuntimeIOException"
