"""Finds the operation for a raw path: a tree over segments, each decoded exactly once."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec

from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.protocol import names, problem
from icecheck.mock_server.serving.warehouses import Warehouse, Warehouses

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PREFIX_SEGMENT = "{prefix}"
_QUERY_PAIRS_MAX = 1000
_REMEMBERED_MAX = 4096
_REMEMBERED_LENGTH_MAX = 4096
_REMEMBERED_QUERIES = 1024
_REMEMBERED_QUERY_MAX = 256


class RoutedOperation(Protocol):
    """The facts about an operation of the contract that the tree needs."""

    @property
    def id(self) -> str:
        """The operationId."""

    @property
    def method(self) -> str:
        """The HTTP method in capitals."""

    @property
    def path(self) -> str:
        """The path template, for example `/v1/{prefix}/namespaces/{namespace}`."""


class Names(msgspec.Struct, frozen=True):
    """The decoded parameters of one path; `is_view`: `name` is that of a view."""

    namespace: tuple[str, ...] = ()
    name: str = ""
    parameters: Mapping[str, str] = {}
    is_view: bool = False


class Route(msgspec.Struct, frozen=True):
    """The target of a request.

    `literal` reads a plus sign in the path as itself. `form` exists only when the path has one, and
    reads it as a space, as in form encoding: see `resolved`.
    """

    operation_id: str
    warehouse: Warehouse
    literal: Names
    form: Names | None = None


class NoRoute(msgspec.Struct, frozen=True):
    """No operation is found; `allowed` are the methods of the path, none for an unknown path.

    `unserved` is the operation that the contract has here and this server does not, or "".
    """

    message: str
    allowed: tuple[str, ...] = ()
    unserved: str = ""


class _Node:
    __slots__ = ("literals", "methods", "parameter", "parameter_name")

    def __init__(self) -> None:
        self.literals: dict[str, _Node] = {}
        self.parameter: _Node | None = None
        self.parameter_name = ""
        self.methods: dict[str, str] = {}


class Router:
    """Finds the operation of a request among those of a contract."""

    def __init__(self, operations: Iterable[RoutedOperation]) -> None:
        self._plain = _Node()
        self._prefixed = _Node()
        self._remembered: dict[tuple[str, str], Route] = {}
        self._generation = -1
        for operation in operations:
            _version, *segments = operation.path.strip("/").split("/")
            root = self._plain
            if segments[0] == _PREFIX_SEGMENT:
                root = self._prefixed
                segments = segments[1:]
            _insert(root, segments, operation)

    def match(
        self, method: str, raw_path: str, warehouses: Warehouses, served: Container[str]
    ) -> Route | NoRoute:
        """Return the route of a request; Problem 400 when a segment cannot be decoded.

        `served` holds the operationIds of this server; others are treated as not in the contract.
        """
        generation = warehouses.generation
        if self._generation != generation or len(self._remembered) >= _REMEMBERED_MAX:
            self._remembered = {}
            self._generation = generation
        # Bound once for this call: its result must not enter a memory made after a later change.
        remembered = self._remembered
        known = remembered.get((method, raw_path))
        if known is not None and known.operation_id in served:
            return known
        found = self._searched(method, raw_path, warehouses, served)
        if isinstance(found, Route) and len(raw_path) <= _REMEMBERED_LENGTH_MAX:
            remembered[method, raw_path] = found
        return found

    def _searched(
        self, method: str, raw_path: str, warehouses: Warehouses, served: Container[str]
    ) -> Route | NoRoute:
        segments = raw_path.split("/")
        if len(segments) < 3 or segments[0] or segments[1] != "v1":
            return NoRoute("No such path")
        allowed: tuple[str, ...] = ()
        for root, warehouse, start in self._candidates(segments, warehouses):
            found = _find(root, segments, start)
            if found is None:
                continue
            node, captured = found
            operation_id = node.methods.get(method)
            if operation_id is not None and operation_id in served:
                return _route(operation_id, warehouse, captured, has_plus="+" in raw_path)
            allowed = tuple(verb for verb, id_ in node.methods.items() if id_ in served)
            if allowed or operation_id is not None:
                message = "This path does not take this method"
                return NoRoute(message, allowed, operation_id or "")
        return NoRoute(self._explanation(segments))

    def _candidates(
        self, segments: list[str], warehouses: Warehouses
    ) -> Iterator[tuple[_Node, Warehouse, int]]:
        # The longest prefix comes first, then the routes without one. As no prefix contains a
        # segment of a route, at most one of them fits a path.
        for length in range(min(warehouses.prefix_segments_max, len(segments) - 3), 0, -1):
            warehouse = warehouses.under("/".join(segments[2 : 2 + length]))
            if warehouse is not None:
                yield self._prefixed, warehouse, 2 + length
        unprefixed = warehouses.unprefixed()
        default = unprefixed or warehouses.open(None)
        if default is not None:
            yield self._plain, default, 2
        if unprefixed is not None:
            yield self._prefixed, unprefixed, 2

    def _explanation(self, segments: list[str]) -> str:
        for length in range(1, len(segments) - 2):
            if _find(self._prefixed, segments, 2 + length) is not None:
                prefix = "/".join(segments[2:][:length])
                return f"No warehouse is served under the prefix {prefix[:100]}: ask for /v1/config"
        return "No such path"


def resolved(state: WarehouseState, route: Route, *, form_encoded: bool) -> Names:
    """Return the names that a route means in this state.

    A plus sign in a path is a plus sign. Clients that form-encode paths (Java's) write a space that
    way, so if only the object with a space exists, the path means that one. `form_encoded`: the
    client is one of those, and the reading with a space comes first.
    """
    if route.form is None:
        return route.literal
    readings = (route.form, route.literal) if form_encoded else (route.literal, route.form)
    for reading in readings:
        if _exists(state, reading):
            return reading
    for reading in readings:
        if reading.namespace in state.namespaces:
            return reading
    return readings[0]


def query_values(query_string: str) -> Mapping[str, str]:
    """Return the first value of each query parameter.

    Problem 400 if the query is not UTF-8, has a malformed escape or too many parameters.
    """
    if not query_string:
        return {}
    short = len(query_string) <= _REMEMBERED_QUERY_MAX
    return (_remembered_values if short else _parsed_values)(query_string)


def _parsed_values(query_string: str) -> Mapping[str, str]:
    if not query_string.isascii():
        # These bytes should have been escaped: most servers read them as if they were.
        query_string = "".join(c if c < "\x80" else f"%{ord(c):02X}" for c in query_string)
    if _BAD_ESCAPE.search(query_string):
        raise problem.bad_request("The query has a malformed percent escape")
    try:
        pairs = parse_qsl(
            query_string,
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_QUERY_PAIRS_MAX,
        )
    except ValueError as error:
        raise problem.bad_request("The query is not UTF-8, or too long") from error
    return MappingProxyType(dict(reversed(pairs)))


_remembered_values = lru_cache(_REMEMBERED_QUERIES)(_parsed_values)


def _exists(state: WarehouseState, reading: Names) -> bool:
    if reading.is_view:
        return state.view(reading.namespace, reading.name) is not None
    if reading.name:
        return state.table(reading.namespace, reading.name) is not None
    return reading.namespace in state.namespaces


def _insert(root: _Node, segments: list[str], operation: RoutedOperation) -> None:
    node = root
    for segment in segments:
        if segment.startswith("{"):
            if node.parameter is None:
                node.parameter, node.parameter_name = _Node(), segment[1:-1]
            node = node.parameter
        else:
            node = node.literals.setdefault(segment, _Node())
    node.methods[operation.method] = operation.id


def _find(
    root: _Node, segments: list[str], start: int
) -> tuple[_Node, list[tuple[str, str]]] | None:
    node = root
    captured: list[tuple[str, str]] = []
    for index in range(start, len(segments)):
        segment = segments[index]
        following = node.literals.get(segment)
        if following is None:
            following = node.parameter
            if following is None or not segment:
                return None
            captured.append((node.parameter_name, segment))
        node = following
    return (node, captured) if node.methods else None


def _route(
    operation_id: str, warehouse: Warehouse, captured: list[tuple[str, str]], *, has_plus: bool
) -> Route:
    form, separator = None, warehouse.context.separator
    if has_plus:
        spaced = [(name, segment.replace("+", "%20")) for name, segment in captured]
        form = _names(spaced, separator)
    return Route(operation_id, warehouse, _names(captured, separator), form)


def _names(captured: list[tuple[str, str]], separator: str | None) -> Names:
    namespace: tuple[str, ...] = ()
    name = ""
    is_view = False
    others: dict[str, str] = {}
    for parameter, segment in captured:
        if parameter == "namespace" and separator is not None:
            levels = names.path_levels(segment, separator)
            namespace = names.checked_namespace([_decoded(level) for level in levels])
            continue
        value = _decoded(segment)
        if parameter == "namespace":
            namespace = names.split_namespace(value)
        elif parameter in {"table", "view"}:
            name = names.checked_name(value, parameter)
            is_view = parameter == "view"
        else:
            others[parameter] = value
    return Names(namespace, name, others, is_view)


def _decoded(segment: str) -> str:
    if segment.isascii() and "%" not in segment:
        return segment
    if _BAD_ESCAPE.search(segment):
        raise problem.bad_request("The path has a malformed percent escape")
    try:
        return unquote_to_bytes(segment.encode("latin-1")).decode()
    except ValueError as error:
        raise problem.bad_request("The path is not UTF-8") from error
