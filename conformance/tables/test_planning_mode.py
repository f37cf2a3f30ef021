"""Checks of who is to plan the scans of a table, as its config says (1.11.0, L3510-L3512)."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import some_table
from icecheck.client.sender import ASKING_FOR_CREDENTIALS
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply
from icecheck.replies.matching import show

_PLANNING_MODE = declare(
    "planning-mode",
    "Tells clients a mode of scan planning that they do not know",
    Severity.REFUSED,
    "Java's client: cannot open the table",
)
_PLANNING_NOT_OFFERED = declare(
    "planning-not-offered",
    "Demands that the server plans the scans of a table, and offers no planning",
    Severity.REFUSED,
    "Java's client: cannot open the table",
)

_MODE = "scan-planning-mode"
"""What engines send with each load; the config may be in no other answer."""


@check("loadTable.scan-planning-mode")
def test_the_mode_of_planning_is_known(catalog: Catalog) -> None:
    """The mode of scan planning in a table's config is client or server."""
    reply, mode = _mode(catalog)
    # Clients compare it without case.
    if mode.lower() not in {"client", "server"}:
        raise reply.violation(
            _PLANNING_MODE, "client or server", show(mode), pointer=f"/config/{_MODE}"
        )


@check("loadTable.scan-planning-mode-served")
def test_the_mode_of_planning_is_served(catalog: Catalog) -> None:
    """Where a table's config demands that the server plans its scans, planTableScan is offered."""
    _, mode = _mode(catalog)
    if mode.lower() != "server":
        raise not_applicable("the table's config leaves planning to clients")
    endpoint = catalog.contract.operations["planTableScan"].endpoint
    config = catalog.get_config(catalog.target.warehouse).expect(200)
    listed = object_in(config).get("endpoints")
    if not isinstance(listed, list) or endpoint not in listed:
        told = "a list without it" if isinstance(listed, list) else "no list"
        raise config.violation(_PLANNING_NOT_OFFERED, endpoint, told, pointer="/endpoints")


def _mode(catalog: Catalog) -> tuple[Reply, str]:
    table = some_table(catalog)
    reply = catalog.load_table(table.namespace, table.name, headers=ASKING_FOR_CREDENTIALS).expect(
        200
    )
    config = object_in(reply).get("config")
    mode = config.get(_MODE) if isinstance(config, dict) else None
    if not isinstance(mode, str):
        raise not_applicable("the table's config names no mode of scan planning")
    return reply, mode
