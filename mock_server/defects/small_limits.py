"""What servers do that have met small catalogs only: limits that nobody chose on purpose."""

from typing import Any

from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries, Reply
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_body, wrap
from icecheck.mock_server.state import WarehouseState

_PAGE_OF_THE_STORE = 1_000
_BODY_BYTES_MAX = 1024 * 1024
_HISTORY_MAX = 500


@defect(
    "namespaces-beyond-a-thousand-unlisted",
    breaks="listNamespaces.without-token-everything",
    suffering="SHOW NAMESPACES ends after a thousand, and nothing says that there are more.",
)
def _first_thousand_namespaces(registries: Registries) -> None:
    """A list of namespaces holds the first page of the store behind the catalog."""
    _first_page_only(registries, "listNamespaces", "namespaces")


@defect(
    "tables-beyond-a-thousand-unlisted",
    breaks="listTables.without-token-everything",
    suffering="SHOW TABLES ends after a thousand, and nothing says that there are more.",
)
def _first_thousand_tables(registries: Registries) -> None:
    """A list of tables holds the first page of the store behind the catalog."""
    _first_page_only(registries, "listTables", "identifiers")


def _first_page_only(registries: Registries, operation_id: str, member: str) -> None:
    def cut(body: dict[str, Any]) -> dict[str, Any]:
        return {**body, member: body.get(member, [])[:_PAGE_OF_THE_STORE]}

    alter_body(registries, operation_id, cut)


@defect(
    "proxy-refuses-large-bodies",
    breaks="commit.large",
    suffering="Spark's expire_snapshots fails on the tables that need it most.",
)
def _small_bodies_only(registries: Registries) -> None:
    """A proxy with its limit as installed refuses a commit of more than 1 MiB, with a page."""

    def limited(
        faithful: Operation, context: Context, state: WarehouseState, call: Call
    ) -> Outcome:
        if len(call.request.body) <= _BODY_BYTES_MAX:
            return faithful(context, state, call)
        page = b"<html><head><title>413 Request Entity Too Large</title></head></html>"
        return Outcome(state, Reply(413, (("content-type", "text/html"),), page))

    wrap(registries, "updateTable", limited)


@defect(
    "history-of-five-hundred",
    breaks="loadTable.snapshots-default-all",
    suffering="Time travel to an older snapshot fails, and expiry leaves its files behind.",
)
def _short_history(registries: Registries) -> None:
    """A loaded table has its newest 500 snapshots."""

    def cut(body: dict[str, Any]) -> dict[str, Any]:
        metadata = body.get("metadata", {})
        kept = metadata.get("snapshots", [])[-_HISTORY_MAX:]
        return {**body, "metadata": {**metadata, "snapshots": kept}} if kept else body

    alter_body(registries, "loadTable", cut)
