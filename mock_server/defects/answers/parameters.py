"""Defects that show for one value of a parameter only, because the answer is built elsewhere."""

from collections.abc import Callable

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.remembering import by_path, keep_listed, remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _of_refs(call: Call) -> bool:
    return call.query.get("snapshots") == "refs"


declare(
    "load-refs-without-properties",
    "With snapshots=refs the metadata has no properties.",
    by(
        alter_answer,
        "loadTable",
        lambda call, body: (
            {**body, "metadata": {**body["metadata"], "properties": {}}} if _of_refs(call) else body
        ),
    ),
    breaks="loadTable.snapshots-refs",
    suffering="Spark with snapshot-loading-mode=refs writes with the settings of no one.",
)


@defect(
    "load-with-access-elsewhere",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.stable",
    suffering="PyIceberg asks for credentials with each load, and commits upon no known version.",
)
def _with_access_stale(call: Call, body: Json) -> Json:
    """With credentials a table is answered under the name of a metadata file of its own."""
    if "x-iceberg-access-delegation" not in call.request.headers:
        return body
    return {**body, "metadata-location": f"{body['metadata-location']}.signed"}


declare_each(
    ("load-refs-without-location", "loadTable.metadata-location",
     "With snapshots=refs the answer is built from other metadata, which knows no location.",
     "Spark with snapshot-loading-mode=refs cannot tell a new version from the old one.",
     by(
         alter_answer,
         "loadTable",
         lambda call, body: {
             k: v for k, v in body.items() if k != "metadata-location" or not _of_refs(call)
         },
     )),
    ("drop-purged-still-listed", "dropTable.purge-drops",
     "A purge takes another way than a drop, which no listing hears of.",
     "SHOW TABLES lists tables that were purged.",
     by(keep_listed, "dropTable", "listTables", by_path,
        lambda call: call.query.get("purgeRequested") == "true")),
)  # fmt: skip


# --------------------------------------------------------------------- lists in pages


# ------------------------------------------------------------------------ registrations


@defect(
    "register-overwrites-if-told-not-to",
    on=request_of("registerTable"),
    breaks="states.overwritten",
    suffering="A registration that says that it must not overwrite replaces a table.",
)
def _overwrites_if_mentioned(body: Json) -> Json:
    """Whether to overwrite is told by the member's presence, whatever it says."""
    return body if body.get("overwrite") is None else {**body, "overwrite": True}


# ----------------------------------------------------------------------- what is missing


def _found_if(
    registries: Registries,
    operation_id: str,
    asked: Callable[[Call], bool],
    answer: Callable[[WarehouseState, Call], Outcome],
) -> None:
    """Let an operation answer a 404 otherwise if `asked` holds for the call."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        try:
            return faithful(state, call)
        except Problem as refused:
            if refused.status != 404 or not asked(call):
                raise
            return answer(state, call)

    wrap(registries, operation_id, around)


@defect(
    "list-page-of-nothing-is-empty",
    on=through(_found_if, "listTables", lambda call: "pageToken" in call.query),
    breaks="listTables.404",
    suffering="USE of a misspelled database succeeds for clients that read lists in pages.",
)
def _page_of_nothing(state: WarehouseState, _call: Call) -> Outcome:
    """A list of tables that is asked for in pages is empty where there is no namespace."""
    body: Json = {"identifiers": [], "next-page-token": None}
    return Outcome(state, replies.json_reply(body))


@defect(
    "load-access-to-nothing-is-forbidden",
    breaks="loadTable.404",
    suffering="CREATE TABLE IF NOT EXISTS fails for clients that ask for credentials.",
)
def _access_to_nothing(registries: Registries) -> None:
    """Credentials are asked for before the table is looked up, and refused with 403."""

    def forbidden(state: WarehouseState, _call: Call) -> Outcome:
        return Outcome(state, replies.error_reply(403, "ForbiddenException", "No credentials"))

    header = "x-iceberg-access-delegation"
    _found_if(registries, "loadTable", lambda call: header in call.request.headers, forbidden)


@defect(
    "drop-purge-of-nothing-succeeds",
    on=through(_found_if, "dropTable", lambda call: call.query.get("purgeRequested") == "true"),
    breaks="dropTable.404",
    suffering="DROP TABLE … PURGE of a misspelled name succeeds.",
)
def _purge_of_nothing(state: WarehouseState, _call: Call) -> Outcome:
    """A purge is queued without a look at whether there is such a table."""
    return Outcome(state, replies.NO_CONTENT)


@defect(
    "namespace-removals-from-nothing",
    on=through(_found_if, "updateProperties", lambda call: not sent_json(call).get("updates")),
    breaks="updateProperties.404",
    suffering="ALTER NAMESPACE UNSET of a misspelled name succeeds.",
)
def _removals_from_nothing(state: WarehouseState, call: Call) -> Outcome:
    """A namespace is looked up for keys that are set, and keys are removed from none."""
    missing = sent_json(call).get("removals") or []
    body = {"updated": [], "removed": [], "missing": missing}
    return Outcome(state, replies.json_reply(body))


@defect(
    "load-cache-without-its-parameters",
    on=remembering(dict, wrap, "loadTable"),
    breaks="loadTable.stable",
    suffering="Once Spark has loaded a table with snapshot-loading-mode=refs, its history is gone.",
)
def _cache_without_its_parameters(
    first: dict[str, str], faithful: Faithful, state: WarehouseState, call: Call
) -> Outcome:
    """Answers are remembered by metadata file alone, as the first who loads a version wants it."""
    entry = state.table(call.namespace, call.name)
    if entry is None:
        return faithful(state, call)
    asked = first.setdefault(entry.metadata_location, call.query.get("snapshots", "all"))
    return faithful(state, structs.replace(call, query={**call.query, "snapshots": asked}))
