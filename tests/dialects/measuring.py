"""What a client needs of an answer to go on: found out by giving it less, one member at a time."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.dialects.recorder import Heard, operation_of

Played = Callable[[Callable[[Heard], tuple[int, Any] | None]], bool]
"""Plays the client's program against a fresh mock with altered answers; whether it went through."""
# Clients read metadata by the same code wherever it comes from: this tells what it has to hold.
_LOADING = frozenset({"loadTable", "loadView"})
# What a config does not list is not asked for: the replay sees to that by itself.
_NOT_ASKED = frozenset({"/endpoints"})
_REFUSAL = {"error": {"message": "not this time", "type": "BadRequestException", "code": 400}}


@dataclass(frozen=True, slots=True)
class Needs:
    """Operation -> pointers of the members without which a client does not go on.

    ``unless_empty`` are those of them that it does without where there is nothing in them;
    ``shrugs_off`` are the operations whose refusal does not stop it; ``stops_at`` is operation ->
    other statuses of success that do.
    """

    members: dict[str, list[str]]
    unless_empty: frozenset[tuple[str, str]]
    shrugs_off: tuple[str, ...]
    stops_at: dict[str, list[int]]


def needs_of(heard: Sequence[Heard], played: Played) -> Needs:
    """Measure what a client needs of the answers to what was heard of it."""
    answers: dict[str, list[Any]] = {}
    for each in heard:
        answers.setdefault(operation_of(each)[0], []).append(each.answer)
    members: dict[str, list[str]] = {}
    shrugs_off = []
    for operation, bodies in answers.items():
        if played(lambda h, o=operation: (400, _REFUSAL) if operation_of(h)[0] == o else None):
            shrugs_off.append(operation)
            continue
        outer = sorted({pointer for body in bodies for pointer in _members(body)} - _NOT_ASKED)
        needed = [p for p in outer if not played(_without(operation, p))]
        if operation in _LOADING and "/metadata" in needed:
            inner = sorted({p for body in bodies for p in _members(body, "metadata")})
            needed += [p for p in inner if not played(_without(operation, p))]
        if needed:
            members[operation] = needed
    lenient = unless_empty(members, answers, played)
    return Needs(members, lenient, tuple(shrugs_off), stops_at(heard, played))


def stops_at(heard: Sequence[Heard], played: Played) -> dict[str, list[int]]:
    """Return operation -> statuses of success, other than the one it had, that stop a client."""
    found: dict[str, list[int]] = {}
    for operation, status in sorted({(operation_of(h)[0], h.status) for h in heard}):
        others = {200: (201, 202), 204: (200, 202)}.get(status, ())
        stops = [o for o in others if not played(_with_status(operation, status, o))]
        if stops:
            found[operation] = stops
    return found


def _with_status(
    operation: str, status: int, other: int
) -> Callable[[Heard], tuple[int, Any] | None]:
    def alter(heard: Heard) -> tuple[int, Any] | None:
        mine = operation_of(heard)[0] == operation and heard.status == status
        return (other, heard.answer) if mine else None

    return alter


def unless_empty(
    members: Mapping[str, Sequence[str]], answers: Mapping[str, Sequence[Any]], played: Played
) -> frozenset[tuple[str, str]]:
    """Return the needed members that may be missing where they would be empty."""
    return frozenset(
        (operation, pointer)
        for operation, pointers in members.items()
        for pointer in pointers
        if len({is_empty(a, pointer) for a in answers[operation] if isinstance(a, dict)}) == 2
        and played(_without(operation, pointer, only_empty=True))
    )


def is_empty(answer: Any, pointer: str) -> bool:
    """Whether there is nothing under a pointer."""
    for part in pointer.strip("/").split("/"):
        answer = answer.get(part) if isinstance(answer, dict) else None
    return answer is None or answer in ([], {}, "", -1)  # the id of no snapshot


def _members(body: Any, *parents: str) -> list[str]:
    for part in parents:
        body = body.get(part) if isinstance(body, dict) else None
    if not isinstance(body, dict) or "error" in body:
        return []
    return ["/".join(("", *parents, name)) for name in body]


def _without(
    operation: str, pointer: str, *, only_empty: bool = False
) -> Callable[[Heard], tuple[int, Any] | None]:
    *parents, last = pointer.strip("/").split("/")

    def alter(heard: Heard) -> tuple[int, Any] | None:
        if operation_of(heard)[0] != operation or not isinstance(heard.answer, dict):
            return None
        if only_empty and not is_empty(heard.answer, pointer):
            return None
        answer = copy.deepcopy(heard.answer)
        place = answer
        for part in parents:
            place = place.get(part, {})
        if last not in place:
            return None
        del place[last]
        return heard.status, answer

    return alter
