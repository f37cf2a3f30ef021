"""Defects that users have reported of other catalogs."""

from typing import Any

from msgspec import structs

from icecheck.mock_server.commits.default_locations import NAMESPACE_LOCATION
from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful
from icecheck.mock_server.defects.kit.updating import alter_sent_list
from icecheck.mock_server.protocol import problem


@defect(
    "ref-removals-run-last",
    on=through(alter_sent_list, "updateTable"),
    breaks="commit.updates-in-order",
    suffering="CREATE OR REPLACE TABLE leaves an empty table: its main branch is gone.",
)
def _removals_run_last(sent: list[Any]) -> list[Any]:
    """Refs are set first and removed afterwards: what a commit removes and sets again is gone."""
    return sorted(
        sent, key=lambda each: isinstance(each, dict) and each["action"] == "remove-snapshot-ref"
    )


@defect(
    "last-property-stays",
    on="updateProperties",
    breaks="updateProperties.remove",
    suffering="A namespace cannot be rid of its last property, and nothing says so.",
)
def _empty_is_nothing_to_do(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A change that leaves no properties of a client is answered as done and not stored."""
    outcome = faithful(state, call)
    changed = outcome.state.namespace(call.namespace)
    stored = changed is None or set(changed.properties) - {NAMESPACE_LOCATION}
    return outcome if stored else structs.replace(outcome, state=state)


@defect(
    "register-overwrite-wants-a-table",
    on="registerTable",
    breaks="registerTable.overwrite-of-nothing",
    suffering="A restore with overwrite fails for just those tables that are lost.",
)
def _overwrite_is_an_update(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A registration that may overwrite is answered 404 where there is no table to overwrite."""
    body = sent_json(call)
    name = str(body.get("name"))
    known = call.namespace in state.namespaces
    if body.get("overwrite") and known and state.kind_of(call.namespace, name) is None:
        raise problem.no_such_table(call.namespace, name)
    return faithful(state, call)
