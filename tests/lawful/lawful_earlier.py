"""Catalogs that follow an earlier document: without what came later, in the words of its time."""

from typing import Any

from icecheck.contract.model import Ref, RefKind
from icecheck.contract.releases import is_newer, since
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.defects.kit.requests import sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import (
    alter_body,
    alter_call,
    alter_request_body,
    refuse_as,
)
from tests.kill.refusing import refuse_if, updates_in
from tests.kit.contracts import CONTRACT
from tests.lawful.lawful_tables import LAWFUL_TABLES

Body = dict[str, Any]
COMMITS = ("updateTable", "commitTransaction")
METADATA = ("createTable", "loadTable", "registerTable", "updateTable")

_LATER_MEMBERS = {
    "1.8.0": {"content-offset", "content-size-in-bytes", "initial-default", "write-default"},
    "1.10.0": {"next-row-id", "first-row-id", "encryption-keys"},
}


def follow(registries: Registries, release: str) -> None:
    """Let a catalog follow the document of a release from 1.6.0 on."""
    refused = _later_updates(release)

    def is_later(call: Call) -> bool:
        return any(
            str(update.get("action")) in refused or update.get("format-version") == 3
            for update in updates_in(call)
        )

    def wants_version_3(call: Call) -> bool:
        properties = sent_json(call).get("properties")
        return isinstance(properties, dict) and properties.get("format-version") == "3"

    for operation_id in COMMITS:
        refuse_if(registries, operation_id, is_later, 400, "BadRequestException")
    refuse_if(registries, "createTable", wants_version_3, 400, "BadRequestException")
    later = (names for since, names in _LATER_MEMBERS.items() if is_newer(since, release))
    unknown = set[str]().union(*later)
    for operation_id in (*METADATA, "planTableScan", "fetchPlanningResult", "fetchScanTasks"):
        if operation_id in registries.operations:
            alter_body(registries, operation_id, lambda body: _without(body, unknown))
    if is_newer("1.10.0", release):
        _before_1_10(registries)
    if is_newer("1.9.0", release):
        refuse_as(registries, "dropNamespace", 409, 400, "NamespaceNotEmptyException")
        alter_request_body(registries, "registerTable", lambda body: _without(body, {"overwrite"}))
    if is_newer("1.8.0", release):
        _before_1_8(registries)
    if is_newer("1.7.0", release):
        _before_1_7(registries)


def _later_updates(release: str) -> set[str]:
    """Return the actions of the updates that a release's document does not have yet."""
    schemas = CONTRACT.raw["components"]["schemas"]["BaseUpdate"]["discriminator"]["mapping"]
    named = {a: Ref(RefKind.SCHEMA, each.rpartition("/")[2]) for a, each in schemas.items()}
    return {a for a, ref in named.items() if is_newer(since(CONTRACT.version, [ref]), release)}


def _without(value: Any, members: set[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, members) for k, v in value.items() if k not in members}
    return [_without(each, members) for each in value] if isinstance(value, list) else value


def _before_1_10(registries: Registries) -> None:
    """Read a missing id of a ref's assertion as null, and leave out a location that is null."""

    def with_null(call: Call) -> Call:
        body = sent_json(call)
        return with_json(call, _null_ids(body)) if body else call

    for operation_id in COMMITS:
        alter_call(registries, operation_id, with_null)
    alter_body(
        registries, "createTable", lambda body: {k: v for k, v in body.items() if v is not None}
    )


def _null_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_null_ids(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {k: _null_ids(v) for k, v in value.items()}
    if inner.get("type") == "assert-ref-snapshot-id":
        inner.setdefault("snapshot-id", None)
    return inner


def _before_1_8(registries: Registries) -> None:
    """Send no entity tags, and demand the outer snapshot id of statistics."""
    LAWFUL_TABLES["no-etags"](registries)

    def lacks_id(call: Call) -> bool:
        listed = updates_in(call)
        return any(
            u.get("action") == "set-statistics" and u.get("snapshot-id") is None for u in listed
        )

    for operation_id in COMMITS:
        refuse_if(registries, operation_id, lacks_id, 400, "BadRequestException")


def _before_1_7(registries: Registries) -> None:
    """List no endpoints, and neither vend credentials anew nor plan scans."""
    for operation_id in (
        "planTableScan", "fetchPlanningResult", "cancelPlanning", "fetchScanTasks",
        "loadCredentials",
    ):  # fmt: skip
        del registries.operations[operation_id]

    def silent(body: Body) -> Body:
        return {key: value for key, value in body.items() if key != "endpoints"}

    alter_body(registries, "getConfig", silent)
