"""A requests adapter that reaches a mock catalog without a socket."""

from http import HTTPStatus
from io import BytesIO
from typing import Any

from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.structures import CaseInsensitiveDict

from icecheck.mock_server.clients.in_process import ConnectionCut, exchange
from icecheck.mock_server.serving.app import App


class InProcessAdapter(BaseAdapter):  # type: ignore[misc]
    """Passes every request of a session to one server's core."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def send(self, request: PreparedRequest, *_args: Any, **_options: Any) -> Response:
        """Return the answer; requests' ConnectionError where the server cuts the connection."""
        method = request.method or "GET"
        headers = [(name, str(value)) for name, value in request.headers.items()]
        try:
            reply = exchange(self._app, method, request.path_url, headers, _body(request))
        except ConnectionCut as cut:
            raise RequestsConnectionError(str(cut), request=request) from cut
        response = Response()
        response.status_code = reply.status
        response.reason = _reason(reply.status)
        response.headers = CaseInsensitiveDict(reply.headers)
        response.raw = BytesIO(reply.body)
        response.encoding = "utf-8"
        response.url = request.url or ""
        response.request = request
        return response

    def close(self) -> None:
        """Do nothing: no connection is held open."""


def _body(request: PreparedRequest) -> bytes:
    body = request.body
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes):
        return body
    return b"".join(body)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
