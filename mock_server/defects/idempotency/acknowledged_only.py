"""Defects of requests with keys that are answered, remembered, and never carried out."""

from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.keying import FaithfulKeys, acknowledge_only, keys_of
from icecheck.mock_server.defects.kit.requests import sent_json, with_json

_QUEUED = "A request with a key is put into a queue, and its answer is written from the request."

declare_each(
    ("key-acknowledges-transactions", "idempotency.transaction-replayed", _QUEUED,
     "A writer is told that its transaction is committed, and its rows are lost.",
     by(acknowledge_only, "commitTransaction")),
    ("key-acknowledges-commits", "idempotency.no-further-effect", _QUEUED,
     "A writer is told that it has committed, and its rows are lost.",
     by(acknowledge_only, "updateTable")),
    ("key-acknowledges-creations", "idempotency.at-once", _QUEUED,
     "A writer works with a table that is not there.",
     by(acknowledge_only, "createTable")),
    ("key-acknowledges-drops", "idempotency.drop-replayed", _QUEUED,
     "A table that was dropped, perhaps by law, is there for all to read.",
     by(acknowledge_only, "dropTable")),
    ("key-acknowledges-renames", "idempotency.rename-replayed", _QUEUED,
     "A script that swaps tables goes on with the old one.",
     by(acknowledge_only, "renameTable")),
    ("key-acknowledges-registrations", "idempotency.registration-replayed", _QUEUED,
     "A migration is told that a table is there, and it is not.",
     by(acknowledge_only, "registerTable")),
    ("key-acknowledges-namespaces", "idempotency.success-replayed", _QUEUED,
     "A client goes on in a namespace that is not there.",
     by(acknowledge_only, "createNamespace")),
    ("key-acknowledges-drops-of-namespaces", "idempotency.success-replayed", _QUEUED,
     "A namespace that was dropped is there for all to use.",
     by(acknowledge_only, "dropNamespace")),
    ("key-acknowledges-properties", "idempotency.properties-replayed", _QUEUED,
     "A change of properties is acknowledged, and nobody ever sees it.",
     by(acknowledge_only, "updateProperties")),
    ("key-acknowledges-view-changes", "idempotency.views-replayed", _QUEUED,
     "Readers go on with the old query of a view that was replaced.",
     by(acknowledge_only, "replaceView")),
    ("key-acknowledges-view-renames", "idempotency.view-rename-replayed", _QUEUED,
     "Queries do not find a view under the name that it was given.",
     by(acknowledge_only, "renameView")),
    ("key-acknowledges-view-drops", "idempotency.view-drop-replayed", _QUEUED,
     "A view that was dropped is there for all to read.",
     by(acknowledge_only, "dropView")),
    ("key-acknowledges-view-creations", "idempotency.view-creation-replayed", _QUEUED,
     "An engine works with a view that is not there.",
     by(acknowledge_only, "createView")),
    ("key-acknowledges-view-registrations", "idempotency.view-registration-replayed", _QUEUED,
     "A migration is told that a view is there, and it is not.",
     by(acknowledge_only, "registerView")),
)  # fmt: skip


@defect(
    "key-acknowledges-the-last-change",
    breaks="idempotency.transaction-replayed",
    suffering="A writer is told that its transaction is committed, and half of it is lost.",
    on=keys_of("commitTransaction"),
)
def _last_change(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Of a transaction with a key only the last change is carried out."""
    body = sent_json(call)
    return faithful(state, with_json(call, body | {"table-changes": body["table-changes"][-1:]}))
