"""Defects of values of namespaces and views: unusual ones are altered when stored."""

import html
import re
from collections.abc import Callable
from typing import Any

from icecheck.mock_server.core.context import Call, Outcome
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, defect
from icecheck.mock_server.defects.kit.places import view_update
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_request_body
from icecheck.mock_server.defects.kit.updating import FaithfulViewUpdate

Alter = Callable[[Any], Any]

_WIDTH = 255  # characters in a database column
_OTHERWISE = "What is read is not what was written, and nobody was told."


def _at(body: Any, member: str, alter: Alter) -> Any:
    """Return JSON in which every member of this name, at any depth, is altered."""
    if isinstance(body, list):
        return [_at(each, member, alter) for each in body]
    if not isinstance(body, dict):
        return body
    return {
        key: alter(item) if key == member else _at(item, member, alter)
        for key, item in body.items()
    }


def _in_values(alter: Alter) -> Alter:
    return lambda pairs: {key: alter(value) for key, value in pairs.items()}


def _small_keys(pairs: Json) -> Json:
    return {key.lower(): value for key, value in pairs.items()}


def _said(pairs: Json) -> Json:
    return {key: value for key, value in pairs.items() if value}


def _as_number(value: str) -> str:
    return str(int(value)) if value.isdecimal() else value


def _cut(value: str) -> str:
    return value[:_WIDTH]


def _uncommented(sql: str) -> str:
    return re.sub("--.*", "", sql)


def _substituted(sql: str) -> str:
    return re.sub(r"\$\{[^}]*\}", "", sql)


# name -> operation, member, alteration, broken requirement, title
_SLIPS: dict[str, tuple[str, str, Alter, str, str]] = {
    "namespace-created-keys-lowered": (
        "createNamespace", "properties", _small_keys, "roundtrip.namespace-created",
        "The keys of a new namespace's properties are kept in lower case",
    ),
    "namespace-created-values-trimmed": (
        "createNamespace", "properties", _in_values(str.strip), "roundtrip.namespace-created",
        "The values of a new namespace's properties are trimmed",
    ),
    "namespace-updated-values-escaped": (
        "updateProperties", "updates", _in_values(html.escape), "roundtrip.namespace-updated",
        "The values of properties are escaped for HTML when they are written",
    ),
    "namespace-updated-empty-is-null": (
        "updateProperties", "updates", _said, "roundtrip.namespace-updated",
        "A property that is set to the empty string is taken for one that is not set",
    ),
    "namespace-removed-keys-trimmed": (
        "updateProperties", "removals", lambda keys: [key.strip() for key in keys],
        "roundtrip.namespace-removed", "The keys of a removal are trimmed",
    ),
    "view-created-variables-substituted": (
        "createView", "sql", _substituted, "roundtrip.view-sql-created",
        "What looks like a variable is taken out of a view's query",
    ),
    "view-created-dialects-sorted": (
        "createView", "representations", lambda all_: sorted(all_, key=lambda r: r["dialect"]),
        "roundtrip.view-sql-created", "The queries of a view are kept in the order of dialects",
    ),
    "view-replaced-comments-removed": (
        "replaceView", "sql", _uncommented, "roundtrip.view-sql-replaced",
        "Comments are taken out of the queries that a commit adds",
    ),
    "view-replaced-dialects-lowered": (
        "replaceView", "dialect", str.strip, "roundtrip.view-sql-replaced",
        "The dialects of a version that a commit adds are trimmed",
    ),
    "view-context-levels-sorted": (
        "replaceView", "default-namespace", sorted, "roundtrip.view-context",
        "The levels of a version's default namespace are kept as a set",
    ),
    "view-context-catalog-trimmed": (
        "replaceView", "default-catalog", str.strip, "roundtrip.view-context",
        "The default catalog of a version is trimmed",
    ),
    "view-summary-cut": (
        "replaceView", "summary", _in_values(_cut), "roundtrip.view-summary",
        "The entries of a version's summary are cut to the width of a column",
    ),
    "view-summary-keys-lowered": (
        "replaceView", "summary", _small_keys, "roundtrip.view-summary",
        "The keys of a version's summary are kept in lower case",
    ),
    "view-properties-line-ends": (
        "replaceView", "updates", lambda of: _at_properties(of, _in_values(_one_line_end)),
        "roundtrip.view-properties", "Line ends in the properties of a view are normalised",
    ),
    "view-created-numbers-typed": (
        "createView", "properties", _in_values(_as_number), "roundtrip.view-properties-created",
        "The properties of a view that look like numbers are kept as numbers",
    ),
    "view-created-empty-is-null": (
        "createView", "properties", _said, "roundtrip.view-properties-created",
        "A property of a new view that is empty is not kept",
    ),
    "view-created-docs-cut": (
        "createView", "doc", _cut, "roundtrip.view-schema-created",
        "The doc of a view's column is cut to the width of a column",
    ),
    "view-created-elements-optional": (
        "createView", "element-required", lambda _: False, "roundtrip.view-schema-created",
        "A list inside another type is kept as one whose elements may be null",
    ),
    "view-replaced-column-names-trimmed": (
        "replaceView", "name", str.strip, "roundtrip.view-schema-replaced",
        "The names of columns that a commit adds to a view are trimmed",
    ),
    "view-replaced-values-optional": (
        "replaceView", "value-required", lambda _: False, "roundtrip.view-schema-replaced",
        "A map in the schema of a commit to a view is kept as one whose values may be null",
    ),
}  # fmt: skip


def _one_line_end(value: str) -> str:
    return value.replace("\r\n", "\n")


def _at_properties(updates: Any, alter: Alter) -> Any:
    return [
        {**each, "updates": alter(each["updates"])} if "updates" in each else each
        for each in updates
    ]


def _declare(name: str) -> None:
    operation_id, member, alter, breaks, title = _SLIPS[name]

    declare(
        name,
        f"{title}.",
        by(alter_request_body, operation_id, lambda body: _at(body, member, alter)),
        breaks=breaks,
        suffering=_OTHERWISE,
    )


for _name in _SLIPS:
    _declare(_name)


@defect(
    "namespace-removed-whatever-case",
    on="updateProperties",
    breaks="roundtrip.namespace-removed",
    suffering="A property disappears that nobody has removed.",
)
def _removed_whatever_case(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A removal takes every key that is equal but for case."""
    outcome = faithful(state, call)
    removals = {str(key).lower() for key in sent_json(call).get("removals") or ()}
    entry = outcome.state.namespace(call.namespace)
    if entry is None or not removals:
        return outcome
    kept = {k: v for k, v in entry.properties.items() if k.lower() not in removals}
    return Outcome(outcome.state.with_namespace(call.namespace, kept), outcome.reply)


@defect(
    "view-properties-removed-by-prefix",
    on=view_update("remove-properties"),
    breaks="roundtrip.view-properties",
    suffering="A property disappears that nobody has removed.",
)
def _removed_by_prefix(_faithful: FaithfulViewUpdate, update: Any, draft: Any) -> None:
    """Removing a property of a view removes those that begin with its key too."""
    gone = tuple(update.removals)
    held = draft.metadata.properties.items()
    draft.change(properties={k: v for k, v in held if not k.startswith(gone)})
