"""From a createTable request to the first metadata of a table."""

from typing import Literal

from msgspec import Struct

from icecheck.mock_server.model import TableMetadata
from icecheck.mock_server.column_types import Int32, StructField

__all__ = ["CreateTableRequest", "decode_create_table", "new_table_metadata"]


class RequestedSchema(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """A schema as a client sends it: the server decides its id."""

    type: Literal["struct"]
    fields: tuple[StructField, ...]
    schema_id: Int32 | None = None
    identifier_field_ids: tuple[Int32, ...] | None = None


class CreateTableRequest(Struct, frozen=True, gc=False, kw_only=True, rename="kebab"):
    """The body of createTable; every optional member may also be an explicit null."""

    name: str
    schema: RequestedSchema
    location: str | None = None
    stage_create: bool | None = None
    properties: dict[str, str] | None = None


def decode_create_table(body: bytes) -> CreateTableRequest:
    """Read a request body; anything malformed is a 400 Problem."""
    raise NotImplementedError


def new_table_metadata(
    request: CreateTableRequest, *, uuid: str, location: str, now_ms: int
) -> TableMetadata:
    """Build the first metadata; `location` is the default, used when the request names none."""
    raise NotImplementedError
