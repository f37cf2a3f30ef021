"""A way to a catalog on which the first creation of a namespace is not answered as it ends."""

import httpx


class LostOnce(httpx.BaseTransport):
    """Loses the answer to the first creation of a namespace, which is carried out or not."""

    def __init__(self, below: httpx.BaseTransport, *, applied: bool, throttles: bool) -> None:
        self._below, self._applied, self._throttles = below, applied, throttles
        self._lost = False

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Hand a request on; the first creation of a namespace has no answer."""
        first = request.method == "POST" and request.url.path.endswith("/namespaces")
        if not first or self._lost:
            return self._below.handle_request(request)
        self._lost = True
        if self._applied:
            self._below.handle_request(request)
        if self._throttles:
            return httpx.Response(429, headers={"Retry-After": "0"}, request=request)
        raise httpx.ReadTimeout("timed out", request=request)
