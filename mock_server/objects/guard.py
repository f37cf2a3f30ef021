"""Lets a request to the object store through if it is signed, and if its credentials permit it."""

import logging
from collections.abc import Callable

from icecheck.mock_server.objects.access import AccessKeys
from icecheck.mock_server.objects.calls import S3Call, call_of
from icecheck.mock_server.objects.moto_buckets import Buckets
from icecheck.mock_server.objects.payloads import payload_of
from icecheck.mock_server.objects.permissions import check_permitted
from icecheck.mock_server.objects.refusals import S3Refusal, refusal_reply
from icecheck.mock_server.objects.signatures import SESSION_TOKEN, check_signature, signature_of
from icecheck.mock_server.protocol.wire import Reply, Request

_log = logging.getLogger(__name__)


class Guard:
    """Stands before the buckets of one server."""

    def __init__(
        self, access_keys: AccessKeys, buckets: Buckets, now_ms: Callable[[], int]
    ) -> None:
        self._access_keys = access_keys
        self._buckets = buckets
        self._now_ms = now_ms

    def answer(self, request: Request) -> Reply:
        """Answer a request; never raises."""
        try:
            return self._buckets.perform(self._permitted(request))
        except S3Refusal as refusal:
            return refusal_reply(refusal)
        except Exception:  # noqa: BLE001 - the one place that turns bugs into answers
            _log.exception("%s %s failed", request.method, request.raw_path)
            return refusal_reply(S3Refusal(500, "InternalError", "The object store failed"))

    def _permitted(self, request: Request) -> S3Call:
        signature = signature_of(request)
        token = request.headers.get(SESSION_TOKEN)
        keys, grant = self._access_keys.behind(signature.access_key_id, token)
        check_signature(request, signature, keys.secret_access_key)
        payload = payload_of(request, signature, keys.secret_access_key)
        call = call_of(request, payload)
        if grant is not None:
            check_permitted(call, grant, self._now_ms())
        return call
