"""Defects that only large catalogs show: limits that come from a default setting."""

from typing import Any

from icecheck.mock_server.core.context import Call, Outcome, Registries, Reply
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body

_PAGE_OF_THE_STORE = 1_000
_PAGE_OF_A_FRAMEWORK = 100
_BODY_BYTES_MAX = 1024 * 1024
_HISTORY_MAX = 500


def _first_page_only(
    registries: Registries, operation_id: str, member: str, page: int = _PAGE_OF_THE_STORE
) -> None:
    def cut(body: dict[str, Any]) -> dict[str, Any]:
        return {**body, member: body.get(member, [])[:page]}

    alter_body(registries, operation_id, cut)


declare_each(
    ("namespaces-beyond-a-thousand-unlisted", "listNamespaces.without-token-everything",
     "A list of namespaces holds the first page of the store behind the catalog.",
     "SHOW NAMESPACES ends after a thousand, and nothing says that there are more.",
     by(_first_page_only, "listNamespaces", "namespaces")),
    ("tables-beyond-a-thousand-unlisted", "listTables.without-token-everything",
     "A list of tables holds the first page of the store behind the catalog.",
     "SHOW TABLES ends after a thousand, and nothing says that there are more.",
     by(_first_page_only, "listTables", "identifiers")),
    *(
        (f"{operation}-beyond-a-hundred-unlisted", f"{operation}.without-token-everything",
         f"{operation} answers a page of the default size where no page is asked for.",
         "SHOW TABLES ends after a hundred, and nothing says that there are more.",
         by(_first_page_only, operation, "identifiers", _PAGE_OF_A_FRAMEWORK))
        for operation in ("listTables", "listViews")
    ),
)  # fmt: skip


@defect(
    "proxy-refuses-large-bodies",
    on="updateTable",
    breaks="commit.large",
    suffering="Spark's expire_snapshots fails on the tables that need it most.",
)
def _small_bodies_only(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A proxy with its limit as installed refuses a commit of more than 1 MiB, with a page."""
    if len(call.request.body) <= _BODY_BYTES_MAX:
        return faithful(state, call)
    page = b"<html><head><title>413 Request Entity Too Large</title></head></html>"
    return Outcome(state, Reply(413, (("content-type", "text/html"),), page))


@defect(
    "history-of-five-hundred",
    on=answer_of("loadTable"),
    breaks="loadTable.snapshots-default-all",
    suffering="Time travel to an older snapshot fails, and expiry leaves its files behind.",
)
def _short_history(body: dict[str, Any]) -> dict[str, Any]:
    """A loaded table has its newest 500 snapshots."""
    metadata = body.get("metadata", {})
    kept = metadata.get("snapshots", [])[-_HISTORY_MAX:]
    return {**body, "metadata": {**metadata, "snapshots": kept}} if kept else body
