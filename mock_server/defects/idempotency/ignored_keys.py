"""Defects of keys that are announced, and have no meaning for some operations."""

from collections.abc import Callable

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.keying import FaithfulKeys, ignore_keys, keys_of
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem

_ITS_OWN_EFFECT = "A client whose answer was lost takes its own effect for somebody else's."

declare_each(
    ("keys-ignored-of-namespaces", "idempotency.success-replayed",
     "Keys are read where tables are changed, and not where namespaces are.", _ITS_OWN_EFFECT,
     by(ignore_keys, "createNamespace", "dropNamespace")),
    ("keys-ignored-of-creations", "idempotency.same-answer",
     "The creation of a table does not look for its key.", _ITS_OWN_EFFECT,
     by(ignore_keys, "createTable")),
    ("keys-ignored-of-commits", "idempotency.commit-replayed",
     "Commits do not look for their keys: their requirements are thought to be enough.",
     "A writer whose answer was lost deletes the files that it has committed.",
     by(ignore_keys, "updateTable")),
    ("keys-ignored-of-drops", "idempotency.drop-replayed",
     "A drop does not look for its key: to drop is thought to be harmless.",
     "A drop that is repeated drops the table that somebody has made under the name since.",
     by(ignore_keys, "dropTable")),
    ("keys-ignored-of-renames", "idempotency.rename-replayed",
     "A rename does not look for its key.",
     "A script that renames a table is told that there is none, after it has renamed it.",
     by(ignore_keys, "renameTable")),
    ("keys-ignored-of-transactions", "idempotency.transaction-replayed",
     "Keys are looked for in commits to one table, and not in transactions.",
     "A transaction that is repeated undoes what others have committed since.",
     by(ignore_keys, "commitTransaction")),
    ("keys-ignored-of-properties", "idempotency.properties-replayed",
     "A change of properties does not look for its key.",
     "Whoever removes a property over a bad network is told that there was none.",
     by(ignore_keys, "updateProperties")),
    ("keys-ignored-of-registrations", "idempotency.registration-replayed",
     "The registration of a table does not look for its key.", _ITS_OWN_EFFECT,
     by(ignore_keys, "registerTable")),
    ("keys-ignored-of-view-changes", "idempotency.views-replayed",
     "Changes of views do not look for their keys.",
     "A change of a view that is repeated undoes what others have changed since.",
     by(ignore_keys, "replaceView")),
    ("keys-ignored-of-view-renames", "idempotency.view-rename-replayed",
     "Renames of views do not look for their keys.",
     "A script that renames a view is told that there is none, after it has renamed it.",
     by(ignore_keys, "renameView")),
    ("keys-ignored-of-view-drops", "idempotency.view-drop-replayed",
     "Drops of views do not look for their keys.",
     "A script that drops a view is told that there is none, after it has dropped it.",
     by(ignore_keys, "dropView")),
    ("keys-ignored-of-view-creations", "idempotency.view-creation-replayed",
     "The creation of a view, for which the document forgets the key, does not look for it.",
     _ITS_OWN_EFFECT,
     by(ignore_keys, "createView")),
    ("keys-ignored-of-view-registrations", "idempotency.view-registration-replayed",
     "The registration of a view does not look for its key.", _ITS_OWN_EFFECT,
     by(ignore_keys, "registerView")),
)  # fmt: skip


def _take_once(
    registries: Registries, operation_id: str, named: Callable[[Call], str], type_: str
) -> None:
    """Answer 404 to a second request for the same thing, and do not look for its key."""
    taken: set[str] = set()

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        thing = named(call)
        if thing in taken:
            raise Problem(404, type_, "This was asked for before")
        outcome = faithful(state, call)
        taken.add(thing)
        return outcome

    ignore_keys(registries, operation_id)
    wrap(registries, operation_id, around)


declare_each(
    ("keys-ignored-of-plan-tasks", "idempotency.plan-replayed",
     "A plan task is handed in once, and its key is not looked for.",
     "A reader whose answer was lost cannot have the files of a plan task any more.",
     by(_take_once, "fetchScanTasks",
        lambda call: str(sent_json(call).get("plan-task")), "NoSuchPlanTaskException")),
    ("keys-ignored-of-cancellations", "idempotency.cancellation-replayed",
     "A cancelled plan is forgotten at once, and so is the key of its cancellation.",
     "A client that cancels a plan over a bad network is told that there is none.",
     by(_take_once, "cancelPlanning",
        lambda call: call.parameters["plan-id"], "NoSuchPlanIdException")),
)  # fmt: skip


@defect(
    "keys-ignored-of-staged-creations",
    breaks="idempotency.staged-creation-replayed",
    suffering="A CREATE TABLE AS SELECT whose answer was lost is told that its table exists.",
    on=keys_of("updateTable"),
)
def _of_staged(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """A commit that creates a table does not look for its key: it can only succeed once."""
    required = [each.get("type") for each in sent_json(call).get("requirements") or ()]
    return (faithful.plainly if "assert-create" in required else faithful)(state, call)


def _only_successes(faithful: FaithfulKeys, state: WarehouseState, call: Call) -> Outcome:
    """Remember successes only: a conflict is looked into anew each time."""
    if faithful.held(state, call) is not None:
        return faithful(state, call)
    faithful.plainly(state, call)  # raises Problem, which nobody remembers
    return faithful(state, call)


_ANEW = "Only successes are remembered: a conflict is looked into anew each time."

declare_each(
    ("keys-of-refusals-forgotten", "idempotency.refusal-replayed", _ANEW,
     "A request that was refused for good is carried out, long after its client went on.",
     keys_of("createNamespace", "dropNamespace")(_only_successes)),
    ("keys-of-refused-creations-forgotten", "idempotency.refusal-replayed", _ANEW,
     "A table is made whose creation was refused, long after its client went on.",
     keys_of("createTable")(_only_successes)),
)  # fmt: skip
