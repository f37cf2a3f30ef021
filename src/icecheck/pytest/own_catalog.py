"""PyIceberg on the catalog under test, confined to the namespace of one test."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from icecheck.pytest.own_namespace import OwnNamespace
from icecheck.pytest.pyiceberg_conf import pyiceberg_conf
from icecheck.targets.target import Target

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from requests import Session


def own_catalog(target: Target, own: OwnNamespace, said: list[str]) -> "RestCatalog":
    """Return a PyIceberg catalog that sends only requests that ``own`` permits.

    ``said`` gets a line for each. Raises ModuleNotFoundError without PyIceberg.
    """
    from pyiceberg.catalog.rest import RestCatalog

    confine = _confining(own, said, target.timeout_seconds)

    class OwnRestCatalog(RestCatalog):  # type: ignore[misc]
        """Confines every session, also the one that fetches the configuration."""

        def _create_session(self) -> "Session":
            return confine(super()._create_session())

        def _create_legacy_oauth2_auth_manager(self, session: "Session") -> Any:
            # This method fetches a token at once, before the session is finished.
            return super()._create_legacy_oauth2_auth_manager(confine(session))

    catalog = OwnRestCatalog("icecheck", **pyiceberg_conf(target))
    if target.prefix is not None:
        catalog.properties["prefix"] = target.prefix  # verbatim, whatever the config announces
    return catalog


def _confining(
    own: OwnNamespace, said: list[str], timeout_seconds: float
) -> "Callable[[Session], Session]":
    """Return a function that wraps each adapter of a session in one that asks for permission."""
    from requests import PreparedRequest, Response
    from requests.adapters import BaseAdapter

    class Permitted(BaseAdapter):  # type: ignore[misc]
        """Asks for permission before it passes a request to the adapter that PyIceberg chose."""

        def __init__(self, chosen: BaseAdapter) -> None:
            super().__init__()
            self.chosen = chosen

        def send(self, request: PreparedRequest, **options: Any) -> Response:
            body = request.body.encode() if isinstance(request.body, str) else request.body
            permit = own.permit(str(request.method), str(request.url), body)
            if options.get("timeout") is None:
                options["timeout"] = timeout_seconds
            began = time.monotonic()
            response = self.chosen.send(request, **options)
            own.settle(permit, response.status_code)
            took_ms = (time.monotonic() - began) * 1000
            path = str(request.path_url).partition("?")[0]
            named = permit.operation or "no operation"
            line = f"{response.status_code} {request.method} {path}  {named}  {took_ms:.1f} ms"
            said.append(line)
            return response

        def close(self) -> None:
            self.chosen.close()

    def confine(session: "Session") -> "Session":
        for prefix, adapter in list(session.adapters.items()):
            if not isinstance(adapter, Permitted):
                session.mount(prefix, Permitted(adapter))
        return session

    return confine
