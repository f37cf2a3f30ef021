"""registerTable and registerView: a table or a view from an existing metadata file."""

import msgspec

from icecheck.mock_server.commits import publication
from icecheck.mock_server.commits.view_publication import view_entry
from icecheck.mock_server.core.context import Call, Context, Outcome
from icecheck.mock_server.core.locations import check_places
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.metadata.encoding import decode, encode
from icecheck.mock_server.metadata.view_metadata import decode_view, encode_view
from icecheck.mock_server.operations.name_conflicts import check_free, name_taken
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


class RegisterViewRequest(msgspec.Struct, frozen=True, rename="kebab"):
    """The body of registerView (1.11.0, L3835)."""

    name: str
    metadata_location: str


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
    metadata = decode(_metadata_file(context, location))
    check_places(context, metadata.location, metadata.properties)
    entry = publication.entry_of(context, metadata, location, encode(metadata))
    plain = publication.load_reply(entry)
    reply = with_access(context, call, metadata, plain, table_path(call, name))
    return Outcome(state.with_table(call.namespace, name, entry), reply, plain=plain)


@operation("registerView")
def register_view(context: Context, state: WarehouseState, call: Call) -> Outcome:
    """Register a view as its metadata file says (1.11.0, L1888-L1941); it replaces nothing.

    The file is neither moved nor rewritten, and what it says of the view's uuid and history stays.
    """
    request = decode_json(RegisterViewRequest, call.request.body)
    name = names.new_name(request.name, "view")
    if call.namespace not in state.namespaces:
        raise problem.no_such_namespace(call.namespace)
    check_free(state, call.namespace, name, "view")
    content = _metadata_file(context, request.metadata_location)
    metadata = decode_view(content)
    check_places(context, metadata.location, metadata.properties)
    entry = view_entry(metadata, request.metadata_location, encode_view(metadata))
    return Outcome(state.with_view(call.namespace, name, entry), entry.reply)


def _metadata_file(context: Context, location: str) -> bytes:
    """Return the content of a metadata file; 400 if it cannot be one, or not be read."""
    if _FILE_NAME_PART not in location.rpartition("/")[2]:
        raise problem.bad_request(f"Not the name of a metadata file: {location}")
    try:
        return context.files.read(location)
    except OSError as error:
        raise problem.bad_request(f"Cannot read the metadata file: {error}") from error
