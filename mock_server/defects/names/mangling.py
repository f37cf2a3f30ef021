"""Defects of names that are altered between path, body and store."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of, call_of, request_of
from icecheck.mock_server.defects.kit.requests import Json, sent_json
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_answer,
    alter_body,
    alter_calls,
    alter_request_body,
)
from icecheck.mock_server.protocol import names, problem

Reading = Callable[[str], str]


def _misread(registries: Registries, reading: Reading) -> None:
    """Let every operation see the names of its path altered by `reading`."""

    def misread(call: Call) -> Call:
        namespace = tuple(reading(level) for level in call.namespace)
        return msgspec.structs.replace(call, namespace=namespace, name=reading(call.name))

    alter_calls(registries, registries.operations, misread)


def _refuse_slashes(registries: Registries) -> None:
    def is_slashed(_: WarehouseState, call: Call) -> bool:
        return "%2f" in call.request.raw_path.lower()

    refuse_where(registries, tuple(registries.operations), is_slashed, 404, "NotFoundException")


def lower_cased(registries: Registries) -> None:
    """Keep names in lower case, compare them without case, and answer them in lower case."""
    _misread(registries, str.lower)
    made = {"createNamespace": "namespace", "createTable": "name", "createView": "name"}
    for operation_id, member in made.items():

        def lowered(body: Json, member: str = member) -> Json:
            return body | {member: _lower(body.get(member))} if member in body else body

        alter_request_body(registries, operation_id, lowered)


def _lower(value: Any) -> Any:
    if isinstance(value, list):
        return [_lower(each) for each in value]
    return value.lower() if isinstance(value, str) else value


@defect(
    "names-lower-case",
    breaks="names.case",
    suffering="Programs that look for the name they created do not find it.",
)
def _lower_case(registries: Registries) -> None:
    """Names are kept in lower case, and the answer to a creation has them as they were sent."""
    lower_cased(registries)

    def as_sent(call: Call, body: Json) -> Json:
        return body | {"namespace": sent_json(call)["namespace"]}

    alter_answer(registries, "createNamespace", as_sent)


@defect(
    "names-one-for-two-cases",
    on="createNamespace",
    breaks="names.case",
    suffering="A program that made a namespace of its own works in somebody else's.",
)
def _one_for_two(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A namespace whose name differs in case only is answered as made, and is the other one."""
    named = sent_json(call).get("namespace")
    there = {_folded(path) for path, _ in state.namespaces.after()}
    outcome = faithful(state, call)
    if isinstance(named, list) and _folded(named) in there:
        return msgspec.structs.replace(outcome, state=state)
    return outcome


def _folded(levels: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(level).lower() for level in levels)


@defect(
    "names-plus-is-plus",
    on=call_of("loadNamespaceMetadata"),
    breaks="names.space-as-plus",
    suffering="Spark finds no table with a space in its name.",
)
def _plus_is_plus(call: Call) -> Call:
    """A plus sign in a path is never a space, not even from Java clients."""
    if "+" not in call.request.raw_path:
        return call
    namespace = tuple(level.replace(" ", "+") for level in call.namespace)
    return msgspec.structs.replace(call, namespace=namespace)


def _join_at(registries: Registries, spelling: str) -> None:
    """Read the levels of a path as one level where the separator has this spelling."""

    def joined(call: Call) -> Call:
        if spelling not in call.request.raw_path:
            return call
        namespace = (names.NAMESPACE_SEPARATOR.join(call.namespace),)
        return msgspec.structs.replace(call, namespace=namespace)

    alter_calls(registries, registries.operations, joined)


declare_each(
    ("names-slash-splits", "names.slash",
     "A path is decoded before it is split: what follows %2F is another segment.",
     "Tables with a slash in their name can be created and never read.", _refuse_slashes),
    ("names-dot-splits", "names.dot",
     "Namespaces are stored as text with dots, and split at every dot when listed.",
     "A name with a dot is shown as two levels, and never found again.",
     by(alter_body, "listNamespaces", lambda body: body | {
         "namespaces": [".".join(levels).split(".") for levels in body["namespaces"]]
     })),
    ("names-table-lower-case", "names.case", "Tables are listed in lower case.",
     "SHOW TABLES shows another name than CREATE TABLE was given.",
     by(
         alter_body,
         "listTables",
         lambda body: (
             body
             | {
                 "identifiers": [
                     each | {"name": each["name"].lower()} for each in body["identifiers"]
                 ]
             }
         ),
     )),
    ("names-space-not-decoded", "names.space", "%20 in a path is left as it is.",
     "Tables with a space in their name can be created and never read.",
     by(_misread, lambda name: name.replace(" ", "%20"))),
    ("names-plus-as-space", "names.plus",
     "A path is decoded first as a path and then as a form: %2B becomes a space.",
     "Tables with a plus sign in their name can be created and never read.",
     by(_misread, lambda name: name.replace("+", " "))),
    ("names-decoded-twice", "names.percent",
     "A path is decoded by the gateway and again by the server.",
     "A name with a percent sign reaches another table.", by(_misread, unquote)),
    ("names-latin-1", "names.unicode", "A path is decoded as Latin-1.",
     "Tables with an umlaut in their name can be created and never read.",
     by(_misread, lambda name: name.encode().decode("latin-1"))),
    ("names-no-separator", "names.unit-separator", "%1F in a path separates nothing.",
     "No client can address a namespace of two levels.", by(_join_at, "%1F")),
    ("names-separator-upper-case-only", "names.separator-letter-case",
     "The separator is compared as the text %1F before the path is decoded.",
     "Clients that encode in lower case cannot address a namespace of two levels.",
     by(_join_at, "%1f")),
)  # fmt: skip


@defect(
    "names-joined-by-dots",
    on="createNamespace",
    breaks="names.distinct",
    suffering="CREATE NAMESPACE `a.b` fails because a.b exists.",
)
def _joined_by_dots(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Namespaces are compared as text with dots."""
    joined = ".".join(sent_json(call).get("namespace", ()))
    for namespace, _ in state.namespaces.after(None):
        if ".".join(namespace) == joined:
            raise problem.already_exists(f"Namespace already exists: {joined}")
    return faithful(state, call)


@defect(
    "names-dropped-by-dots",
    on="dropNamespace",
    breaks="names.distinct",
    suffering="DROP NAMESPACE `a.b` drops a.b.",
)
def _dropped_by_dots(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """A drop removes every namespace that is the same text with dots."""
    outcome = faithful(state, call)
    left = outcome.state
    for namespace, _ in outcome.state.namespaces.after(None):
        if ".".join(namespace) == ".".join(call.namespace):
            left = left.without_namespace(namespace)
    return msgspec.structs.replace(outcome, state=left)


declare_each(
    ("names-view-decoded-twice", "names.views",
     "The routes of views decode a name that was decoded before.",
     "A view with a percent sign in its name can be created and never read.",
     by(alter_calls, ("loadView", "viewExists", "replaceView", "dropView"),
        lambda call: msgspec.structs.replace(call, name=unquote(call.name)))),
)  # fmt: skip


@defect(
    "names-view-letters-dropped",
    on=answer_of("listViews"),
    breaks="names.views",
    suffering="SHOW VIEWS shows another name than CREATE VIEW was given.",
)
def _view_letters_dropped(body: Json) -> Json:
    """Views are listed in ASCII."""
    listed = [
        each | {"name": each["name"].encode("ascii", "ignore").decode()}
        for each in body["identifiers"]
    ]
    return body | {"identifiers": listed}


@defect(
    "rename-decodes-destination",
    on=request_of("renameTable"),
    breaks="renameTable.204",
    suffering="A table is renamed to a name that nobody chose, and not found under its own.",
)
def _rename_decodes_destination(body: Json) -> Json:
    """The new name in the body is percent-decoded, as names in a path are."""
    target = body.get("destination")
    if not isinstance(target, dict) or not isinstance(target.get("name"), str):
        return body
    return {**body, "destination": {**target, "name": unquote(target["name"])}}
