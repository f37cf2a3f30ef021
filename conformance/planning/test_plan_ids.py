"""Checks of the ids of plans, as they are since 1.11.0."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_table
from icecheck.client.planned_scan import expect_state
from icecheck.findings.shared_symptoms import SCHEMA
from icecheck.judging.check import check
from icecheck.objects.arranging import UNKNOWN_PLAN, last_word, of_the_same_shape
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.matching import ABSENT, show

_RANDOM_LENGTH = 12
"""An id whose last word is so long counts nothing: a neighbour of it was never given."""


@check("planTableScan.completed-has-plan-id")
def test_a_completed_plan_has_an_id(catalog: Catalog) -> None:
    """A plan that is answered as completed has a plan-id."""
    reply = catalog.plan_table_scan(shared_table(catalog)).expect(200)
    expect_state(reply, "completed", "submitted")
    body = object_in(reply)
    if body.get("status") != "completed":
        raise not_applicable("the catalog plans in the background")
    plan_id = body.get("plan-id", ABSENT)
    if not isinstance(plan_id, str):
        kind = "required" if plan_id is ABSENT else "type"
        raise reply.violation(SCHEMA.of(kind), "a plan-id", show(plan_id), pointer="/plan-id")


@check("cancelPlanning.unknown-plan")
def test_a_plan_that_never_was_is_not_cancelled(catalog: Catalog) -> None:
    """Cancelling a plan whose id was never given is refused."""
    table = shared_table(catalog)
    reply = catalog.cancel_planning(table, UNKNOWN_PLAN)
    if reply.status == 400:
        # An id of another shape than the catalog's own may be refused for that.
        given = object_in(catalog.plan_table_scan(table).expect(200)).get("plan-id")
        if not isinstance(given, str) or len(last_word(given)) < _RANDOM_LENGTH:
            raise not_applicable("which ids were never given, the id of a plan does not tell")
        reply = catalog.cancel_planning(table, of_the_same_shape(given))
    reply.expect(404, detail="for an id that was never given")
