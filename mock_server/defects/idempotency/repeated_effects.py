"""Defects of requests that come again with their keys: answered as before, and done once more."""

from icecheck.mock_server.core.context import Call, Reply
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.keying import carry_out_again
from icecheck.mock_server.defects.kit.requests import sent_json, with_json


def _touching(call: Call) -> Call:
    """Return a commit that marks the table, whatever the requirements of the call are."""
    mark = {"action": "set-properties", "updates": {"repeated": "yes"}}
    return with_json(call, sent_json(call) | {"requirements": [], "updates": [mark]})


def _refused(reply: Reply) -> bool:
    return reply.status >= 300


def _done(reply: Reply) -> bool:
    return reply.status < 300


_KEPT_BESIDE = (
    "Answers are kept beside the operations: what comes again is answered from there, and queued "
    "all the same."
)

declare_each(
    ("key-repeats-commits", "idempotency.no-further-effect", _KEPT_BESIDE,
     "A commit that is repeated undoes what others have committed since, and nobody is told.",
     by(carry_out_again, "updateTable")),
    ("key-repeats-creations", "idempotency.no-further-effect", _KEPT_BESIDE,
     "A table is there twice, once without its rows, after a creation was repeated.",
     by(carry_out_again, "createTable")),
    ("key-marks-repetitions", "idempotency.commit-replayed",
     "A commit that comes again leaves a version of the metadata, to tell of it.",
     "Other writers meet conflicts with commits that change nothing.",
     by(carry_out_again, "updateTable", _touching)),
    ("key-repeats-drops", "idempotency.drop-replayed", _KEPT_BESIDE,
     "A drop that is repeated drops the table that somebody has made under the name since.",
     by(carry_out_again, "dropTable")),
    ("key-repeats-creations-of-namespaces", "idempotency.success-replayed", _KEPT_BESIDE,
     "A namespace that was dropped is there again after its creation was repeated.",
     by(carry_out_again, "createNamespace")),
    ("key-repeats-renames", "idempotency.rename-replayed", _KEPT_BESIDE,
     "A rename that is repeated renames the table that somebody has made under the old name since.",
     by(carry_out_again, "renameTable")),
    ("key-repeats-properties", "idempotency.properties-replayed", _KEPT_BESIDE,
     "A change of properties that is repeated undoes what others have changed since.",
     by(carry_out_again, "updateProperties")),
    ("key-repeats-registrations", "idempotency.registration-replayed", _KEPT_BESIDE,
     "A registration that is repeated undoes what others have committed since.",
     by(carry_out_again, "registerTable")),
    ("key-repeats-transactions", "idempotency.transaction-replayed", _KEPT_BESIDE,
     "A transaction that is repeated undoes what others have committed since.",
     by(carry_out_again, "commitTransaction")),
    ("key-repeats-view-changes", "idempotency.views-replayed", _KEPT_BESIDE,
     "A change of a view that is repeated undoes what others have changed since.",
     by(carry_out_again, "replaceView")),
    ("key-repeats-view-renames", "idempotency.view-rename-replayed", _KEPT_BESIDE,
     "A rename that is repeated renames the view that somebody has made under the old name since.",
     by(carry_out_again, "renameView")),
    ("key-repeats-view-drops", "idempotency.view-drop-replayed", _KEPT_BESIDE,
     "A drop that is repeated drops the view that somebody has made under the name since.",
     by(carry_out_again, "dropView")),
    ("key-repeats-view-creations", "idempotency.view-creation-replayed", _KEPT_BESIDE,
     "A view that was dropped is there again after its creation was repeated.",
     by(carry_out_again, "createView")),
    ("key-repeats-view-registrations", "idempotency.view-registration-replayed", _KEPT_BESIDE,
     "A view that was dropped is there again after its registration was repeated.",
     by(carry_out_again, "registerView")),
    ("key-carries-out-refused-drops", "idempotency.refusal-replayed", _KEPT_BESIDE,
     "A namespace is gone whose drop was refused, and refused again.",
     by(carry_out_again, "dropNamespace")),
    ("key-carries-out-refusals", "idempotency.refusal-replayed",
     "A refused creation is tried again when it comes again, and the old refusal is answered.",
     "A namespace is there whose creation was refused, and refused again.",
     by(carry_out_again, "createNamespace", where=_refused)),
    ("key-repeats-drops-of-namespaces", "idempotency.success-replayed",
     "A drop that succeeded is carried out again when it comes again, and the 204 is answered.",
     "A drop that is repeated drops the namespace that somebody has made since.",
     by(carry_out_again, "dropNamespace", where=_done)),
)  # fmt: skip
