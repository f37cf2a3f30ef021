"""The effects on which many checks rely, and how each is tried in its plainest form."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    another_shared_namespace,
    given_commit,
    given_namespace,
    given_table,
    shared_namespace,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.findings.verdict import Finding
from icecheck.judging.explaining.routes import PROPERTY, ROUTES, is_unknown_route
from icecheck.judging.explaining.updates import (
    TABLE_UPDATES,
    VIEW_UPDATES,
    all_updates_change,
    has_several_updates,
    make_view,
    transaction_changes,
)
from icecheck.judging.probes import has_capability
from icecheck.ownership.removal import is_gone
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace

_STAGED_WITH = ("schema", "schemas", "partition-spec", "sort-orders", "properties")
_LOST_OF_STAGED = frozenset(EFFECT_MISSING.of(member) for member in _STAGED_WITH)
Json = dict[str, Any]
Name = tuple[Namespace, str]


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect on which checks rely; ``requirement`` is the one that demands it.

    A check relies on it if it sends one of ``operations`` with a body of which ``relies`` is true.
    ``explains`` says of such a body and a finding whether the lack of the effect may explain the
    finding. ``is_kept`` tries it, and returns whether it shows afterwards. The effect of a
    ``route`` is that an operation is served: its lack explains the operation's own answers only,
    to checks that can do without.
    """

    requirement: str
    operations: tuple[str, ...]
    is_kept: Callable[[Catalog], bool]
    relies: Callable[[Json], bool] = lambda _: True
    explains: Callable[[Json, Finding], bool] = lambda _body, _finding: True
    route: bool = False


def relied_on(operation_id: str | None, sent: Json) -> Iterator[Effect]:
    """Yield the effects on which a request relies."""
    return (e for e in EFFECTS if operation_id in e.operations and e.relies(sent))


# ---- objects of each kind


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a table or a view is made, loaded, listed, renamed and committed to."""

    make: Callable[..., Name]
    load: Callable[[Catalog, Name], Reply]
    rename: Callable[[Catalog, Name, Name], Reply]
    listed: Callable[[Catalog, Namespace], Reply]


def _told(reply: Reply) -> Reply:
    """Return an answer if it tells whether the object is there; raise NotOffered if not."""
    operation_id = str(reply.exchange.operation)
    if not (reply.ok or is_gone(reply)):
        raise NotOffered(f"{operation_id} is answered {reply.status}, which tells nothing")
    return reply


def _load_table(catalog: Catalog, name: Name) -> Reply:
    return _told(catalog.load_table(*name))


def _load_view(catalog: Catalog, name: Name) -> Reply:
    return _told(catalog.load_view(*name))


def _load_namespace(catalog: Catalog, namespace: Namespace) -> Reply:
    return _told(catalog.load_namespace_metadata(namespace))


def _make_table(catalog: Catalog, **members: Any) -> Name:
    table = given_table(catalog, **members)
    return table.namespace, table.name


_TABLE = _Kind(
    _make_table,
    _load_table,
    lambda catalog, *ends: catalog.rename_table(*ends),
    lambda catalog, namespace: catalog.list_tables(namespace),
)
_VIEW = _Kind(
    make_view,
    _load_view,
    lambda catalog, *ends: catalog.rename_view(*ends),
    lambda catalog, namespace: catalog.list_views(namespace),
)


def _exists(kind: _Kind, catalog: Catalog) -> bool:
    """Return whether an object is there after its creation: by its load, or by a list."""
    namespace, name = kind.make(catalog)
    if not is_gone(kind.load(catalog, (namespace, name))):
        return True
    identifier = {"namespace": [*namespace], "name": name}
    return identifier in (
        kind.listed(catalog, namespace).expect(200).json().get("identifiers") or ()
    )


def _plain_namespace(catalog: Catalog) -> Namespace:
    """Make a namespace of one level: that one of several may not be found is another matter.

    Where the user has named a parent, everything of the run stays in it.
    """
    parent = catalog.session.isolation.mode == "parent"
    return given_namespace(catalog, under=None if parent else ())


def _namespace_exists(catalog: Catalog) -> bool:
    namespace = _plain_namespace(catalog)
    if not is_gone(_load_namespace(catalog, namespace)):
        return True
    listed = catalog.list_namespaces(namespace[:-1] or None).expect(200).json().get("namespaces")
    return [*namespace] in (listed or ())


def _registers(catalog: Catalog) -> bool:
    """Return whether a table is there after its metadata file was registered."""
    namespace, name = _make_table(catalog)
    file = catalog.load_table(namespace, name).expect(200).json().get("metadata-location")
    if file is None or not catalog.drop_table(namespace, name).ok:
        return True
    again = namespace, catalog.new_name()
    registered = catalog.register_table(*again, file)
    return not registered.ok or not is_gone(_load_table(catalog, again))


def _is_not_made(catalog: Catalog) -> bool:
    """Return whether a staged table is not there."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    body = bodies.create_table_body(name, stage_create=True)
    return not catalog.create_table(namespace, body).ok or is_gone(
        _load_table(catalog, (namespace, name))
    )


def _is_of_existence(_: Json, finding: Finding) -> bool:
    """Return whether a finding may be due to a table that exists too early.

    What is shown of such a table is another matter: it has all that it was staged with.
    """
    return finding.symptom not in _LOST_OF_STAGED and not finding.pointer.startswith("/metadata")


def _moves(kind: _Kind, catalog: Catalog, *, across: bool) -> bool:
    old = kind.make(catalog)
    new = another_shared_namespace(catalog) if across else old[0], catalog.new_name()
    if not kind.rename(catalog, old, new).ok:
        return True
    return kind.load(catalog, new).ok and is_gone(kind.load(catalog, old))


def _crosses(sent: Json) -> bool:
    source, destination = (sent.get(end) for end in ("source", "destination"))
    if not isinstance(source, dict) or not isinstance(destination, dict):
        return False
    return bool(source.get("namespace") != destination.get("namespace"))


def _view_goes(catalog: Catalog) -> bool:
    view = make_view(catalog)
    _told(catalog.drop_view(*view))  # any other refusal acknowledges nothing
    return is_gone(_load_view(catalog, view))


# What is still there was not dropped: that the drop is not found is then true of its route.


def _table_drop_answers(catalog: Catalog) -> bool:
    table = _make_table(catalog)
    return not is_gone(catalog.drop_table(*table)) or not is_gone(_load_table(catalog, table))


def _view_drop_answers(catalog: Catalog) -> bool:
    view = make_view(catalog)
    return not is_gone(catalog.drop_view(*view)) or not is_gone(_load_view(catalog, view))


def _namespace_drop_answers(catalog: Catalog) -> bool:
    own = _plain_namespace(catalog)
    return not is_gone(catalog.drop_namespace(own)) or not is_gone(_load_namespace(catalog, own))


def _tag_changes(catalog: Catalog) -> bool:
    table = given_table(catalog)
    first = catalog.load_table(table.namespace, table.name).expect(200).header("etag")
    given_commit(catalog, table, [bodies.set_properties(PROPERTY)])
    loaded = catalog.load_table(table.namespace, table.name).expect(200)
    return first is None or loaded.header("etag") != first


def _is_not_modified(_: Json, finding: Finding) -> bool:
    return finding.answered == HTTPStatus.NOT_MODIFIED


# ---- properties at creation


_MEMBERS = "/metadata/"
_PROPERTIES = f"{_MEMBERS}properties"


def _own_properties(sent: Json) -> Json:
    properties = sent.get("properties")
    found = properties if isinstance(properties, dict) else {}
    return {key: value for key, value in found.items() if key != "format-version"}


def _has_own_properties(sent: Json) -> bool:
    return bool(_own_properties(sent))


def _speaks_of_properties(sent: Json, finding: Finding) -> bool:
    if finding.pointer.startswith(_MEMBERS) and not finding.pointer.startswith(_PROPERTIES):
        return False  # statistics, schemas and more have properties of their own
    words = f"{finding.pointer} {finding.detail} {finding.expected} {finding.actual}"
    return "propert" in words or any(key in words for key in _own_properties(sent))


def _keeps_properties(kind: _Kind, catalog: Catalog) -> bool:
    made = kind.make(catalog, properties=PROPERTY)
    return _has_property(kind.load(catalog, made).expect(200).member("metadata"))


def _namespace_keeps_properties(catalog: Catalog) -> bool:
    if not has_capability(catalog, "namespace-properties"):
        return True  # that is a design, and no check fails for it
    namespace = given_namespace(catalog, PROPERTY)
    return _has_property(catalog.load_namespace_metadata(namespace).expect(200).json())


def _has_property(holder: Json) -> bool:
    return bool((holder.get("properties") or {}).items() >= PROPERTY.items())


def _is_served(operation_id: str, send: Callable[[Catalog], Reply], catalog: Catalog) -> bool:
    return not catalog.claims(operation_id) or not is_unknown_route(send(catalog))


EFFECTS = (
    Effect("createNamespace.exists-afterwards", ("createNamespace",), _namespace_exists),
    Effect("createTable.immediate", ("createTable",), partial(_exists, _TABLE)),
    Effect("registerTable.answer-is-the-table", ("registerTable",), _registers),
    Effect("createView.immediate", ("createView",), partial(_exists, _VIEW)),
    Effect(
        "createTable.stage-creates-nothing",
        ("createTable",),
        _is_not_made,
        lambda sent: sent.get("stage-create") is True,
        _is_of_existence,
    ),
    *(
        Effect(requirement, (id_,), partial(_is_served, id_, send), route=True)
        for requirement, send in ROUTES.items()
        for id_ in [requirement.partition(".")[0]]
    ),
    *(
        Effect(requirement, (operation,), is_kept, _has_own_properties, _speaks_of_properties)
        for requirement, operation, is_kept in (
            ("createTable.properties-kept", "createTable", partial(_keeps_properties, _TABLE)),
            ("createView.properties-kept", "createView", partial(_keeps_properties, _VIEW)),
            (
                "createNamespace.properties-stored",
                "createNamespace",
                _namespace_keeps_properties,
            ),
        )
    ),
    Effect(
        "commit.several-updates",
        ("updateTable", "commitTransaction"),
        all_updates_change,
        has_several_updates,
    ),
    *(
        Effect(f"{family}.{action}.effect", operations, tried.is_kept, tried.relies)
        for family, operations, updates in (
            ("update", ("updateTable", "commitTransaction"), TABLE_UPDATES),
            ("view-update", ("replaceView",), VIEW_UPDATES),
        )
        for action, tried in updates.items()
    ),
    Effect("transaction.every-table-changes", ("commitTransaction",), transaction_changes),
    *(
        effect
        for kind, operation in ((_TABLE, "renameTable"), (_VIEW, "renameView"))
        for effect in (
            Effect(f"{operation}.moves", (operation,), partial(_moves, kind, across=False)),
            Effect(
                f"{operation}.across-namespaces",
                (operation,),
                partial(_moves, kind, across=True),
                _crosses,
            ),
        )
    ),
    Effect("dropView.gone", ("dropView",), _view_goes),
    # A drop that is carried out and answered 404 says that nothing was there.
    Effect("dropTable.204", ("dropTable",), _table_drop_answers),
    Effect("dropView.204", ("dropView",), _view_drop_answers),
    Effect("dropNamespace.204", ("dropNamespace",), _namespace_drop_answers),
    Effect("etag.changes-with-commit", ("loadTable",), _tag_changes, explains=_is_not_modified),
)
"""What checks rely on, in the order in which it is tried: the first that explains is told."""
