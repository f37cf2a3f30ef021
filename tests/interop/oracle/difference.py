"""What can differ between two answers to one request, as values that a list can name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.interop.oracle.answer import Answer, Json
from tests.interop.oracle.reference import NOT_READ_BACK, UNREAD

ANSWER, VERSION, FILE = "answer", "new version", "metadata file"
"""What differs besides a path in the metadata."""
CREATE, COMMIT, CREATING_COMMIT = "createTable", "updateTable", "updateTable that creates"
UNREAD_ANSWER = f"500 {UNREAD}"
ANY_CHANGE = "any"
"""The change of a difference in the error type only, which nobody is to blame for."""
BODY = "body"
"""The change of a createTable, which has no list of them."""
WHOLE = "whole"
"""The change of a difference that no single change makes."""
_ABSENT = object()
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_STAMP = re.compile(r"\b\d{13}\b")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference.

    `change` is the update or assertion that makes it, `what` is ANSWER or a path in the metadata
    with `*` for positions; `reference` and `ours` are statuses with error types, or values in
    short. `says` is what the reference said to a refusal, `we_say` what we did.
    """

    operation: str
    change: str
    what: str
    reference: str
    ours: str
    says: str = ""
    we_say: str = ""

    @property
    def only_in_type(self) -> bool:
        """Whether both refuse with the same status, or the reference without reading the body."""
        refusals = (self.reference[:3], self.ours[:3])
        both = self.what == ANSWER and "200" not in refusals
        return both and (refusals[0] == refusals[1] or self.reference == UNREAD_ANSWER)

    def by(self, change: str) -> "Difference":
        """The same difference, made by this change."""
        return replace(self, change=change)

    @property
    def of_the_whole(self) -> bool:
        """Whether no single change can make it: Java cannot read what it wrote."""
        return self.reference == f"500 {NOT_READ_BACK}"


def answer_differences(operation: str, reference: Answer, ours: Answer) -> list[Difference]:
    """The difference of two answers of which one at least is a refusal, if there is any."""
    if reference.outcome == ours.outcome:
        return []
    found = Difference(
        operation, ANY_CHANGE, ANSWER, reference.outcome, ours.outcome, said(reference), said(ours)
    )
    return [found if found.only_in_type else found.by(BODY)]


def said(answer: Answer) -> str:
    """The first line of a refusal, without what is another one each time."""
    return _STAMP.sub("time", _UUID.sub("uuid", answer.message.partition("\n")[0]))


@dataclass(frozen=True, slots=True)
class _Counted:
    """A list that has so many more entries than the other side's."""

    more: int


def metadata_differences(operation: str, reference: Json, ours: Json) -> list[Difference]:
    """Every path at which two normal metadata documents differ, each once."""
    found = {
        (path, _short(one), _short(other)): None for path, one, other in _paths("", reference, ours)
    }
    return [Difference(operation, BODY, path, one, other) for path, one, other in found]


def _paths(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _paths(f"{path}/{key}", one.get(key, _ABSENT), other.get(key, _ABSENT))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for each, its_other in zip(one, other, strict=True):
            yield from _paths(f"{path}/*", each, its_other)
    elif isinstance(one, list) and isinstance(other, list):
        yield path, _Counted(len(one) - len(other)), _Counted(len(other) - len(one))
    elif type(one) is not type(other) or one != other:
        yield path, one, other


def _short(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool() | str():
            if isinstance(value, str) and _MOMENT.fullmatch(value):
                return "a moment"
            return f'"{value}"' if isinstance(value, str) else str(value).lower()
        case int() | float():
            return "a number"
        case _Counted(more):
            return "more entries" if more > 0 else "fewer entries"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return "absent"
