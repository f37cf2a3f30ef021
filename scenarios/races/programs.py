"""A program of several clients as data: what each asks for, one request after another.

A program has parts, and the clients wait for each other before each part. A label such as ``x0``
stands for the name of a table: ``x0`` and ``x1`` are there when a program begins, others are free.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CLIENTS_MAX = 8
REQUESTS_MAX = 12
"""The most requests of one client."""
GIVEN = ("x0", "x1")
"""The labels of the tables that are there when a program begins."""
SNAPSHOTS = 5
"""The number of snapshots of a given table; its branch main begins at the first, number 0."""
ANY = "any"
"""Stands for a base or an object that a request does not assert."""

_LABEL = re.compile(r"x[0-9]")
_VALUE = re.compile(r"[a-z0-9.]{1,20}")
_MARKING = "mark"
"""No property that a request sets: it tells who has made an object."""
_PROPERTIES = frozenset({"set", "together"})
"""Requests of which the first value is a property."""
_NUMBERS = tuple(map(str, range(SNAPSHOTS)))

Choices = tuple[str, ...]
SHAPES: Mapping[str, tuple[int, tuple[Choices, ...]]] = {
    "create": (1, ((),)),
    "create-by-commit": (1, ((),)),
    "drop": (1, ()),
    "rename": (2, ()),
    "set": (1, ((), (), (*GIVEN, ANY))),
    "move-main": (1, (_NUMBERS, (*_NUMBERS, ANY))),
    "together": (2, ((), ())),
    "move-main-together": (2, (_NUMBERS, _NUMBERS, ())),
    "load": (1, ()),
    "exists": (1, ()),
    "list": (0, ()),
}
"""Request -> the number of its labels, and for each of its values the choices; (): any text.

What is made has a mark. ``set`` has a property, its value, and the table that it asserts by uuid;
``move-main`` the snapshot that it moves to and the one that it asserts; ``together`` a property and
its value, set in two tables by one transaction; ``move-main-together`` moves main in the first and
sets a property in the second. The last three assert the given tables of their names.
"""
READING = frozenset({"load", "exists", "list"})


@dataclass(frozen=True, slots=True)
class Request:
    """The name of a request, the labels of the tables that it is about, and further values."""

    name: str
    on: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


Script = tuple[Request, ...]
Program = tuple[tuple[Script, ...], ...]
"""For each part the requests of each client."""


def requests_of(program: Program) -> tuple[Request, ...]:
    """Return all requests of a program."""
    return tuple(request for part in program for script in part for request in script)


_OPERATIONS = {
    "create": ("createTable",),
    "create-by-commit": ("createTable", "updateTable"),
    "drop": ("dropTable",),
    "rename": ("renameTable",),
    "set": ("updateTable",),
    "move-main": ("updateTable",),
    "together": ("commitTransaction",),
    "move-main-together": ("commitTransaction",),
    "load": ("loadTable",),
    "exists": ("tableExists",),
    "list": ("listTables",),
}


def operations_of(program: Program) -> frozenset[str]:
    """Return the operations that a program needs."""
    return frozenset(id_ for each in requests_of(program) for id_ in _OPERATIONS[each.name])


def labels_of(program: Program) -> tuple[str, ...]:
    """Return the labels in a program, sorted."""
    return tuple(sorted({label for request in requests_of(program) for label in request.on}))


def to_json(program: Program) -> str:
    """Return a program as one line of JSON for ``from_json``."""
    parts = [
        [[[each.name, [*each.on], [*each.values]] for each in script] for script in part]
        for part in program
    ]
    return json.dumps(parts, separators=(",", ":"))


def from_json(text: str) -> Program:
    """Return the program in a text; raise ValueError, in one line, if it is none."""
    match json.loads(text):
        case [*parts]:
            program = tuple(map(_part, parts))
            _expect_size(program)
            return program
    raise ValueError("the steps of a program are a list of parts")


def _expect_size(program: Program) -> None:
    clients = max(map(len, program), default=0)
    longest = max(
        (sum(len(part[n]) for part in program if n < len(part)) for n in range(clients)), default=0
    )
    if not 1 <= clients <= CLIENTS_MAX or not 1 <= longest <= REQUESTS_MAX:
        limits = f"1 to {CLIENTS_MAX} clients, and each at most {REQUESTS_MAX} requests"
        raise ValueError(f"a program has {limits}: this one has {clients}, and {longest}")


def _part(scripts: object) -> tuple[Script, ...]:
    if not isinstance(scripts, list) or not all(isinstance(each, list) for each in scripts):
        raise ValueError("a part of a program has a list of requests for each client")
    return tuple(tuple(map(_request, rows)) for rows in scripts)


def _request(row: object) -> Request:
    match row:
        case [str(name), [*on], [*values]] if name in SHAPES:
            labels = tuple(each for each in on if isinstance(each, str) and _LABEL.fullmatch(each))
            texts = tuple(v for v in values if isinstance(v, str) and _VALUE.fullmatch(v))
            request = Request(name, labels, texts)
            if (len(labels), len(texts)) == (len(on), len(values)) and _fits(request):
                return request
            raise ValueError(f"{row!r}: {name} has {_told(name)}")
    raise ValueError(f"no such request: {row!r}; requests are {', '.join(SHAPES)}")


def _fits(request: Request) -> bool:
    labels, choices = SHAPES[request.name]
    return (
        len(request.on) == len(set(request.on)) == labels
        and not (request.name == "create-by-commit" and set(request.on) & {*GIVEN})
        and not (request.name in _PROPERTIES and request.values[:1] == (_MARKING,))
        and len(request.values) == len(choices)
        and all(
            not among or value in among
            for value, among in zip(request.values, choices, strict=True)
        )
    )


def _told(name: str) -> str:
    labels, choices = SHAPES[name]
    values = [" or ".join(among) or "a text" for among in choices]
    which = f"none of {' and '.join(GIVEN)}" if name == "create-by-commit" else "different"
    but = f", but not the property {_MARKING}" if name in _PROPERTIES else ""
    return f"{labels} labels, {which}, and the values [{', '.join(values)}]{but}"


def from_words(text: str) -> Request:
    """Return the request in a text such as ``rename x0 x2``, values last."""
    name, *rest = text.split(" ")
    labels, _ = SHAPES[name]
    request = Request(name, tuple(rest[:labels]), tuple(rest[labels:]))
    if not _fits(request):
        raise ValueError(f"{text!r}: {name} has {_told(name)}")
    return request


def in_words(request: Request) -> str:
    """Return a request as a short phrase."""
    on = " ".join(request.on)
    match request.name, request.values:
        case "set", (key, value, holder):
            same = "" if holder == ANY else f" if it is the first {holder}"
            return f"set {key} of {on} to {value}{same}"
        case "move-main", (snapshot, base):
            same = "" if base == ANY else f" from snapshot {base}"
            return f"move main of {on}{same} to snapshot {snapshot}"
        case "together", (key, value):
            return f"set {key} of {' and '.join(request.on)} to {value} in one transaction"
        case "move-main-together", (snapshot, base, value):
            one, other = request.on
            return (
                f"move main of {one} from snapshot {base} to snapshot {snapshot} and set p of "
                f"{other} to {value} in one transaction"
            )
        case name, (value,):
            return f"{name.replace('-', ' ')} {on} as {value}"
    return " to ".join([f"{request.name} {request.on[0]}", *request.on[1:]]) if on else "list"


def told(program: Program, clients: Sequence[str]) -> str:
    """Return a program in words, part by part and client by client."""
    parts = (
        "; ".join(
            f"{client}: {', then '.join(map(in_words, script))}"
            for client, script in zip(clients, part, strict=False)
            if script
        )
        for part in program
    )
    return "; when all are done, ".join(filter(None, parts))
