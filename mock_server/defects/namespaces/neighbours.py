"""Defects that involve namespaces around the one that a request names."""

from collections.abc import Callable

from icecheck.mock_server.commits.default_locations import NAMESPACE_LOCATION
from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import defect, through
from icecheck.mock_server.defects.kit.requests import Json, Levels, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap

_NAMESPACES = "states.namespaces"
_FOREIGN = "A setting is on a namespace that nobody has given it to."


def _also(
    registries: Registries,
    operation_id: str,
    change: Callable[[WarehouseState, WarehouseState, Levels, Json], WarehouseState],
) -> None:
    """Let an operation on a namespace change more; `change` gets the states before and after."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        sent = sent_json(call)
        named = call.namespace or tuple(sent.get("namespace") or ())
        changed = change(state, outcome.state, named, sent)
        return Outcome(changed, outcome.reply, outcome.effects)

    wrap(registries, operation_id, around)


def _properties(state: WarehouseState, namespace: Levels) -> dict[str, str]:
    entry = state.namespace(namespace)
    return {} if entry is None else entry.properties


def _set_by_clients(properties: Json) -> set[str]:
    return set(properties) - {NAMESPACE_LOCATION}


@defect(
    "namespace-is-born-with-its-parents",
    on=through(_also, "createNamespace"),
    breaks=_NAMESPACES,
    suffering=_FOREIGN,
)
def _born_with_parents(
    _before: WarehouseState, after: WarehouseState, named: Levels, sent: Json
) -> WarehouseState:
    """A namespace that is created without properties gets a copy of its parent's."""
    if sent.get("properties"):
        return after
    return after.with_namespace(named, dict(_properties(after, named[:-1])))


@defect(
    "namespace-changes-go-down",
    on=through(_also, "updateProperties"),
    breaks=_NAMESPACES,
    suffering=_FOREIGN,
)
def _changes_go_down(
    _before: WarehouseState, after: WarehouseState, named: Levels, sent: Json
) -> WarehouseState:
    """A key that is removed of a namespace is removed of those in it as well."""
    gone = sent.get("removals") or []
    for path in [path for path, _ in after.namespaces.after()]:
        if len(path) > len(named) and path[: len(named)] == named:
            own = _properties(after, path).items()
            after = after.with_namespace(path, {k: v for k, v in own if k not in gone})
    return after


@defect(
    "namespace-stores-what-its-parent-lacks",
    on=through(_also, "updateProperties"),
    breaks=_NAMESPACES,
    suffering="Settings are lost.",
)
def _stores_what_parent_lacks(
    before: WarehouseState, after: WarehouseState, named: Levels, _sent: Json
) -> WarehouseState:
    """A property that a parent has with this value is not stored, and goes when that goes."""
    was, now = _properties(before, named), _properties(after, named)
    lost = {key: value for key, value in was.items() if key not in now}
    for child in [*after.children(named)]:
        own = _properties(after, child).items()
        kept = {key: value for key, value in own if lost.get(key) != value}
        after = after.with_namespace(child, kept)
    return after


@defect(
    "namespace-drop-clears-its-parent",
    on=through(_also, "dropNamespace"),
    breaks=_NAMESPACES,
    suffering="Settings are lost.",
)
def _drop_clears_parent(
    before: WarehouseState, after: WarehouseState, named: Levels, _sent: Json
) -> WarehouseState:
    """The properties of a dropped namespace are deleted by key, those of its parent with them."""
    gone, head = _properties(before, named), named[:-1]
    if not gone or after.namespace(head) is None:
        return after
    own = _properties(after, head).items()
    return after.with_namespace(head, {k: v for k, v in own if k not in gone})


@defect(
    "namespace-without-properties-any-more-is-null",
    breaks="loadNamespaceMetadata.none-set",
    suffering="Clients take it that the catalog keeps no properties.",
)
def _none_any_more_is_null(registries: Registries) -> None:
    """A namespace whose last property was removed has null, and a new one an empty object."""
    emptied: set[Levels] = set()

    def noted(
        before: WarehouseState, after: WarehouseState, named: Levels, _sent: Json
    ) -> WarehouseState:
        was, now = (_set_by_clients(_properties(each, named)) for each in (before, after))
        if was and not now:
            emptied.add(named)
        else:
            emptied.discard(named)
        return after

    def null(body: Json) -> Json:
        has_none = not _set_by_clients(body["properties"])
        is_null = has_none and tuple(body["namespace"]) in emptied
        return {**body, "properties": None} if is_null else body

    _also(registries, "updateProperties", noted)
    alter_body(registries, "loadNamespaceMetadata", null)
