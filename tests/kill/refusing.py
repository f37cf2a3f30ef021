"""Refusals by design: a building block for lawful catalogs without some capability."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol.problem import Problem


def refuse_if(
    registries: Registries,
    operation_id: str,
    unwanted: Callable[[Call], bool],
    status: int,
    type: str = "NotHere",  # noqa: A002 - the member's name
) -> None:
    """Refuse unwanted calls; malformed calls and those to missing objects fail as usual."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if not unwanted(call):
            return faithful(state, call)
        try:
            faithful(state, call)
        except Problem as problem:
            if problem.status in {400, 404}:
                raise
        raise Problem(status, type, "This catalog does not do that")

    wrap(registries, operation_id, around)


def updates_in(call: Call) -> list[dict[str, Any]]:
    """Return the well-formed updates of a commit to one table or view, or of a transaction."""
    sent = sent_json(call)
    changes = sent.get("table-changes")
    bodies = [sent, *(changes if isinstance(changes, list) else ())]
    lists = [body.get("updates") for body in bodies if isinstance(body, dict)]
    return [u for each in lists if isinstance(each, list) for u in each if isinstance(u, dict)]
