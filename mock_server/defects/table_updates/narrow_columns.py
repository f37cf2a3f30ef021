"""Defects of values that are kept in database columns too narrow for them."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect, through
from icecheck.mock_server.defects.kit.json_values import as_double, numbers
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body
from icecheck.mock_server.defects.kit.updating import FaithfulUpdate, alter_update, read_update
from icecheck.mock_server.metadata.builder import Draft

_NAME_LENGTH_MAX = 128
_INT32_MAX = 2**31 - 1
_BASIC_PLANE_END = 0x10000


@defect(
    "table-name-cut-to-column",
    on=request_of("createTable"),
    breaks="names.long",
    suffering="A table is created under a name by which nobody finds it.",
)
def _table_name_cut(body: dict[str, Any]) -> dict[str, Any]:
    """A table is created under the first 128 characters of its name."""
    name = body.get("name")
    return {**body, "name": name[:_NAME_LENGTH_MAX]} if isinstance(name, str) else body


@defect(
    "property-characters-beyond-basic-plane",
    on=through(alter_update, "set-properties"),
    breaks="update.set-properties.effect",
    suffering="Comments and owners come back with question marks in them.",
)
def _basic_plane_only(faithful: FaithfulUpdate, update: Any, draft: Draft) -> None:
    """A table property keeps question marks for characters of four bytes in UTF-8."""

    def narrow(text: str) -> str:
        return "".join(c if ord(c) < _BASIC_PLANE_END else "?" for c in text)

    kept = {narrow(key): narrow(value) for key, value in update.updates.items()}
    faithful(structs.replace(update, updates=kept), draft)


@defect(
    "namespace-property-empty-is-null",
    on="updateProperties",
    breaks="loadNamespaceMetadata.all-properties",
    suffering="A comment that was emptied on purpose is missing, and tools put the old one back.",
)
def _empty_is_null(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace property that is set to the empty string is not there afterwards."""
    outcome = faithful(state, call)
    entry = outcome.state.namespace(call.namespace)
    kept = {} if entry is None else {k: v for k, v in entry.properties.items() if v}
    return structs.replace(outcome, state=outcome.state.with_namespace(call.namespace, kept))


declare_each(
    ("update-ref-age-in-32-bits", "update.set-snapshot-ref.retention",
     "The age of a ref is at most what 32 bits hold.",
     "Tags that were to be kept for years expire after 24 days.",
     by(
         read_update,
         "set-snapshot-ref",
         lambda update, _: structs.replace(
             update, max_ref_age_ms=update.max_ref_age_ms and min(update.max_ref_age_ms, _INT32_MAX)
         ),
     )),
    ("transaction-numbers-as-doubles", "transaction.every-table-changes",
     "A transaction's numbers are read as doubles, those of a single commit are not.",
     "Snapshots that a transaction adds have other ids than their writer knows.",
     by(alter_request_body, "commitTransaction", lambda body: numbers(body, as_double))),
)  # fmt: skip
