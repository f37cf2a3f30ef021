"""Stages of a table or a view: commits that are each made for the metadata that there are."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from icecheck.objects.after_updates import after_updates
from icecheck.replies.expect import SHAPE_ERRORS

Json = dict[str, Any]
Metadata = Mapping[str, Any]

_AGES: Mapping[str, Callable[[Json], Any]] = {
    "schemas": lambda schema: schema["schema-id"],
    "partition-specs": lambda spec: spec["spec-id"],
    "sort-orders": lambda order: order["order-id"],
    "snapshots": lambda snapshot: (snapshot.get("sequence-number", 0), snapshot["timestamp-ms"]),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """One commit of an evolution; ``make`` returns its updates for the current metadata.

    An ``alone`` stage uses ids from an earlier answer, or is often refused; a ``late`` stage uses a
    late addition to the document, which not every catalog supports; a ``due`` stage must be
    accepted if the stages before it were. After a ``last`` stage a new commit begins: what follows
    is refused where this one had no effect, or hides it. ``parts`` are done one by one where a
    catalog refuses them together.
    """

    what: str
    make: Callable[[Metadata], Sequence[Json]]
    alone: bool = False
    late: bool = False
    due: bool = False
    last: bool = False
    parts: "tuple[Stage, ...]" = ()


def in_order(metadata: Metadata) -> Metadata:
    """Return metadata whose lists begin with the oldest entry; answers may list them in any order.

    Joined, so that metadata which failed their schema still tell of it when they are read.
    """
    try:
        lists = {
            member: sorted(metadata[member], key=_AGES[member])
            for member in _AGES
            if metadata.get(member)
        }
    except SHAPE_ERRORS:
        return metadata
    return metadata | lists if isinstance(metadata, dict) else metadata


def grown(stage: Stage, metadata: Metadata) -> tuple[Sequence[Json], Json]:
    """Return the updates of a stage, and the metadata that are due after them.

    There are no updates if the metadata do not have what the stage needs.
    """
    try:
        updates = stage.make(metadata)
        return updates, after_updates(metadata, updates)
    except SHAPE_ERRORS:
        return (), dict(metadata)


def together(stages: Iterable[Stage]) -> Stage:
    """Return a stage that does the work of these stages, in order, in one commit."""
    taken = [*stages]

    def make(metadata: Metadata) -> Sequence[Json]:
        updates: list[Json] = []
        for stage in taken:
            more, metadata = grown(stage, metadata)
            updates += more
        return updates

    if len(taken) == 1:
        return taken[0]
    return Stage(" + ".join(stage.what for stage in taken), make, parts=tuple(taken))


def in_groups(stages: Iterable[Stage], size: int) -> Iterator[Stage]:
    """Yield stages that each combine at most ``size`` of these stages."""
    taken: list[Stage] = []
    for stage in stages:
        taken.append(stage)
        if stage.last or len(taken) == size:
            yield together(taken)
            taken = []
    if taken:
        yield together(taken)
