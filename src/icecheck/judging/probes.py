"""Capabilities that no endpoint announces, found out once by trying (verdict-rules 7)."""

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    another_shared_namespace,
    given_commit,
    given_namespace,
    given_table,
    reloaded,
    shared_namespace,
    shared_table,
    shared_tables,
)
from icecheck.client.isolation import keeps_levels
from icecheck.client.session import NOT_SHOWN
from icecheck.client.table import Table
from icecheck.findings.statuses import ANY_SUCCESS_OR_4XX
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.ill_shaped import IllShaped, ill_shaped_reads_named

DOES_NOT = frozenset({400, 403, 405, 406, 422, 501})
"""Statuses that mean "not supported", where the document leaves a feature to the catalog."""


@dataclass(frozen=True, slots=True)
class Trait:
    """A capability: its operation, what engines lose without it, and how to find it out.

    A ``probe`` may find out several at once. None: a check that sends the very request remembers
    the result (``saw``). ``effect`` is the requirement that a catalog misses if it acknowledges
    such a request and does not keep its effect (verdict-rules 19), or breaks down at it. What is
    ``demanded`` may not be refused, but for a missing right: its loss is a finding as well.
    """

    operation: str
    loses: str
    probe: Callable[[Catalog], bool | dict[str, bool | None] | None] | None = None
    effect: str = ""
    demanded: bool = False


def has_capability(catalog: Catalog, name: str) -> bool:
    """Return whether the catalog has a capability; it is probed once and remembered.

    A probe that cannot be arranged gives None, which counts as present: the checks then report what
    is wrong. A capability that is acknowledged and not kept, or breaks the server, counts as
    missing.
    """
    with catalog.session.sharing:
        return _known(catalog, name) and name not in catalog.session.unkept


def require_capability(catalog: Catalog, name: str, proves: Collection[str] = ()) -> None:
    """End a check that needs a capability which the catalog lacks.

    Raises NotOffered where it may be refused. Where it is acknowledged and not kept, ends in a
    server error, or is refused though demanded, raises Blocked by the requirement of that effect,
    unless this is what the check ``proves``.
    """
    if has_capability(catalog, name):
        return
    trait, unkept = CAPABILITIES[name], catalog.session.unkept.get(name)
    if name in catalog.session.forbidden:
        raise NotOffered(f"{name} is answered 403: run with credentials that may do this")
    if not unkept and not trait.demanded:
        raise NotOffered(f"the catalog has no {name}", SkipKind.NOT_APPLICABLE)
    if trait.effect not in proves:
        raise Blocked(trait.effect, f"{name}: {unkept or 'the catalog refuses this'}")


def _known(catalog: Catalog, name: str) -> bool:
    known = catalog.session.capabilities
    if name not in known:
        probe = CAPABILITIES[name].probe
        if probe is None:
            raise ValueError(f"{name} has no probe: a check says what it saw")
        prober = Catalog(catalog.session, catalog.session.probe_id(name))
        try:
            with ill_shaped_reads_named(prober.handed_out):
                found = probe(prober)
            known.update(found if isinstance(found, dict) else {name: found})
        except (Blocked, IllShaped, NotOffered, Violation):
            pass
        finally:
            prober.undo()
        known.setdefault(name, None)
    catalog.session.needed_by.setdefault(name, set()).add(catalog.check_id)
    return known[name] is not False


def saw(catalog: Catalog, name: str, *, present: bool) -> None:
    """Remember what a check's own requests showed of a capability; one refusal decides.

    No check may depend on what another one saw, so that the same run sends the same requests.
    """
    if name not in CAPABILITIES:
        raise ValueError(f"no capability {name}")
    catalog.session.saw(name, catalog.check_id, present=present)


def is_refusal(reply: Reply) -> bool:
    """Return whether an answer says "not supported": never a 404, a 409 or a server error."""
    return reply.status in DOES_NOT


def is_declined(reply: Reply) -> bool:
    """Return whether an answer refuses what the document leaves to the catalog: any 4xx, or 501.

    For requests that nothing else can be wrong with. Raises Violation for any other server error.
    """
    if reply.status >= 500 and reply.status != 501:
        raise reply.wrong_status(ANY_SUCCESS_OR_4XX)
    return reply.status >= 400


def offered(
    catalog: Catalog,
    name: str,
    reply: Reply,
    refuses: Callable[[Reply], bool] = is_refusal,
) -> Reply:
    """End the check, without fault, if the answer refuses a capability; remember it either way.

    Raises NotOffered then; else returns the reply.
    """
    if refuses(reply):
        saw(catalog, name, present=False)
        why = f"the catalog has no {name}: it answers {reply.status}"
        raise NotOffered(why, SkipKind.NOT_APPLICABLE)
    if reply.ok:
        saw(catalog, name, present=True)
    return reply


def _claimed(catalog: Catalog, operation_id: str) -> None:
    if not catalog.claims(operation_id):
        raise NotOffered(f"the catalog does not claim {operation_id}, which the probe needs")


def _nested_namespaces(catalog: Catalog) -> bool | None:
    child = (*given_namespace(catalog), catalog.new_name())
    made = catalog.create_namespace(child)
    if not made.ok or not catalog.claims("loadNamespaceMetadata"):
        return not is_refusal(made)
    kept = keeps_levels(child, lambda each: catalog.load_namespace_metadata(each).exchange)
    if kept is False:
        catalog.session.unkept["nested-namespaces"] = NOT_SHOWN
    return kept or None


def _namespace_properties(catalog: Catalog) -> bool:
    namespace = given_namespace(catalog)
    # A catalog that takes properties only at creation has the capability too.
    if catalog.claims("updateProperties"):
        update = catalog.update_properties(namespace, updates={"icecheck": "probe"})
        if is_refusal(update):
            return False
    _claimed(catalog, "loadNamespaceMetadata")
    body = catalog.load_namespace_metadata(namespace).json()
    return not (isinstance(body, dict) and "properties" in body and body["properties"] is None)


def _cross_namespace_rename(catalog: Catalog) -> bool:
    _claimed(catalog, "renameTable")
    table = given_table(catalog)
    elsewhere = another_shared_namespace(catalog)
    moved = (elsewhere, catalog.new_name())
    return not is_refusal(catalog.rename_table((table.namespace, table.name), moved))


def _pagination(catalog: Catalog) -> bool:
    _claimed(catalog, "listTables")
    namespace = shared_tables(catalog).path
    body = catalog.list_tables(namespace, [("pageToken", ""), ("pageSize", "1")]).json()
    return isinstance(body, dict) and body.get("next-page-token") is not None


def _stage_create(catalog: Catalog) -> bool:
    namespace = shared_namespace(catalog)
    body = bodies.create_table_body(catalog.new_name(), stage_create=True)
    reply = catalog.create_table(namespace, body)
    if reply.status == 403:
        catalog.session.forbidden.add("stage-create")
    return _unless_refused(catalog, reply)


def _unless_refused(catalog: Catalog, reply: Reply) -> bool:
    """Return whether a creation was not refused.

    A catalog that refuses an ordinary table too lacks more than the capability: that raises.
    """
    if not is_declined(reply):
        return True
    given_table(catalog)  # raises Blocked or NotOffered
    return False


def _format_version(version: int) -> Callable[[Catalog], bool | None]:
    def probe(catalog: Catalog) -> bool | None:
        namespace = shared_namespace(catalog)
        body = bodies.create_table_body(
            catalog.new_name(), properties={"format-version": str(version)}
        )
        reply = catalog.create_table(namespace, body)
        if reply.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            given_table(catalog)  # not if every table ends like that
            catalog.session.unkept[f"format-version-{version}"] = "the catalog answers 500"
            return None
        return _unless_refused(catalog, reply)

    return probe


def _snapshots(catalog: Catalog) -> dict[str, bool | None]:
    """Find out on one table the capabilities of snapshots; unknown ones are left out."""
    _claimed(catalog, "updateTable")
    table = given_table(catalog)
    added = bodies.snapshot(table.metadata)
    # The snapshot is sent alone: a catalog that does not keep it would refuse the ref, which shows
    # no lack of a capability.
    update = {"action": "add-snapshot", "snapshot": added}
    if is_refusal(catalog.update_table(table.namespace, table.name, [update])):
        # A catalog that refuses every commit lacks more than this, and the checks report it.
        given_commit(catalog, table, [bodies.set_properties({"icecheck": "probe"})])
        return {"metadata-only-snapshots": False}
    found: dict[str, bool | None] = {"metadata-only-snapshots": True}
    with (
        contextlib.suppress(Blocked, IllShaped, NotOffered, Violation),
        ill_shaped_reads_named(catalog.handed_out),
    ):
        _refs_and_history(catalog, table, added["snapshot-id"], found)
    return found


def _refs_and_history(
    catalog: Catalog, table: Table, snapshot_id: int, found: dict[str, bool | None]
) -> None:
    table = given_commit(catalog, table, [bodies.snapshot_ref(snapshot_id)])
    # Refs name the second snapshot: a catalog may keep the first one only for being named.
    second = bodies.snapshot(table.metadata, 2, parent=snapshot_id)
    latest = second["snapshot-id"]
    updates = [{"action": "add-snapshot", "snapshot": second}, bodies.snapshot_ref(latest)]
    table = given_commit(catalog, table, updates)
    accepted: dict[str, str] = {}
    for name, ref_type in (("branches", "branch"), ("tags", "tag")):
        update = bodies.snapshot_ref(latest, f"probe-{ref_type}", ref_type)
        reply = catalog.update_table(table.namespace, table.name, [update])
        found[name] = not is_refusal(reply)
        if reply.ok:
            accepted[name] = update["ref-name"]
    _claimed(catalog, "loadTable")
    shown = reloaded(catalog, table).metadata
    refs = shown.get("refs") or {}
    # Without main, or with the snapshots themselves lost, more is missing than this capability.
    for name, ref in accepted.items() if "main" in refs else ():
        if ref not in refs:
            catalog.session.unkept[name] = NOT_SHOWN
            found[name] = None
    listed = [s.get("snapshot-id") for s in shown.get("snapshots") or ()]
    # Keeping only the current snapshot is a design; checks judge any other list.
    found["snapshot-history"] = listed != [shown.get("current-snapshot-id")]


def _etag(catalog: Catalog) -> bool:
    _claimed(catalog, "loadTable")
    table = shared_table(catalog)
    return catalog.load_table(table.namespace, table.name).header("etag") is not None


def _names_with(what: str) -> Trait:
    return Trait("createNamespace", f"objects cannot have names with {what}, quoted or not")


_OF_VERSIONS = "createTable.format-version-property"
CAPABILITIES: dict[str, Trait] = {
    "nested-namespaces": Trait(
        "createNamespace",
        "there is one level of namespaces: CREATE NAMESPACE a.b fails in every engine",
        _nested_namespaces,
        effect="createNamespace.nested",
    ),
    "deep-namespaces": Trait(
        "createNamespace", "namespaces have a limit of levels: CREATE NAMESPACE a.b.c.d fails"
    ),
    "namespace-properties": Trait(
        "loadNamespaceMetadata",
        "COMMENT, LOCATION and ALTER NAMESPACE … SET PROPERTIES are lost or fail",
        _namespace_properties,
    ),
    "stage-create": Trait(
        "createTable",
        "CREATE TABLE AS SELECT and create transactions of Java clients fail (Spark, Trino, Flink)",
        _stage_create,
        effect="createTable.stage-returns-metadata",
        demanded=True,
    ),
    "client-location": Trait(
        "createTable", "CREATE TABLE … LOCATION fails: the catalog places every table"
    ),
    "client-view-location": Trait("createView", "views lie where the catalog puts them"),
    "table-relocation": Trait("updateTable", "ALTER TABLE … SET LOCATION fails"),
    "view-relocation": Trait("replaceView", "a view's metadata stays where the catalog has put it"),
    "cross-namespace-rename": Trait(
        "renameTable",
        "ALTER TABLE … RENAME TO works within a namespace only",
        _cross_namespace_rename,
    ),
    "cross-namespace-view-rename": Trait(
        "renameView", "ALTER VIEW … RENAME TO works within a namespace only"
    ),
    "pagination": Trait(
        "listTables",
        "lists come whole: clients wait, and need memory, for the longest one",
        _pagination,
    ),
    "etag": Trait(
        "loadTable",
        "clients load the whole metadata each time they ask whether a table has changed",
        _etag,
    ),
    "snapshots-refs": Trait(
        "loadTable", "snapshot-loading-mode=refs saves nothing: every load carries every snapshot"
    ),
    "snapshot-history": Trait(
        "loadTable",
        "time travel, rollback, expiry of snapshots and incremental reads see one snapshot",
        _snapshots,
    ),
    "metadata-only-snapshots": Trait(
        "updateTable",
        "nothing for engines, which write manifests; snapshots can be judged with Spark only",
        _snapshots,
    ),
    "branches": Trait(
        "updateTable",
        "ALTER TABLE … CREATE BRANCH and write-audit-publish fail",
        _snapshots,
        effect="update.set-snapshot-ref.effect",
    ),
    "tags": Trait(
        "updateTable",
        "ALTER TABLE … CREATE TAG fails: no snapshot can be kept by name",
        _snapshots,
        effect="update.set-snapshot-ref.effect",
    ),
    "format-version-1": Trait(
        "createTable",
        "no tables of format version 1 for old readers",
        _format_version(1),
        effect=_OF_VERSIONS,
    ),
    "format-version-2": Trait(
        "createTable",
        "no deletes by position or equality: MERGE and DELETE rewrite files",
        _format_version(2),
        effect=_OF_VERSIONS,
    ),
    "format-version-3": Trait(
        "createTable",
        "no deletion vectors, row lineage, default values, variants or nanoseconds",
        _format_version(3),
        effect=_OF_VERSIONS,
    ),
    "purge": Trait("dropTable", "DROP TABLE … PURGE fails, or leaves every file of the table"),
    "view-dialects": Trait(
        "createView", "a view has one dialect: it is made anew for each engine that reads it"
    ),
    "mixed-case-names": Trait(
        "createNamespace",
        "names come back in lower case: engines that compare them as they were written miss them",
    ),
    "case-distinct-names": Trait(
        "createNamespace", "names that differ in case only cannot exist side by side"
    ),
    "names-with-space": _names_with("a space"),
    "names-with-plus": _names_with("a plus sign"),
    "names-with-percent": _names_with("a percent sign"),
    "names-with-unicode": _names_with("characters beyond ASCII"),
    "names-with-dot": _names_with("a dot"),
    "names-with-slash": _names_with("a slash"),
}
"""Each capability, what is lost without it and how it is found out, by the name in ``needs=``."""
