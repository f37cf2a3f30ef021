"""What servers get wrong about the namespaces around the one that a request names."""

from collections.abc import Callable
from typing import Any

from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_body, sent_json, wrap
from icecheck.mock_server.publication import NAMESPACE_LOCATION
from icecheck.mock_server.state import WarehouseState

Levels = tuple[str, ...]
Json = dict[str, Any]

_NAMESPACES = "states.namespaces"
_FOREIGN = "A setting is on a namespace that nobody has given it to."


def _also(
    registries: Registries,
    operation_id: str,
    change: Callable[[WarehouseState, WarehouseState, Levels, Json], WarehouseState],
) -> None:
    """Let an operation on a namespace do more to the state; it gets those before and after."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
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


@defect("namespace-is-born-with-its-parents", breaks=_NAMESPACES, suffering=_FOREIGN)
def _born_with_parents(registries: Registries) -> None:
    """A namespace that is created without properties gets a copy of its parent's."""

    def copied(
        _before: WarehouseState, after: WarehouseState, named: Levels, sent: Json
    ) -> WarehouseState:
        if sent.get("properties"):
            return after
        return after.with_namespace(named, dict(_properties(after, named[:-1])))

    _also(registries, "createNamespace", copied)


@defect("namespace-changes-go-down", breaks=_NAMESPACES, suffering=_FOREIGN)
def _changes_go_down(registries: Registries) -> None:
    """A key that is removed of a namespace is removed of those in it as well."""

    def removed(
        _before: WarehouseState, after: WarehouseState, named: Levels, sent: Json
    ) -> WarehouseState:
        gone = sent.get("removals") or []
        for path in [path for path, _ in after.namespaces.after()]:
            if len(path) > len(named) and path[: len(named)] == named:
                own = _properties(after, path).items()
                after = after.with_namespace(path, {k: v for k, v in own if k not in gone})
        return after

    _also(registries, "updateProperties", removed)


@defect(
    "namespace-stores-what-its-parent-lacks", breaks=_NAMESPACES, suffering="Settings are lost."
)
def _stores_what_parent_lacks(registries: Registries) -> None:
    """A property that a parent has with this value is not stored, and goes when that goes."""

    def gone_with_it(
        before: WarehouseState, after: WarehouseState, named: Levels, _sent: Json
    ) -> WarehouseState:
        was, now = _properties(before, named), _properties(after, named)
        lost = {key: value for key, value in was.items() if key not in now}
        for child in [*after.children(named)]:
            own = _properties(after, child).items()
            kept = {key: value for key, value in own if lost.get(key) != value}
            after = after.with_namespace(child, kept)
        return after

    _also(registries, "updateProperties", gone_with_it)


@defect("namespace-drop-clears-its-parent", breaks=_NAMESPACES, suffering="Settings are lost.")
def _drop_clears_parent(registries: Registries) -> None:
    """The properties of a dropped namespace are deleted by key, those of its parent with them."""

    def cleared(
        before: WarehouseState, after: WarehouseState, named: Levels, _sent: Json
    ) -> WarehouseState:
        gone, head = _properties(before, named), named[:-1]
        if not gone or after.namespace(head) is None:
            return after
        own = _properties(after, head).items()
        return after.with_namespace(head, {k: v for k, v in own if k not in gone})

    _also(registries, "dropNamespace", cleared)


@defect(
    "namespace-without-properties-any-more-is-null",
    breaks=_NAMESPACES,
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
