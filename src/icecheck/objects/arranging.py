"""Arrange steps beyond those of the client: a namespace at a given path, required operations."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange
from icecheck.replies.expect import NotOffered
from icecheck.targets.target import Namespace

UNKNOWN_PLAN = "icecheck-no-such-plan"
"""A plan-id that no catalog has given out; the plan task below is unknown in the same way."""
UNKNOWN_PLAN_TASK = "icecheck-no-such-plan-task"


def require(catalog: Catalog, *operation_ids: str) -> None:
    """End the check without a fault unless the catalog claims these operations."""
    for operation_id in operation_ids:
        if not catalog.claims(operation_id):
            reason = f"the catalog does not claim {operation_id}, which this check needs"
            raise NotOffered(reason)


def given_namespace_at(catalog: Catalog, namespace: Namespace) -> Namespace:
    """Create a namespace of this exact path, which must contain the run's token, and return it."""
    arrange(catalog, "createNamespace", lambda: catalog.create_namespace(namespace))
    return namespace
