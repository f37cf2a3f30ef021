"""All routes of the administration."""

from icecheck.mock_server.admin import control, misbehaviour, requests, warehouses
from icecheck.mock_server.admin.declared import AdminRoute, declared_routes

_DECLARING = (control, warehouses, requests, misbehaviour)


def routes() -> tuple[AdminRoute, ...]:
    """Return every route that these modules declare."""
    return declared_routes()
