"""Bodies that failed their schema, wrapped so that reading a missing part tells of the schema.

A check that reads ``body["metadata"]["schemas"]`` relies on the schema. Where an answer breaks its
schema, its parsed body is handed out as objects and lists that raise IllShaped when a missing part
is read. Any other KeyError of a check is an error of the suite.
"""

import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from types import FrameType
from typing import Any, NoReturn

from icecheck.wire.exchange import Exchange

_MISREADINGS = (AttributeError, TypeError, ValueError)


class IllShaped(KeyError, IndexError, TypeError, AttributeError):
    """A check read a missing part of an answer that failed its schema; ``body`` is that answer's.

    It inherits every exception that plain values would raise here, so that code which catches one
    of them works.
    """

    def __init__(self, body: "IllShapedBody", what: object) -> None:
        super().__init__(f"an answer that failed its schema has no {what!r}")
        self.body = body


class IllShapedBody:
    """The body of one answer that failed its schema, and which parts were handed out.

    ``wrong`` are the places (JSON pointers, ``*`` for any index) whose values are invalid.
    ``gave`` are the types of the invalid values that were read and are no objects or lists.
    """

    def __init__(self, exchange: Exchange, wrong: Collection[str]) -> None:
        self.exchange = exchange
        self.wrong = frozenset(wrong)
        self.gave: set[str] = set()

    def handed_out(self, value: Any, pointer: str = "") -> Any:
        """Return a value of the body, wrapped so that a failing read of it is noticed."""
        match value:
            case dict():
                found = _Object({k: self.handed_out(v, f"{pointer}/{k}") for k, v in value.items()})
                found.body, found.pointer = self, pointer
                return found
            case list():
                listed = _List(self.handed_out(v, f"{pointer}/*") for v in value)
                listed.body, listed.pointer = self, pointer
                return listed
            case _:
                if not pointer:
                    self.gave.add(type(value).__name__)
                return value

    def read(self, value: Any, pointer: str) -> Any:
        """Note that a value has been read."""
        if not isinstance(value, _Object | _List) and self._is_wrong(pointer):
            self.gave.add(type(value).__name__)
        return value

    def _is_wrong(self, pointer: str) -> bool:
        return any(pointer == at or pointer.startswith(f"{at}/") for at in self.wrong)


class _Object(dict[Any, Any]):
    """An object of a body that failed its schema."""

    __slots__ = ("body", "pointer")
    body: IllShapedBody
    pointer: str

    def __missing__(self, key: object) -> NoReturn:
        raise IllShaped(self.body, key)

    def __getitem__(self, key: Any) -> Any:
        return self.body.read(super().__getitem__(key), f"{self.pointer}/{key}")

    def __or__(self, other: Any) -> Any:
        """Return a copy with more members, wrapped like this one."""
        found = _Object(super().__or__(other))
        found.body, found.pointer = self.body, self.pointer
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        return self.body.read(super().get(key, default), f"{self.pointer}/{key}")

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise IllShaped(self.body, "value that may be a key")

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(self, name)


class _List(list[Any]):
    """A list of a body that failed its schema."""

    __slots__ = ("body", "pointer")
    body: IllShapedBody
    pointer: str

    def __getitem__(self, at: Any) -> Any:
        try:
            return self.body.read(super().__getitem__(at), f"{self.pointer}/*")
        except (IndexError, TypeError):
            raise IllShaped(self.body, at) from None

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise IllShaped(self.body, "value that may be a key")

    def __iter__(self) -> Iterator[Any]:
        return (self.body.read(each, f"{self.pointer}/*") for each in super().__iter__())

    def __getattr__(self, name: str) -> NoReturn:
        _refuse(self, name)


def _refuse(part: "_Object | _List", name: str) -> NoReturn:
    """Raise IllShaped for a part that is used as if it were of another type."""
    # Python itself looks up names with underscores, also before a part has its body.
    if name.startswith("_") or name in _Object.__slots__:
        raise AttributeError(name)
    raise IllShaped(part.body, name)


def reads_ill_shaped(
    error: Exception, handed_out: Collection[IllShapedBody]
) -> IllShapedBody | None:
    """Return the ill-shaped body that caused an error, or None for another cause.

    IllShaped names its body. For a value of a wrong type, the error must come from a function that
    holds a part of such a body, or name the type of an invalid value that was read.
    """
    if isinstance(error, IllShaped):
        return error.body
    if not isinstance(error, _MISREADINGS):
        return None
    held = [body for frame in _last_function(error) for body in _held_in(frame)]
    if held:
        return held[-1]
    return next((b for b in reversed([*handed_out]) if _is_about(error, b.gave)), None)


def _is_about(error: Exception, types: Collection[str]) -> bool:
    """Return whether the words of an error name one of these types, as Python names it."""
    words = str(error)
    named = {name for name in types if f"'{name}'" in words}
    return bool(named) or ("str" in types and "string ind" in words)


@contextmanager
def ill_shaped_reads_named(handed_out: Collection[IllShapedBody]) -> Iterator[None]:
    """Raise IllShaped for each error that an ill-shaped body caused, so that it can be caught.

    Any other error is raised as it is.
    """
    try:
        yield
    except IllShaped:
        raise
    except _MISREADINGS as error:
        body = reads_ill_shaped(error, handed_out)
        if body is None:
            raise
        raise IllShaped(body, str(error)) from error


def _last_function(error: Exception) -> list[FrameType]:
    """Return the frames of the function that failed, its comprehensions included."""
    found: list[FrameType] = []
    for frame, _ in reversed([*traceback.walk_tb(error.__traceback__)]):
        found.append(frame)
        if not frame.f_code.co_name.startswith("<"):
            break
    return found


def _held_in(frame: FrameType) -> Iterator[IllShapedBody]:
    """Yield the ill-shaped bodies that a function's local variables hold parts of."""
    for value in frame.f_locals.values():
        held = [value]
        if is_dataclass(value) and not isinstance(value, type):
            held += [getattr(value, each.name, None) for each in fields(value)]
        yield from (part.body for part in held if isinstance(part, _Object | _List))
