"""Capabilities that no endpoint announces, found out once by trying (verdict-rules 7)."""

from collections.abc import Callable

from icecheck import bodies
from icecheck.client import Catalog
from icecheck.expect import SHAPE_ERRORS, Blocked, NotOffered, Reply, Violation

__all__ = ["CAPABILITIES", "has_capability"]


def has_capability(catalog: Catalog, name: str) -> bool:
    """Whether the catalog has a capability; probed on first use and remembered by the session.

    A probe that cannot be arranged counts as present: the checks then say what is wrong.
    """
    known = catalog.session.capabilities
    if name not in known:
        prober = Catalog(catalog.session, catalog.session.probe_id(name))
        try:
            known[name] = CAPABILITIES[name](prober)
        except (Blocked, NotOffered, *SHAPE_ERRORS):
            known[name] = True
        finally:
            prober.undo()
    return known[name]


def _nested_namespaces(catalog: Catalog) -> bool:
    parent = catalog.given_namespace()
    return catalog.create_namespace((*parent, catalog.new_name())).ok


def _namespace_properties(catalog: Catalog) -> bool:
    namespace = catalog.given_namespace()
    # Properties that can only be given at creation are properties too.
    if catalog.claims("updateProperties"):
        update = catalog.update_properties(namespace, updates={"icecheck": "probe"})
        if update.status == 406:
            return False
    reply = catalog.load_namespace_metadata(namespace)
    try:
        body = reply.json()
    except Violation:  # a broken answer is no refusal of the capability
        return True
    return not (isinstance(body, dict) and "properties" in body and body["properties"] is None)


def _cross_namespace_rename(catalog: Catalog) -> bool:
    table = catalog.given_table()
    elsewhere = catalog.given_namespace()
    moved = (elsewhere, catalog.new_name())
    return catalog.rename_table((table.namespace, table.name), moved).status != 406


def _pagination(catalog: Catalog) -> bool:
    namespace = catalog.given_namespace()
    for _ in range(3):
        catalog.given_table(namespace)
    reply = catalog.list_tables(namespace, [("pageToken", ""), ("pageSize", "1")])
    try:
        body = reply.json()
    except Violation:
        return True
    return isinstance(body, dict) and body.get("next-page-token") is not None


def _stage_create(catalog: Catalog) -> bool:
    namespace = catalog.given_namespace()
    body = bodies.create_table_body(catalog.new_name(), stage_create=True)
    return catalog.create_table(namespace, body).status not in {406, 501}


def _format_version(version: int) -> Callable[[Catalog], bool]:
    def probe(catalog: Catalog) -> bool:
        namespace = catalog.given_namespace()
        body = bodies.create_table_body(
            catalog.new_name(), properties={"format-version": str(version)}
        )
        return catalog.create_table(namespace, body).ok

    return probe


def _branches(catalog: Catalog) -> bool:
    empty = catalog.given_table()
    table = catalog.given_snapshot(empty)
    update = bodies.snapshot_ref(bodies.snapshot(empty.metadata)["snapshot-id"], "probe")
    return not _refuses(catalog.update_table(table.namespace, table.name, [update]))


def _snapshot_history(catalog: Catalog) -> bool:
    table = catalog.given_table()
    for ordinal in (1, 2):
        table = catalog.given_snapshot(table, ordinal)
    reply = catalog.load_table(table.namespace, table.name)
    try:
        metadata = reply.member("metadata")
        shown = [s.get("snapshot-id") for s in metadata.get("snapshots") or ()]
        current = metadata.get("current-snapshot-id")
    except (Violation, AttributeError):
        return True
    # Only the current snapshot is a design; none, or another one, is for the checks to judge.
    return bool(shown != [current])


def _client_location(catalog: Catalog) -> bool:
    table = catalog.given_table()
    update = {"action": "set-location", "location": f"{table.metadata.get('location')}_moved"}
    return not _refuses(catalog.update_table(table.namespace, table.name, [update]))


def _refuses(reply: Reply) -> bool:
    return 400 <= reply.status < 500 or reply.status == 501


def _etag(catalog: Catalog) -> bool:
    table = catalog.given_table()
    return catalog.load_table(table.namespace, table.name).header("etag") is not None


CAPABILITIES: dict[str, Callable[[Catalog], bool]] = {
    "nested-namespaces": _nested_namespaces,
    "namespace-properties": _namespace_properties,
    "cross-namespace-rename": _cross_namespace_rename,
    "pagination": _pagination,
    "stage-create": _stage_create,
    "etag": _etag,
    "branches": _branches,
    "snapshot-history": _snapshot_history,
    "client-location": _client_location,
    "format-version-1": _format_version(1),
    "format-version-2": _format_version(2),
    "format-version-3": _format_version(3),
}
"""Each capability and the probe that finds it out; the names are what ``needs=`` takes."""
