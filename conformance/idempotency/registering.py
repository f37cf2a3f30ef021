"""The registration of a file of the catalog's own, with a key: of tables and of views alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import arrange
from icecheck.conformance.idempotency.repeating import Keyed, keyed, not_carried_out
from icecheck.objects.reading import not_applicable
from icecheck.objects.registering import refused_as_unfit
from icecheck.objects.views import View
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace


@dataclass(frozen=True, slots=True)
class Kind:
    """How objects of one kind are registered, dropped, loaded, and made to have a file."""

    registers: str
    drops: str
    drop: Callable[[Catalog, Namespace, str], Reply]
    load: Callable[[Catalog, Namespace, str], Reply]
    given: Callable[[Catalog], Table | View]


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration that was carried out: its request, its first answer, and what it made."""

    request: Keyed
    answered: Reply
    namespace: Namespace
    name: str


def registered(catalog: Catalog, kind: Kind) -> Registration:
    """Register a file with a key, that of a dropped object before that of one which is there.

    A catalog may delete the files of what is dropped, also later. Raises Violation if nothing was
    registered, NotOffered if the catalog tells no file, or takes in none of its own.
    """
    for dropped in (True, False) if catalog.claims(kind.drops) else (False,):
        thing = kind.given(catalog)
        namespace, name = thing.namespace, catalog.new_name()
        if thing.metadata_location is None:
            raise NotOffered("the catalog tells no metadata location")
        if dropped:
            _given_dropped(catalog, kind, thing)
        body: dict[str, Any] = {"name": name, "metadata-location": thing.metadata_location}
        request = keyed(catalog, kind.registers, {"namespace": namespace}, body)
        answered = request.send(catalog)
        if refused_as_unfit(answered):
            continue
        _arranged(catalog, kind.registers, answered)
        there = kind.load(catalog, namespace, name)
        if there.status == 404 and not dropped:
            raise not_carried_out(request, there)
        if there.ok or not dropped:
            return Registration(request, answered, namespace, name)
    raise not_applicable(f"a file of the catalog's own is answered with {answered.status}")


def _given_dropped(catalog: Catalog, kind: Kind, thing: Table | View) -> None:
    arrange(catalog, kind.drops, lambda: kind.drop(catalog, thing.namespace, thing.name))


def _arranged(catalog: Catalog, operation_id: str, answered: Reply) -> None:
    arrange(catalog, operation_id, lambda: answered)
