"""A program of several clients as data: what each asks for, one request after another.

A program has parts, and the clients wait for each other before each part. A label stands for a
name: ``x0`` for that of a table, ``v0`` of a view, ``n0`` of a namespace, and ``n0.x2`` for that of
a table in a namespace of the program. What ends in 0 or 1 is there when a program begins.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CLIENTS_MAX = 8
REQUESTS_MAX = 12
"""The most requests of one client."""
GIVEN = ("x0", "x1", "v0", "v1", "n0", "n1")
"""The labels of what is there when a program begins."""
SNAPSHOTS = 5
"""The number of snapshots of a given table; its branch main begins at the first, number 0."""
ANY = "any"
"""Stands for a base or an object that a request does not assert."""

_LABEL = re.compile(r"(n[0-9]\.)?[xv][0-9]|n[0-9]")
_VALUE = re.compile(r"[a-z0-9.]{1,20}")
_MARKING = "mark"
"""No property that a request sets: it tells who has made an object."""
_PROPERTIES = frozenset({"set", "together"})
"""Requests of which the first value is a property."""
_NUMBERS = tuple(map(str, range(SNAPSHOTS)))
_FILES = ("0", "1")
_TABLE, _VIEW, _NAMESPACE = "table", "view", "namespace"
_KINDS = {"x": _TABLE, "v": _VIEW, "n": _NAMESPACE}

Choices = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a request has: so many labels of one of these kinds, and its values.

    Of each value there are the choices, () for any text.
    """

    kinds: tuple[str, ...] = (_TABLE,)
    labels: int = 1
    values: tuple[Choices, ...] = ()


SHAPES: Mapping[str, Shape] = {
    "create": Shape((_TABLE, _VIEW, _NAMESPACE), values=((),)),
    "create-by-commit": Shape(values=((),)),
    "register": Shape(values=(_FILES,)),
    "drop": Shape((_TABLE, _VIEW, _NAMESPACE)),
    "rename": Shape((_TABLE, _VIEW), 2),
    "set": Shape((_TABLE, _VIEW, _NAMESPACE), values=((), (), (*GIVEN, ANY))),
    "define": Shape((_VIEW,), values=((), (*GIVEN, ANY))),
    "move-main": Shape(values=(_NUMBERS, (*_NUMBERS, ANY))),
    "together": Shape(labels=2, values=((), ())),
    "move-main-together": Shape(labels=2, values=(_NUMBERS, _NUMBERS, ())),
    "load": Shape((_TABLE, _VIEW, _NAMESPACE)),
    "exists": Shape((_TABLE, _VIEW, _NAMESPACE)),
    "list": Shape((), 0),
    "list-views": Shape((), 0),
    "list-namespaces": Shape((), 0),
}
"""Request -> its shape.

What is made has a mark; ``register`` has the number of a metadata file of a dropped table instead.
``set`` has a property, its value, and the table or view that it asserts by uuid; ``define`` the
number in the query that a view gets, and the view that it asserts; ``move-main`` the snapshot that
it moves to and the one that it asserts; ``together`` a property and its value, set in two tables by
one transaction; ``move-main-together`` moves main in the first and sets a property in the second.
The last three assert the given tables of their names.
"""
READING = frozenset({"load", "exists", "list", "list-views", "list-namespaces"})
_AT_HOME = frozenset({"create-by-commit", "together", "move-main-together"})
"""Requests about no table in a namespace of the program."""


def kind_of(label: str) -> str:
    """Return what a label stands for: a table, a view or a namespace."""
    return _KINDS[label.rpartition(".")[2][0]]


def home_of(label: str) -> str:
    """Return the label of the namespace of the program that holds a table or view, or nothing."""
    return label.rpartition(".")[0]


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


_OPERATIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "create": {_TABLE: ("createTable",), _VIEW: ("createView",), _NAMESPACE: ("createNamespace",)},
    "create-by-commit": {_TABLE: ("createTable", "updateTable")},
    "register": {_TABLE: ("registerTable",)},
    "drop": {_TABLE: ("dropTable",), _VIEW: ("dropView",), _NAMESPACE: ("dropNamespace",)},
    "rename": {_TABLE: ("renameTable",), _VIEW: ("renameView",)},
    "set": {_TABLE: ("updateTable",), _VIEW: ("replaceView",), _NAMESPACE: ("updateProperties",)},
    "define": {_VIEW: ("replaceView",)},
    "move-main": {_TABLE: ("updateTable",)},
    "together": {_TABLE: ("commitTransaction",)},
    "move-main-together": {_TABLE: ("commitTransaction",)},
    "load": {
        _TABLE: ("loadTable",), _VIEW: ("loadView",), _NAMESPACE: ("loadNamespaceMetadata",),
    },
    "exists": {
        _TABLE: ("tableExists",), _VIEW: ("viewExists",), _NAMESPACE: ("namespaceExists",),
    },
    "list": {"": ("listTables",)},
    "list-views": {"": ("listViews",)},
    "list-namespaces": {"": ("listNamespaces",)},
}  # fmt: skip
"""Request -> kind of what it is about -> the operations that it needs."""


def operations_in(request: Request) -> tuple[str, ...]:
    """Return the operations that a request needs."""
    return _OPERATIONS[request.name][kind_of(request.on[0]) if request.on else ""]


def operations_of(program: Program) -> frozenset[str]:
    """Return the operations that a program needs."""
    return frozenset(id_ for each in requests_of(program) for id_ in operations_in(each))


def labels_of(program: Program) -> tuple[str, ...]:
    """Return the labels in a program, sorted, with those of the namespaces that hold others."""
    labels = {label for request in requests_of(program) for label in request.on}
    return tuple(sorted({*labels, *filter(None, map(home_of, labels))}))


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
    shape = SHAPES[request.name]
    return (
        len(request.on) == len(set(request.on)) == shape.labels
        and not (request.name == "create-by-commit" and set(request.on) & {*GIVEN})
        and not (request.name in _PROPERTIES and request.values[:1] == (_MARKING,))
        and len(request.values) == len(shape.values)
        and all(
            not among or value in among
            for value, among in zip(request.values, shape.values, strict=True)
        )
        and (not request.on or _fit_together(request))
    )


def _fit_together(request: Request) -> bool:
    """Return whether the labels of a request are of one kind, and what it asserts is too."""
    kinds = {*map(kind_of, request.on)}
    if request.name in {"set", "define"} and request.values[-1] != ANY:
        kinds.add(kind_of(request.values[-1]))
        if _NAMESPACE in kinds:
            return False  # nothing can be asserted of a namespace
    at_home = request.name not in _AT_HOME or not any(map(home_of, request.on))
    return at_home and len(kinds) == 1 and kinds <= {*SHAPES[request.name].kinds}


def _told(name: str) -> str:
    shape = SHAPES[name]
    values = [" or ".join(among) or "a text" for among in shape.values]
    kinds = f" of one kind ({' or '.join(shape.kinds)})" if shape.kinds else ""
    which = "none that is given" if name == "create-by-commit" else "different"
    but = f", but not the property {_MARKING}" if name in _PROPERTIES else ""
    return f"{shape.labels} labels, {which}{kinds}, and the values [{', '.join(values)}]{but}"


def from_words(text: str) -> Request:
    """Return the request in a text such as ``rename x0 x2``, values last."""
    name, *rest = text.split(" ")
    labels = SHAPES[name].labels
    request = Request(name, tuple(rest[:labels]), tuple(rest[labels:]))
    if not all(map(_LABEL.fullmatch, request.on)) or not _fits(request):
        raise ValueError(f"{text!r}: {name} has {_told(name)}")
    return request


def in_words(request: Request) -> str:
    """Return a request as a short phrase."""
    name, on = request.name.replace("-", " "), " and ".join(request.on)
    one = f"{kind_of(request.on[0])} {request.on[0]}" if request.on else ""
    match request.name, request.values:
        case "set", (key, value, holder):
            return f"set {key} of {one} to {value}{_if_same(holder)}"
        case "define", (number, holder):
            return f"define {one} as SELECT {number}{_if_same(holder)}"
        case "move-main", (snapshot, base):
            same = "" if base == ANY else f" from snapshot {base}"
            return f"move main of {one}{same} to snapshot {snapshot}"
        case "together", (key, value):
            return f"set {key} of tables {on} to {value} in one transaction"
        case "move-main-together", (snapshot, base, value):
            return (
                f"move main of {one} from snapshot {base} to snapshot {snapshot} and set p of "
                f"{request.on[1]} to {value} in one transaction"
            )
        case "register", (file,):
            return f"register {one} from metadata file {file}"
        case _, (value,):
            return f"{name} {one} as {value}"
    return " to ".join([f"{name} {one}", *request.on[1:]]) if on else _LISTS[request.name]


_LISTS = {
    "list": "list tables", "list-views": "list views", "list-namespaces": "list namespaces",
}  # fmt: skip


def _if_same(holder: str) -> str:
    return "" if holder == ANY else f" if it is the first {holder}"


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
