"""Defects of similar names or keys: one is taken for another."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import structs

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.requests import Json, Levels, sent_json, with_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_body, wrap
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.paging import PageRequest

Take = Callable[[WarehouseState, Call], Call]

_MIXED_UP = "What is done to one object happens to another, or to none."
_WORDS = {"namespace": "updateProperties", "table": "updateTable", "view": "replaceView"}
_LOADS = {"namespace": "loadNamespaceMetadata", "table": "loadTable", "view": "loadView"}
_LISTS = {"namespaces": "listNamespaces", "tables": "listTables", "views": "listViews"}


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern of SQL's LIKE in which nothing is escaped."""
    parts = [{"_": ".", "%": ".*"}.get(letter, re.escape(letter)) for letter in pattern]
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def _before(registries: Registries, operation_id: str, take: Take) -> None:
    """Let an operation see an altered call, or refuse it; `take` gets the present state."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        return faithful(state, take(state, call))

    wrap(registries, operation_id, around)


# -------------------------------------------------------------------------------- keys


def _properties(state: WarehouseState, word: str, call: Call) -> Mapping[str, str]:
    if word == "namespace":
        entry = state.namespace(call.namespace)
        return {} if entry is None else entry.properties
    if word == "table":
        table = state.table(call.namespace, call.name)
        return {} if table is None else table.metadata.properties
    view = state.view(call.namespace, call.name)
    return {} if view is None else view.metadata.properties


def _keyed(body: Json, alter: Callable[[Json], Json], member: str = "updates") -> Json:
    """Return the body of a change with altered maps of properties; other values are kept."""
    found = body.get(member)
    if isinstance(found, dict):
        return {**body, member: alter(found)}
    if isinstance(found, list):
        changes = [_keyed(each, alter) if isinstance(each, dict) else each for each in found]
        return {**body, member: changes}
    return body


def _declare_keys(word: str) -> None:
    def folding(registries: Registries) -> None:
        def take(state: WarehouseState, call: Call) -> Call:
            there = {key.casefold(): key for key in _properties(state, word, call)}

            def alter(updates: Json) -> Json:
                return {there.get(key.casefold(), key): value for key, value in updates.items()}

            body = sent_json(call)
            return with_json(call, _keyed(body, alter)) if body else call

        _before(registries, _WORDS[word], take)

    def apart(registries: Registries) -> None:
        def alter(body: Json) -> Json:
            holder = body.get("metadata", body)
            kept = holder.get("properties")
            if isinstance(kept, dict):
                holder["properties"] = {k: v for k, v in kept.items() if k != "comment"}
            return body

        alter_body(registries, _LOADS[word], alter)

    declare(
        f"{word}-keys-meet-in-case",
        f"A property of a {word} is written over one whose key differs in case only.",
        folding,
        breaks=f"alike.{word}-keys",
        suffering=_MIXED_UP,
    )
    declare(
        f"{word}-comment-in-a-column",
        f"The comment of a {word} has a column of its own, which a load leaves out.",
        apart,
        breaks=f"alike.{word}-well-known-keys",
        suffering="What was written about it cannot be read.",
    )


for _word in _WORDS:
    _declare_keys(_word)


@defect(
    "namespace-keys-nest",
    on=through(_before, "updateProperties"),
    breaks="alike.namespace-keys",
    suffering="Settings are lost.",
)
def _keys_nest(state: WarehouseState, call: Call) -> Call:
    """The removal of a key of a namespace takes those with it that go on after it with a dot."""
    body = sent_json(call)
    gone = body.get("removals")
    if not isinstance(gone, list) or not all(isinstance(key, str) for key in gone):
        return call
    there = _properties(state, "namespace", call)
    more = [key for key in there if any(key.startswith(f"{each}.") for each in gone)]
    return with_json(call, {**body, "removals": [*dict.fromkeys([*gone, *more])]})


# -------------------------------------------------------------------------- namespaces

_FULL = "alike.empty-namespace-beside-full-ones"
_STUCK = "An empty namespace cannot be dropped as long as another one is in use."


def _full(state: WarehouseState) -> Iterator[Levels]:
    return (path for path, entry in state.namespaces.after() if entry.tables or entry.views)


@defect(
    "namespace-holds-what-is-like-it",
    on=through(_before, "dropNamespace"),
    breaks=_FULL,
    suffering=_STUCK,
)
def _holds_like(state: WarehouseState, call: Call) -> Call:
    """Whether a namespace is empty is looked up with LIKE, where underscores match anything."""
    pattern = "\x1f".join(call.namespace)
    if any(_is_like("\x1f".join(path), pattern) for path in _full(state)):
        raise problem.namespace_not_empty(call.namespace)
    return call


@defect(
    "namespace-holds-what-begins-so",
    on=through(_before, "dropNamespace"),
    breaks=_FULL,
    suffering=_STUCK,
)
def _holds_longer(state: WarehouseState, call: Call) -> Call:
    """A namespace counts as full while there are views in one whose name is longer."""
    begin = ".".join(call.namespace)
    for path, entry in state.namespaces.after():
        if path != call.namespace and entry.views and ".".join(path).startswith(begin):
            raise problem.namespace_not_empty(call.namespace)
    return call


@defect(
    "namespace-holds-what-its-namesake-holds",
    on=through(_before, "dropNamespace"),
    breaks=_FULL,
    suffering=_STUCK,
)
def _holds_namesakes(state: WarehouseState, call: Call) -> Call:
    """Whether a namespace is empty is looked up by the last part of its path."""
    if any(path[-1] == call.namespace[-1] for path in _full(state)):
        raise problem.namespace_not_empty(call.namespace)
    return call


# -------------------------------------------------------------------- tables and views


def _names(state: WarehouseState, word: str, namespace: Levels) -> list[str]:
    entry = state.namespace(namespace)
    if entry is None:
        return []
    return [name for name, _ in (entry.tables if word == "table" else entry.views).after()]


def _declare_taken(word: str) -> None:
    noun = word.capitalize()

    def install(registries: Registries) -> None:
        def take(state: WarehouseState, call: Call) -> Call:
            name = str(sent_json(call).get("name"))
            there = _names(state, word, call.namespace)
            if any(each != name and each.startswith(name) for each in there):
                raise problem.already_exists(f"{noun} already exists: {name}")
            return call

        _before(registries, f"create{noun}", take)

    name = f"{word}-name-taken-by-a-longer-one"
    declare(
        name,
        f"A {word} cannot be made under a name with which that of another begins.",
        install,
        breaks=f"alike.{word}s",
        suffering=_MIXED_UP,
    )


def _declare_first_found(word: str) -> None:
    def install(registries: Registries) -> None:
        def take(state: WarehouseState, call: Call) -> Call:
            body = sent_json(call)
            source = body.get("source")
            if not isinstance(source, dict):
                return call
            for namespace, _ in state.namespaces.after():
                if source.get("name") in _names(state, word, namespace):
                    found = {**source, "namespace": [*namespace]}
                    return with_json(call, {**body, "source": found})
            return call

        _before(registries, f"rename{word.capitalize()}", take)

    name = f"rename-takes-first-{word}-of-the-name"
    declare(
        name,
        f"A rename takes the first {word} of the name, wherever it is.",
        install,
        breaks=f"alike.{word}s-of-one-name",
        suffering=_MIXED_UP,
    )


for _word in ("table", "view"):
    _declare_taken(_word)
    _declare_first_found(_word)


# ------------------------------------------------------------------------ transactions


def _by_name(changes: list[Json], member: str) -> list[Json]:
    """Return changes whose member is taken from the last change of a table with the same name."""
    last = {change["identifier"]["name"]: change.get(member) for change in changes}
    return [{**change, member: last[change["identifier"]["name"]]} for change in changes]


def _mix(registries: Registries, member: str) -> None:
    def take(_state: WarehouseState, call: Call) -> Call:
        body = sent_json(call)
        try:
            mixed = _by_name(body["table-changes"], member)
        except (KeyError, TypeError, AttributeError):
            return call
        return with_json(call, {**body, "table-changes": mixed})

    _before(registries, "commitTransaction", take)


declare_each(
    ("transaction-knows-tables-by-name", "transaction.several-namespaces",
     "Changes to tables of one name in two namespaces are all made to the last of them.",
     "A commit is lost, or lands in another table.", by(_mix, "identifier")),
    ("transaction-keeps-updates-by-name", "alike.transaction-over-one-name",
     "Of tables of one name in two namespaces, each gets the updates of the last.",
     "A commit is lost, or lands in another table.", by(_mix, "updates")),
)  # fmt: skip


# ------------------------------------------------------------------------------- pages


def _entry_name(entry: Any) -> str:
    return str(entry[-1] if isinstance(entry, list) else entry["name"])


def _declare_pages(words: str, operation_id: str) -> None:
    member = "namespaces" if words == "namespaces" else "identifiers"

    def install(registries: Registries) -> None:
        def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
            whole = {k: v for k, v in call.query.items() if k not in ("pageToken", "pageSize")}
            outcome = faithful(state, structs.replace(call, query=whole))
            if "pageToken" not in call.query or outcome.reply.status != 200:
                return faithful(state, call)
            listing = (
                words,
                faithful.context.warehouse,
                *call.namespace,
                call.query.get("parent", ""),
            )
            key = faithful.context.identities.token_key
            page = PageRequest(call.query, key, listing, faithful.context.page_size_max)
            entries = {_entry_name(each): each for each in json.loads(outcome.reply.body)[member]}
            due = sorted((n for n in entries if n > (page.after or "")), key=str.casefold)
            found, more = page.cut(iter(due))
            body = {
                member: [entries[name] for name in found],
                "next-page-token": page.next_token(found[-1]) if more else None,
            }
            return Outcome(state, replies.json_reply(body))

        wrap(registries, operation_id, around)

    declare(
        f"pages-of-{words}-in-two-orders",
        f"Pages of {words} are in an order without case, and go on in one with it.",
        install,
        breaks=f"alike.pages-of-{words}",
        suffering="Some of what there is, is never listed.",
    )


for _plural, _operation_id in _LISTS.items():
    _declare_pages(_plural, _operation_id)
