"""Defects that show for one value of a parameter only, because the answer is built elsewhere."""

from collections.abc import Callable

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.places import request_of
from icecheck.mock_server.defects.kit.remembering import remembering
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, wrap
from icecheck.mock_server.protocol import replies
from icecheck.mock_server.protocol.problem import Problem


def _of_refs(call: Call) -> bool:
    return call.query.get("snapshots") == "refs"


@defect(
    "load-refs-without-location",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.metadata-location",
    suffering="Spark with snapshot-loading-mode=refs cannot tell a new version from the old one.",
)
def _refs_without_location(call: Call, body: Json) -> Json:
    """With snapshots=refs the answer is built from other metadata, which knows no location."""
    return {k: v for k, v in body.items() if k != "metadata-location" or not _of_refs(call)}


@defect(
    "load-refs-without-properties",
    on=through(alter_answer, "loadTable"),
    breaks="loadTable.snapshots-refs",
    suffering="Spark with snapshot-loading-mode=refs writes with the settings of no one.",
)
def _refs_without_properties(call: Call, body: Json) -> Json:
    """With snapshots=refs the metadata has no properties."""
    metadata = {**body["metadata"], "properties": {}}
    return {**body, "metadata": metadata} if _of_refs(call) else body


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


@defect(
    "drop-purged-still-listed",
    breaks="dropTable.purge-accepted",
    suffering="SHOW TABLES lists tables that were purged.",
)
def _purged_still_listed(registries: Registries) -> None:
    """A purge takes another way than a drop, which no listing hears of."""
    purged: list[tuple[tuple[str, ...], str]] = []

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        if call.query.get("purgeRequested") == "true":
            purged.append((call.namespace, call.name))
        return outcome

    def listed(call: Call, body: Json) -> Json:
        more = [{"namespace": [*ns], "name": name} for ns, name in purged if ns == call.namespace]
        return {**body, "identifiers": [*body["identifiers"], *more]}

    wrap(registries, "dropTable", around)
    alter_answer(registries, "listTables", listed)


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
