"""Defects of requests that come again with their keys: done once, and answered otherwise."""

from msgspec.structs import replace

from icecheck.mock_server.core.context import Reply
from icecheck.mock_server.defects.kit.declaring import by, declare_each
from icecheck.mock_server.defects.kit.keying import (
    answer_again_otherwise,
    refuse_again,
    show_again_otherwise,
)
from icecheck.mock_server.defects.kit.requests import Json
from icecheck.mock_server.defects.kit.rewriting import as_another
from icecheck.mock_server.protocol import replies

_IN_CONFLICT = ("AlreadyExistsException", "CommitFailedException")


def _renamed(body: Json) -> Json:
    return body | {"namespace": [*body["namespace"][:-1], "another"]}


def _without_body(reply: Reply) -> Reply:
    return replies.NO_CONTENT if reply.status == 200 else reply


def _without_files(body: Json) -> Json:
    return body | {"plan-id": "anew", "file-scan-tasks": [], "plan-tasks": []}


def _accepted(reply: Reply) -> Reply:
    return replace(reply, status=202) if reply.status < 300 else reply


def _come_again(_: Reply) -> Reply:
    told = (409, _IN_CONFLICT[1], "This is being done", (("retry-after", "1"),))
    return replies.error_reply(*told)


declare_each(
    ("key-answers-with-another-table", "idempotency.same-answer",
     "A creation that comes again is answered with what it would make now.",
     "A writer works with a table that is not there.",
     by(show_again_otherwise, "createTable", as_another("table-uuid"))),
    ("key-answers-commits-with-another-table", "idempotency.commit-replayed",
     "A commit that comes again is answered with the metadata of a table that was changed last.",
     "A writer goes on with the metadata of somebody else's table.",
     by(show_again_otherwise, "updateTable", as_another("table-uuid"))),
    ("key-answers-without-content", "idempotency.success-replayed",
     "Of a success only that it was one is remembered: it is answered again without a body.",
     "A client cannot read the answer that it had asked for again.",
     by(answer_again_otherwise, "createNamespace", _without_body)),
    ("key-answers-with-another-namespace", "idempotency.success-replayed",
     "The creation of a namespace that comes again is answered with another one.",
     "A client goes on in somebody else's namespace.",
     by(show_again_otherwise, "createNamespace", _renamed)),
    ("key-answers-drops-as-conflicts", "idempotency.drop-replayed",
     "A drop that comes again is refused as being in progress, for ever.",
     "A script that drops a table over a bad network never comes to its end.",
     by(refuse_again, "dropTable", 409, _IN_CONFLICT[1])),
    ("key-answers-drops-as-running", "idempotency.drop-replayed",
     "A drop that comes again is told to come again in a second, for ever.",
     "A script that drops a table over a bad network never comes to its end.",
     by(answer_again_otherwise, "dropTable", _come_again)),
    ("key-answers-renames-as-conflicts", "idempotency.rename-replayed",
     "A rename that comes again is told that its target is taken: by itself.",
     "A script that renames a table is told of a conflict, after it has renamed it.",
     by(refuse_again, "renameTable", 409, _IN_CONFLICT[0])),
    ("key-answers-commits-as-conflicts", "idempotency.commit-replayed",
     "A commit that comes again is refused as a duplicate.",
     "A writer whose answer was lost deletes the files that it has committed.",
     by(refuse_again, "updateTable", 409, _IN_CONFLICT[1])),
    ("key-answers-transactions-as-accepted", "idempotency.transaction-replayed",
     "A transaction that comes again is answered as if it were still to come.",
     "A writer waits for a transaction that was committed long ago.",
     by(answer_again_otherwise, "commitTransaction", _accepted)),
    ("key-answers-registrations-anew", "idempotency.registration-replayed",
     "A registration that comes again gives the table in its answer another uuid.",
     "A migration finds another table than the one that it has moved.",
     by(show_again_otherwise, "registerTable", as_another("table-uuid"))),
    ("key-answers-with-another-view", "idempotency.views-replayed",
     "A change of a view that comes again gives the view in its answer another uuid.",
     "An engine takes the view for a new one, and drops what it knew of it.",
     by(show_again_otherwise, "replaceView", as_another("view-uuid"))),
    ("key-answers-view-creations-anew", "idempotency.view-creation-replayed",
     "The creation of a view that comes again gives the view in its answer another uuid.",
     "An engine works with a view that is not there.",
     by(show_again_otherwise, "createView", as_another("view-uuid"))),
    ("key-answers-view-registrations-anew", "idempotency.view-registration-replayed",
     "The registration of a view that comes again gives the view in its answer another uuid.",
     "A migration finds another view than the one that it has moved.",
     by(show_again_otherwise, "registerView", as_another("view-uuid"))),
    ("key-answers-plans-without-files", "idempotency.plan-replayed",
     "A plan whose files were handed out is answered again as one without files.",
     "A query reads nothing, and tells nobody, after an answer was lost.",
     by(show_again_otherwise, "planTableScan", _without_files)),
    ("key-answers-cancellations-as-missing", "idempotency.cancellation-replayed",
     "A cancellation that comes again is told that there is no such plan.",
     "A client that cancels a plan over a bad network is told that there is none.",
     by(refuse_again, "cancelPlanning", 404, "NoSuchPlanIdException")),
)  # fmt: skip
