"""A freedom: one thing that the document leaves to the catalog, and a catalog that takes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from icecheck.mock_server.core.context import Registries
from tests.lawful.lawful import Install

Asked = Callable[[httpx.Request], httpx.Request]
"""Alters a request on its way."""
Sent = Callable[[httpx.Request, httpx.Response], httpx.Response]
"""Alters an answer on its way; it gets the request too."""


def _as_it_is(_: Registries) -> None:
    """Alter no behaviour."""


@dataclass(frozen=True, slots=True)
class Freedom:
    """What a catalog does otherwise, and the lines of the 1.10.0 document that allow it.

    ``lines`` begins with the lines, or with "silent" where no sentence speaks of it. ``server``
    holds arguments of the mock. What is ``outside`` alters refusals, those of other freedoms too;
    ``unserved`` operations are taken away at the end. Two freedoms with the same ``about`` exclude
    each other.
    """

    lines: str
    install: Install = _as_it_is
    server: Mapping[str, Any] = field(default_factory=dict)
    asked: Asked | None = None
    sent: Sent | None = None
    unserved: tuple[str, ...] = ()
    outside: bool = False
    about: str = ""
