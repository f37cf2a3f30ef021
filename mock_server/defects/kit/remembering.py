"""Building blocks for defects that remember something between requests.

What is remembered belongs to one server, and begins empty.
"""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, TypeVarTuple

from msgspec.structs import replace

from icecheck.mock_server.commits import publication
from icecheck.mock_server.core.context import Call, Context, Outcome, Registries, Reply
from icecheck.mock_server.core.state import Kind, WarehouseState
from icecheck.mock_server.defects.kit.changing import put_back, without
from icecheck.mock_server.defects.kit.declaring import Place
from icecheck.mock_server.defects.kit.requests import Json, Name, rename_end, sent_name
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer, wrap
from icecheck.mock_server.protocol.problem import Problem

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")
Ts = TypeVarTuple("Ts")

Names: TypeAlias = Callable[[Call], Iterable[Name]]
"""The names that a call is about."""
Seen: TypeAlias = Callable[[Context, WarehouseState, Call], Hashable]
"""What an answer is remembered by; None, False, ...: it is not remembered."""


def place_of(call: Call) -> Name:
    """Return the namespace and the name in a call's path."""
    return call.namespace, call.name


def by_path(call: Call) -> Iterable[Name]:
    """Return the name in the path."""
    return [place_of(call)]


def by_body(call: Call) -> Iterable[Name]:
    """Return the name in the body of a creation."""
    return [(call.namespace, sent_name(call))]


def by_source(call: Call) -> Iterable[Name]:
    """Return the name that a rename takes away."""
    return [rename_end(call, "source")]


def by_target(call: Call) -> Iterable[Name]:
    """Return the name that a rename gives."""
    return [rename_end(call, "destination")]


def by_name(context: Context, _state: WarehouseState, call: Call) -> Hashable:
    """Return warehouse, namespace and name of a call."""
    return context.warehouse, *place_of(call)


def remembering(
    make: Callable[[], M], block: Callable[[Registries, *Ts, Callable[P, R]], None], *args: *Ts
) -> Place[Callable[Concatenate[M, P], R]]:
    """Return the place of a building block whose function remembers something.

    The function gets what `make` makes for its server as its first argument: `dict`, `set`, ...
    """

    def place(function: Callable[Concatenate[M, P], R]) -> Callable[[Registries], None]:
        return lambda registries: block(registries, *args, partial(function, make()))

    return place


def note_outcome(
    registries: Registries,
    operation_id: str,
    note: Callable[[Context, WarehouseState, Call, Outcome], object],
) -> None:
    """Call `note` after every success of an operation, with the state before it."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        note(faithful.context, state, call, outcome)
        return outcome

    wrap(registries, operation_id, around)


def note_after(registries: Registries, operation_id: str, note: Callable[[Call], object]) -> None:
    """Call `note` after every success of an operation."""
    note_outcome(registries, operation_id, lambda _context, _state, call, _outcome: note(call))


def refuse_later(
    registries: Registries,
    noted: tuple[str, Names],
    refused: tuple[str, Names],
    status: int = 409,
    type_: str = "AlreadyExistsException",
) -> None:
    """Keep the names of one operation's calls, and refuse another one that has one of them."""
    names: set[tuple[str, Name]] = set()

    def noting(context: Context, _state: WarehouseState, call: Call, _outcome: Outcome) -> None:
        names.update((context.warehouse, name) for name in noted[1](call))

    def refusing(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        if any((faithful.context.warehouse, name) in names for name in refused[1](call)):
            raise Problem(status, type_, "A row remains of this name")
        return faithful(state, call)

    note_outcome(registries, noted[0], noting)
    wrap(registries, refused[0], refusing)


def keep_listed(
    registries: Registries,
    operation_id: str,
    list_id: str,
    named: Names = by_path,
    when: Callable[[Call], Any] = lambda _: True,
) -> None:
    """List the names of an operation's calls for which `when` holds, besides those there are."""
    kept: list[Name] = []

    def note(call: Call) -> None:
        if when(call):
            kept.extend(named(call))

    def listed(call: Call, body: Json) -> Json:
        more = [{"namespace": [*ns], "name": name} for ns, name in kept if ns == call.namespace]
        return body | {"identifiers": [*body["identifiers"], *more]}

    note_after(registries, operation_id, note)
    alter_answer(registries, list_id, listed)


def answer_again(
    registries: Registries, operation_id: str, seen: Seen, *emptied_by: str, blindly: bool = False
) -> None:
    """Answer as to the first call of which `seen` says the same, until a call of `emptied_by`.

    A call is refused as the faithful server refuses it, or with `blindly` not even looked at.
    """
    kept: dict[Hashable, Reply] = {}

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        key = seen(faithful.context, state, call)
        if blindly and key in kept:
            return Outcome(state, kept[key])
        outcome = faithful(state, call)
        if not key or outcome.reply.status >= 300:
            return outcome
        return replace(outcome, reply=kept.setdefault(key, outcome.reply))

    wrap(registries, operation_id, around)
    for each in emptied_by:
        note_after(registries, each, lambda _: kept.clear())


def list_under_old_name(registries: Registries, rename_id: str, list_id: str) -> None:
    """List what was renamed as it was called before."""
    before: dict[Name, Name] = {}

    def note(call: Call) -> None:
        before.update(zip(by_target(call), by_source(call), strict=True))

    def listed(_call: Call, body: Json) -> Json:
        now = [(tuple(each["namespace"]), each["name"]) for each in body["identifiers"]]
        old = [before.get(name, name) for name in now]
        return body | {"identifiers": [{"namespace": [*ns], "name": name} for ns, name in old]}

    note_after(registries, rename_id, note)
    alter_answer(registries, list_id, listed)


def revive(registries: Registries, kind: Kind) -> None:
    """Let a creation under the name of a dropped object bring that one back."""
    dropped: dict[Name, WarehouseState] = {}

    def dropping(_c: Context, before: WarehouseState, call: Call, _outcome: Outcome) -> None:
        dropped[place_of(call)] = before

    def creating(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(state, call)
        name = (call.namespace, sent_name(call))
        before = dropped.pop(name, None)
        if before is None:
            return outcome
        table, view = before.table(*name), before.view(*name)
        state = put_back(without(outcome.state, name, kind), before, name)
        reply = outcome.reply if view is None else view.reply
        return Outcome(state, reply if table is None else publication.load_reply(table))

    note_outcome(registries, f"drop{kind.capitalize()}", dropping)
    wrap(registries, f"create{kind.capitalize()}", creating)
