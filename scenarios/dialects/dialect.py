"""Recorded requests of real clients, read from ``dialects/*.json``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Request:
    """One request: an operation, with placeholders for names and server-made values.

    ``{orders}`` is the name of an object of the recording, ``{orders:location}`` a value that the
    server made for it, ``{warehouse}`` the user's warehouse, ``{now}`` the time in milliseconds.
    ``answer`` is the status after which the client continued; ``assumes`` are the metadata of a new
    table on which later requests depend; ``empty`` are members that were empty, and may be missing.
    A ``keyed`` request had an idempotency key, because the server announced that it honours them.
    """

    operation: str
    names: Mapping[str, str] = field(default_factory=dict)
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    answer: int = 200
    assumes: Mapping[str, Any] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    keyed: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One action of the client's user, and the requests that the client sent for it."""

    name: str
    requests: tuple[Request, ...]


@dataclass(frozen=True, slots=True)
class Workflow:
    """The actions of a user in order, with a description."""

    name: str
    does: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One client in one version.

    ``headers`` are those of most of its requests; ``needs`` is operation -> pointers of the members
    without which it stops; ``shrugs_off`` are the operations whose refusal it ignores; ``stops_at``
    is operation -> success statuses at which it stops.
    """

    slug: str
    client: str
    version: str
    headers: Mapping[str, str]
    needs: Mapping[str, tuple[str, ...]]
    shrugs_off: frozenset[str]
    stops_at: Mapping[str, tuple[int, ...]]
    workflows: tuple[Workflow, ...]


@cache
def dialects() -> Mapping[str, Dialect]:
    """Return every recorded dialect by its slug, sorted by slug."""
    paths = sorted(FOLDER.glob("*.json"))
    return MappingProxyType({p.stem: _read(p.stem, p.read_text("utf-8")) for p in paths})


def _read(slug: str, text: str) -> Dialect:
    written = json.loads(text)
    return Dialect(
        slug=slug,
        client=written["client"],
        version=written["version"],
        headers=written["headers"],
        needs={operation: tuple(needed) for operation, needed in written["needs"].items()},
        shrugs_off=frozenset(written["shrugs-off"]),
        stops_at={operation: tuple(stops) for operation, stops in written["stops-at"].items()},
        workflows=tuple(
            Workflow(row["workflow"], row["does"], tuple(_step(step) for step in row["steps"]))
            for row in written["workflows"]
        ),
    )


def _step(row: Mapping[str, Any]) -> Step:
    return Step(
        row["step"],
        tuple(
            Request(**{**request, "query": tuple((k, v) for k, v in request.get("query", ()))})
            for request in row["requests"]
        ),
    )
