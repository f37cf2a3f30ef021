"""Adaptations: how a run creates objects on a catalog that refuses ordinary requests.

They also place objects where the user wants them. The run's first table shows what is needed
(``icecheck.client.adapting``); it is reported, never judged here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2s
from typing import Any

from icecheck.contract import Action, Object, Operation, Place
from icecheck.targets.target import Namespace

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True, slots=True)
class Adaptations:
    """The ways in which creations differ from what an ordinary client would send.

    ``location_root`` is the URI below which tables and views are placed; None leaves it to the
    catalog. ``places_namespaces``: namespaces too. With ``drops_location`` a null location is left
    out, with ``drops_nulls`` every null member of a table. ``only_in`` is the one namespace that
    takes tables and views.

    ``records`` say in words what the catalog needed; the user's own wishes are not in them.
    """

    location_root: str | None = None
    places_namespaces: bool = False
    drops_location: bool = False
    drops_nulls: bool = False
    only_in: Namespace | None = None
    records: tuple[str, ...] = ()

    def location(self, namespace: Namespace, name: str, ordinal: int) -> str | None:
        """Return the location for a new object, or None where the catalog chooses it.

        ``ordinal`` is that of the request within its check: a name that is used twice, or was moved
        away, does not share files with another table.
        """
        if self.location_root is None:
            return None
        return location_below(self.location_root, (*namespace, f"{name}_{ordinal}"))

    def fitted(
        self, operation: Operation, names: Mapping[str, str | Namespace], body: Any, ordinal: int
    ) -> Any:
        """Return the body to send for a JSON body; bytes and malformed bodies are not changed.

        A location that a check has chosen is kept.
        """
        facts = operation.facts
        if not isinstance(body, dict) or facts.action is not Action.CREATE:
            return body
        if facts.object is Object.NAMESPACE:
            return self._placed_namespace(body)
        if self.drops_nulls and facts.object is Object.TABLE:
            body = {key: value for key, value in body.items() if value is not None}
        if body.get("location") is not None:
            return body
        namespace, name = names.get("namespace"), body.get("name")
        if self.location_root is not None and isinstance(namespace, tuple):
            told = name if isinstance(name, str) else ""
            return {**body, "location": self.location(namespace, told, ordinal)}
        if self.drops_location:
            return {key: value for key, value in body.items() if key != "location"}
        return body

    def refuses(
        self, operation: Operation, names: Mapping[str, str | Namespace], body: Any
    ) -> str | None:
        """Return why a request is not sent: it would put an object where the catalog takes none.

        None if it may be sent.
        """
        if self.only_in is None:
            return None
        where: Any = None
        creates = operation.facts.creates
        if creates is not None and creates.place is Place.NAME:
            where = names.get("namespace")
        elif operation.facts.action is Action.RENAME and isinstance(body, dict):
            destination = body.get("destination")
            levels = destination.get("namespace") if isinstance(destination, dict) else None
            where = tuple(levels) if isinstance(levels, list) else None
        if where is None or where == self.only_in:
            return None
        return f"the catalog takes tables and views in {'.'.join(self.only_in)} only"

    def _placed_namespace(self, body: dict[str, Any]) -> dict[str, Any]:
        levels, properties = body.get("namespace"), body.get("properties", {})
        if (
            not self.places_namespaces
            or self.location_root is None
            or not isinstance(properties, dict)
            or "location" in properties
            or not (isinstance(levels, list) and all(isinstance(each, str) for each in levels))
        ):
            return body
        location = location_below(self.location_root, tuple(levels))
        return {**body, "properties": {**properties, "location": location}}


def location_below(root: str, names: tuple[str, ...]) -> str:
    """Return the URI of a location below a root, with a directory for each name.

    Names that are no plain words are spelled with a digest, because programs do not agree on how
    locations are percent-decoded.
    """
    return "/".join((root.rstrip("/"), *map(_directory, names)))


def _directory(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    digest = blake2s(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{re.sub('[^A-Za-z0-9_-]', '_', name)[:80]}_{digest}"
