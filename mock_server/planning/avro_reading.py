"""Reads whole Avro files; fields are found by Iceberg's ids, logical types are ignored.

fastavro would turn a date beyond the year 9999 into an error and a decimal into a rounded one; the
meaning of a value follows from the table's types, not from Avro's.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from icecheck.mock_server.planning.avro_blocks import plain_blocks, refuse_empty_items
from icecheck.mock_server.planning.failure import PlanningFailure
from icecheck.mock_server.storage.files import FILE_BYTES_MAX

_HEADER = {
    "type": "record",
    "name": "header",
    "fields": [
        {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}},
        {"name": "meta", "type": {"type": "map", "values": "bytes"}},
        {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": 16}},
    ],
}
_MAGIC = b"Obj\x01"
_SCHEMA_KEY = "avro.schema"
_CODEC_KEY = "avro.codec"
_FIELD_ID = "field-id"


class Layout(msgspec.Struct, frozen=True):
    """The names of a record's fields by their ids.

    `nested` has the layouts of fields that are records or arrays of records.
    """

    names: Mapping[int, str]
    nested: "Mapping[int, Layout]"

    def select(self, record: Mapping[str, Any], wanted: Mapping[int, str]) -> dict[str, Any]:
        """Return a record's fields under other names, by id; missing and null ones are left out."""
        selected: dict[str, Any] = {}
        for field_id, name in wanted.items():
            value = record.get(self.names.get(field_id, ""))
            if value is not None:
                selected[name] = value
        return selected

    def within(self, field_id: int) -> "Layout":
        """Return the layout of a nested record; an empty one if there is none."""
        return self.nested.get(field_id, _NO_FIELDS)


_NO_FIELDS = Layout({}, {})


class AvroFile(msgspec.Struct, frozen=True):
    """The content of a file: its metadata, the layout of its records, and the records."""

    metadata: Mapping[str, str]
    layout: Layout
    records: tuple[dict[str, Any], ...]


def read_avro(content: bytes, location: str, bytes_max: int = FILE_BYTES_MAX) -> AvroFile:
    """Read a file of records.

    PlanningFailure if it is not one, or has more than ``bytes_max`` uncompressed bytes.
    """
    try:
        return _read(content, bytes_max)
    except _unreadable() as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise PlanningFailure.unreadable(location, reason) from error


def _read(content: bytes, bytes_max: int) -> AvroFile:
    import fastavro

    source = io.BytesIO(content)
    header: Any = fastavro.schemaless_reader(source, _HEADER, None)
    if header["magic"] != _MAGIC:
        raise ValueError("not an Avro file")
    schema = msgspec.json.decode(header["meta"][_SCHEMA_KEY])
    refuse_empty_items(schema)
    blocks = plain_blocks(source, header["meta"].get(_CODEC_KEY, b"null").decode(), bytes_max)
    plain = msgspec.json.encode(_without_logical_types(schema))
    changed = {**header, "meta": {_SCHEMA_KEY: plain, _CODEC_KEY: b"null"}}
    copy = io.BytesIO()
    fastavro.schemaless_writer(copy, _HEADER, changed)
    copy.write(blocks)
    copy.seek(0)
    records = tuple(_only_records(fastavro.reader(copy)))
    metadata = {key: value.decode() for key, value in header["meta"].items() if key != _SCHEMA_KEY}
    return AvroFile(metadata, _layout(schema), records)


def _unreadable() -> tuple[type[Exception], ...]:
    """Return the errors that damaged bytes can cause, in fastavro and in the codecs under it."""
    import lzma
    import struct
    import zlib

    from fastavro.schema import SchemaParseException

    return (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        MemoryError,
        OSError,
        RecursionError,
        SchemaParseException,
        TypeError,
        ValueError,
        lzma.LZMAError,
        struct.error,
        zlib.error,
    )


def _only_records(records: Iterator[Any]) -> Iterator[dict[str, Any]]:
    for record in records:
        if not isinstance(record, dict):
            raise TypeError("not a file of records")
        yield record


def _without_logical_types(schema: Any) -> Any:
    match schema:
        case dict():
            return {
                key: _without_logical_types(value)
                for key, value in schema.items()
                if key != "logicalType"
            }
        case list():
            return [_without_logical_types(branch) for branch in schema]
        case _:
            return schema


def _layout(schema: Any) -> Layout:
    match schema:
        case [*branches]:
            found = (_layout(branch) for branch in branches)
            return next((layout for layout in found if layout.names), _NO_FIELDS)
        case {"type": "record", "fields": [*fields]}:
            known = {field[_FIELD_ID]: field for field in fields if _FIELD_ID in field}
            names = {field_id: field["name"] for field_id, field in known.items()}
            nested = {field_id: _layout(field["type"]) for field_id, field in known.items()}
            return Layout(names, nested)
        case {"type": "array", "items": items}:
            return _layout(items)
        case _:
            return _NO_FIELDS
