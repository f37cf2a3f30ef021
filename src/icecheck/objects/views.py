"""Views as clients send them: bodies, requests, arrange steps, and comparison without times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client.bodies import FIRST_SQL, VIEW_SCHEMA, create_view_body, view_version
from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    arrange,
    arrange_made,
    given_table,
    lent_namespace,
    shared_namespace,
    shared_object,
)
from icecheck.client.shared_objects import LentNamespace
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.findings.symptoms import NOT_ALL_SEEN, UNNAMED_CHANGED, Severity, declare
from icecheck.findings.verdict import SkipKind
from icecheck.judging.probes import is_refusal, saw
from icecheck.objects.metadata_view import (
    field_ids,
    metadata_in,
    place,
    shape,
    single_values,
)
from icecheck.objects.reading import supported
from icecheck.replies.expect import Blocked, NotOffered, Reply
from icecheck.targets.target import Namespace

__all__ = [
    "FIRST_SQL",
    "MARK",
    "METADATA_LOCATION_STAYS",
    "RENAME_CHANGED_THE_VIEW",
    "VIEW_HISTORY_LOST",
    "VIEW_SCHEMA",
    "VIEW_VERSION_WITHOUT_SCHEMA",
    "View",
    "add_version",
    "create_view_body",
    "current_versions",
    "definition_of",
    "expect_view_unchanged",
    "given_view",
    "in_dialects",
    "loaded_view",
    "replace_view",
    "set_current_version",
    "settled_view",
    "shared_table_and_view",
    "shared_view",
    "shared_views",
    "some_view",
    "version_with",
    "view_version",
]

METADATA_LOCATION_STAYS = declare(
    "metadata-location-stays",
    "Keeps the metadata location of a view that a commit has changed",
    Severity.FALSE_OR_LOST,
    "every client: the earlier version is overwritten",
)
RENAME_CHANGED_THE_VIEW = declare(
    "rename-changed-the-view",
    "Renaming a view changes the view",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)
VIEW_HISTORY_LOST = declare(
    "view-history-lost",
    "A view loses earlier versions, or entries of its version log",
    Severity.FALSE_OR_LOST,
    NOT_ALL_SEEN,
)
VIEW_VERSION_WITHOUT_SCHEMA = declare(
    "view-version-without-schema",
    "A version of a view refers to a schema that is not there",
    Severity.SHAPE,
    "every client that loads it: the metadata cannot be read",
)

Json = dict[str, Any]

MARK = "icecheck.mark"
"""The property by which checks distinguish the states of a view."""


@dataclass(frozen=True, slots=True)
class View:
    """A view that exists, as its last answer described it."""

    namespace: Namespace
    name: str
    metadata: Json
    metadata_location: str | None

    @property
    def uuid(self) -> str:
        """The view's UUID."""
        return str(self.metadata.get("view-uuid"))

    @property
    def identifier(self) -> Json:
        """The view's identifier in the form that requests use."""
        return {"namespace": [*self.namespace], "name": self.name}

    @property
    def same(self) -> Json:
        """The requirement that Spark's Java client sends with every commit to a view."""
        return {"type": "assert-view-uuid", "uuid": self.uuid}


# --------------------------------------------------------------------------- bodies


def add_version(view: View, sql: str, **members: Any) -> Json:
    """Return the update that adds a later version with this query on the current schema."""
    versions = view.metadata["versions"]
    if not versions:
        raise Blocked("loadView.full-metadata", "the view has no versions")
    newest = max(versions, key=lambda version: int(version.get("version-id", 0)))
    sent = {
        "schema_id": newest.get("schema-id", 0),
        "version_id": int(newest.get("version-id", 0)) + 1,
        "timestamp_ms": int(newest.get("timestamp-ms", 0)) + 1,
        **members,
    }
    made = view_version(sql, namespace=view.namespace, **sent)
    return {"action": "add-view-version", "view-version": made}


def set_current_version(version_id: Any) -> Json:
    """Return the update that makes a version current; -1 stands for the version added last."""
    return {"action": "set-current-view-version", "view-version-id": version_id}


# ------------------------------------------------------------------------- requests


def replace_view(
    catalog: Catalog, view: View, updates: Sequence[Any], requirements: Sequence[Any] | None = None
) -> Reply:
    """POST a commit to a view, with the requirement of the same uuid unless others are given."""
    required = [view.same] if requirements is None else requirements
    return catalog.replace_view(view.namespace, view.name, updates, required)


# -------------------------------------------------------------------- arrange steps


def given_view(catalog: Catalog, namespace: Namespace | None = None, **members: Any) -> View:
    """Create a view in the given namespace or the run's shared one, and return it.

    ``members`` are those of ``create_view_body``.
    """
    where = shared_namespace(catalog) if namespace is None else namespace
    name = catalog.new_name()
    body = create_view_body(name, where, **members)
    reply = arrange_made(
        catalog,
        "createView",
        lambda: catalog.create_view(where, body),
        lambda: catalog.load_view(where, name),
    )
    return View(where, name, _usable(reply), reply.json().get("metadata-location"))


def in_dialects(
    catalog: Catalog, version: Json, send: Callable[[Json], Reply]
) -> tuple[Json, Reply]:
    """Send a version in several dialects, or in the first only if the catalog refuses several.

    Returns the version that was sent last and the answer to it.
    """
    reply = send(version)
    if not is_refusal(reply):
        if reply.ok:
            saw(catalog, "view-dialects", present=True)
        return version, reply
    single = {**version, "representations": version["representations"][:1]}
    reply = send(single)
    if reply.ok:
        saw(catalog, "view-dialects", present=False)
    return single, supported(reply)


def shared_view(catalog: Catalog) -> View:
    """Return a view that checks share, for read-only or refused requests.

    It is as a load shows it, where the catalog claims loadView.
    """

    def make(lender: Catalog, namespace: Namespace) -> View:
        view = given_view(lender, namespace)
        return _given_loaded(lender, namespace, view.name) if lender.claims("loadView") else view

    return shared_object(catalog, "view", make)


def shared_views(catalog: Catalog) -> LentNamespace:
    """Return a namespace with three views that checks share, to be listed."""
    return lent_namespace(
        catalog,
        "views",
        lambda maker, namespace: [given_view(maker, namespace).name for _ in range(3)],
    )


def shared_table_and_view(catalog: Catalog) -> LentNamespace:
    """Return a namespace with a table and a view that checks share, to be listed."""

    def fill(maker: Catalog, namespace: Namespace) -> list[str]:
        return [given_table(maker, namespace).name, given_view(maker, namespace).name]

    return lent_namespace(catalog, "table-and-view", fill)


def some_view(catalog: Catalog) -> View:
    """Return a view to read: the shared one, or the given view under read-only safety."""
    if not catalog.target.read_only:
        return shared_view(catalog)
    if catalog.target.given.view is None:
        raise NotOffered("name a view to read with --given-view", SkipKind.SAFETY_LEVEL)
    namespace, name = catalog.target.given.view
    return _given_loaded(catalog, namespace, name)


def _given_loaded(catalog: Catalog, namespace: Namespace, name: str) -> View:
    reply = arrange(catalog, "loadView", lambda: catalog.load_view(namespace, name))
    return View(namespace, name, _usable(reply), reply.json().get("metadata-location"))


def loaded_view(catalog: Catalog, view: View) -> View:
    """Load a view that must exist (else a Violation), and return its current state."""
    reply = catalog.load_view(view.namespace, view.name).expect(200)
    location = reply.json().get("metadata-location")
    return replace(view, metadata=_usable(reply), metadata_location=location)


def _usable(reply: Reply) -> Json:
    metadata = metadata_in(reply)
    if "view-uuid" not in metadata or not isinstance(metadata.get("versions"), list):
        by = f"schema.{reply.exchange.operation}.200"
        why = "the answer has no usable view metadata"
        raise Blocked(by, why, exchange=reply.exchange.ordinal)
    return metadata


# -------------------------------------------------------------------------- reading


def current_versions(metadata: Mapping[str, Any]) -> list[Json]:
    """Return the versions that have the current id; a correct catalog has exactly one."""
    current = metadata.get("current-version-id")
    versions = metadata.get("versions") or ()
    return [version for version in versions if version.get("version-id") == current]


def version_with(metadata: Json, sql: str) -> Json:
    """Return the version whose first query is this one, or an empty object."""
    for version in metadata.get("versions") or ():
        queries = [each.get("sql") for each in version.get("representations") or ()]
        if queries[:1] == [sql]:
            return dict(version)
    return {}


def definition_of(version: Json) -> Json:
    """Return what a view version defines, without members that later documents may add."""
    shown = [
        {member: each.get(member) for member in ("type", "sql", "dialect")}
        for each in version.get("representations") or ()
    ]
    kept = {member: version.get(member) for member in ("default-catalog", "default-namespace")}
    return {"representations": shown, **kept}


def settled_view(metadata: Json, *property_keys: str) -> Json:
    """Return what only a commit or a rename may change, without times, logs and other properties.

    A catalog may move the files of a view when its name changes: remove the location to compare
    across a rename.
    """
    properties = metadata.get("properties") or {}
    return {
        "view-uuid": str(metadata.get("view-uuid")).lower(),
        "location": place(metadata.get("location")),
        **{member: metadata.get(member) for member in single_values("ViewMetadata")},
        "schemas": {
            str(schema.get("schema-id", 0)): (shape(schema), [*field_ids(schema)])
            for schema in metadata.get("schemas") or ()
        },
        "versions": {str(v.get("version-id")): _settled(v) for v in metadata["versions"]},
        "properties": {key: properties.get(key) for key in property_keys},
    }


def _settled(version: Json) -> Json:
    return {"schema-id": version.get("schema-id"), **definition_of(version)}


def expect_view_unchanged(catalog: Catalog, before: View, detail: str = "") -> None:
    """Judge that a request which must not change a view left it as an earlier answer showed it."""
    reply = catalog.load_view(before.namespace, before.name).expect_there_or_gone()
    found = settled_view(_usable(reply), MARK) if reply.ok else {}
    if found != settled_view(before.metadata, MARK):
        symptom, due = CHANGED_ALTHOUGH_REFUSED, "the view as it was"
        seen = "another view" if found else "no view"
        raise reply.violation(symptom, due, seen, detail=detail)
