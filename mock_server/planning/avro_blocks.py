"""Decompresses the blocks of an Avro file within a bound, and refuses records without bytes.

fastavro decompresses a block whatever its size, and reads as many records as a block announces. A
file of some kilobytes could so fill the memory.
"""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from icecheck.mock_server.storage.files import FILE_BYTES_MAX

_SYNC_BYTES = 16


def plain_blocks(source: io.BytesIO, codec: str, bytes_max: int = FILE_BYTES_MAX) -> bytes:
    """Return the rest of a file, its header read, as blocks without compression.

    ValueError if the file has more than ``bytes_max`` uncompressed bytes, a block has more records
    than bytes, or the codec is unknown; the codecs' and fastavro's errors for damaged bytes.
    """
    import fastavro

    plain = io.BytesIO()
    left = bytes_max
    for count, data, sync in _blocks(source):
        content = _decompressed(codec, data, left)
        left -= len(content)
        if count > len(content):
            raise ValueError(f"{count} records in a block of {len(content)} bytes")
        fastavro.schemaless_writer(plain, "long", count)
        fastavro.schemaless_writer(plain, "bytes", content)
        plain.write(sync)
    return plain.getvalue()


def _blocks(source: io.BytesIO) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number of records, the compressed bytes and the sync marker of each block."""
    import fastavro

    while source.tell() < source.getbuffer().nbytes:
        count: Any = fastavro.schemaless_reader(source, "long", None)
        data: Any = fastavro.schemaless_reader(source, "bytes", None)
        yield count, data, source.read(_SYNC_BYTES)


def _decompressed(codec: str, data: bytes, bytes_max: int) -> bytes:
    decompress = _CODECS.get(codec)
    if decompress is None:
        raise ValueError(f"the codec {codec[:40]} is not read here: use one of {[*_CODECS]}")
    # A bound of 0 would mean none.
    content = decompress(data, bytes_max + 1)
    if len(content) > bytes_max:
        raise ValueError("larger than the bytes that are read of one file")
    return content


_CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": lambda data, _: data,
    "deflate": lambda data, most: zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most),
    "bzip2": lambda data, most: bz2.BZ2Decompressor().decompress(data, most),
    "xz": lambda data, most: lzma.LZMADecompressor().decompress(data, most),
}


def refuse_empty_items(schema: Any) -> None:
    """Raise ValueError for a schema with arrays or maps of values that have no bytes.

    A few bytes would announce any number of them.
    """
    match schema:
        case list():
            for branch in schema:
                refuse_empty_items(branch)
        case {"type": "array", "items": items} if _is_empty(items):
            raise ValueError("an array of values without bytes")
        case dict():
            for part in (schema.get("type"), schema.get("items"), schema.get("values")):
                refuse_empty_items(part)
            for field in schema.get("fields") or ():
                refuse_empty_items(field)


def _is_empty(schema: Any) -> bool:
    """Return whether values of a schema take no bytes."""
    match schema:
        case "null" | {"type": "null"} | {"type": "fixed", "size": 0}:
            return True
        case {"type": "record", "fields": [*fields]}:
            return all(_is_empty(field["type"]) for field in fields)
        case {"type": dict() as inner}:
            return _is_empty(inner)
    return False
