"""An httpx transport that reaches a mock catalog without a socket."""

import httpx

from icecheck.mock_server.clients.in_process import AnsweredLate, ConnectionCut, exchange
from icecheck.mock_server.serving.app import App


class InProcessTransport(httpx.BaseTransport):
    """Passes every request, for any host, to one server's core."""

    def __init__(self, app: App) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer; httpx.RemoteProtocolError where the server cuts the connection.

        httpx.ReadTimeout where the answer is delayed beyond the request's read time-out.
        """
        target = request.url.raw_path.decode("latin-1")
        try:
            reply = exchange(
                self._app,
                request.method,
                target,
                request.headers.items(),
                request.read(),
                request.extensions.get("timeout", {}).get("read"),
            )
        except ConnectionCut as cut:
            raise httpx.RemoteProtocolError(str(cut), request=request) from cut
        except AnsweredLate as late:
            raise httpx.ReadTimeout(str(late), request=request) from late
        return httpx.Response(
            reply.status, headers=list(reply.headers), content=reply.body, request=request
        )
