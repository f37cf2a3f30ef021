"""Places for the functions of defects: `@defect(..., on=table_update("add-schema"))`."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Registries, Reply, Request
from icecheck.mock_server.defects.kit.declaring import Place, through
from icecheck.mock_server.defects.kit.rewriting import alter_body, alter_call, alter_request_body
from icecheck.mock_server.defects.kit.updating import (
    AssertionCheck,
    FaithfulUpdate,
    FaithfulViewUpdate,
    alter_assertion,
    alter_update,
    alter_view_update,
)
from icecheck.mock_server.metadata.builder import Draft
from icecheck.mock_server.metadata.model import TableMetadata
from icecheck.mock_server.metadata.view_builder import ViewDraft
from icecheck.mock_server.security.callers import Security

GATE = "authorization"
FaithfulGate = Callable[[Request, Security], Reply | None]
"""Returns the refusal of a request, or None to let it pass."""


def alter_gate(
    registries: Registries, function: Callable[[FaithfulGate, Request, Security], Reply | None]
) -> None:
    """Replace the gate of all requests by a function that gets the faithful one first."""
    faithful = registries.gates[GATE]
    registries.gates[GATE] = lambda request, security: function(faithful, request, security)


gate = through(alter_gate)
"""The place that replaces the gate of all requests: (faithful, request, security) -> refusal."""


def answer_of(operation_id: str) -> Place[Callable[[Any], Any]]:
    """Return the place that alters the JSON body of an operation's successes: body -> body."""
    return through(alter_body, operation_id)


def request_of(operation_id: str) -> Place[Callable[[dict[str, Any]], dict[str, Any]]]:
    """Return the place that alters the JSON object sent to an operation: body -> body."""
    return through(alter_request_body, operation_id)


def call_of(operation_id: str) -> Place[Callable[[Call], Call]]:
    """Return the place that alters the call of an operation: call -> call."""
    return through(alter_call, operation_id)


def table_update(action: str) -> Place[Callable[[FaithfulUpdate, Any, Draft], None]]:
    """Return the place that replaces an update of a table: (faithful, update, draft) -> None."""
    return through(alter_update, action)


def view_update(action: str) -> Place[Callable[[FaithfulViewUpdate, Any, ViewDraft], None]]:
    """Return the place that replaces an update of a view: (faithful, update, draft) -> None."""
    return through(alter_view_update, action)


def table_assertion(type_: str) -> Place[Callable[[AssertionCheck, Any, TableMetadata], None]]:
    """Return the place that replaces an assertion on an existing table.

    The function is (faithful, assertion, metadata) -> None.
    """
    return through(alter_assertion, type_)
