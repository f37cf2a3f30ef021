"""registerTable: a table from an existing metadata file."""

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.locations import check_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.metadata.encoding import decode, encode
from icecheck.mock_server.operations.name_conflicts import name_taken
from icecheck.mock_server.operations.registry import operation
from icecheck.mock_server.protocol import names, problem
from icecheck.mock_server.protocol.json_input import decode_json
from icecheck.mock_server.security.vending import table_path, with_access

_FILE_NAME_PART = ".metadata.json"


class RegisterTableRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """The body of registerTable (document L3533)."""

    name: str
    metadata_location: str
    overwrite: bool | None = None


@operation("registerTable")
def register_table(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Register a table as its metadata file says; with `overwrite` also over another table.

    A table never replaces a view. The file is neither moved nor rewritten: the answer has the
    location and uuid it was given.
    """
    request = decode_json(RegisterTableRequest, call.request.body)
    name = names.new_name(request.name)
    if call.namespace not in state.namespaces:
        raise problem.no_such_namespace(call.namespace)
    kind = state.kind_of(call.namespace, name)
    if kind == "view" or (kind == "table" and not request.overwrite):
        raise name_taken(call.namespace, name, kind, "table")
    location = request.metadata_location
    if _FILE_NAME_PART not in location.rpartition("/")[2]:
        raise problem.bad_request(f"Not the name of a metadata file: {location}")
    try:
        content = context.files.read(location)
    except OSError as error:
        raise problem.bad_request(f"Cannot read the metadata file: {error}") from error
    metadata = decode(content)
    check_places(context, metadata.location, metadata.properties)
    entry = publication.entry_of(context, metadata, location, encode(metadata))
    reply = publication.load_reply(entry)
    reply = with_access(context, call, metadata, reply, table_path(call, name))
    return Outcome(state.with_table(call.namespace, name, entry), reply)
