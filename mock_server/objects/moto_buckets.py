"""The buckets of one server, in moto: in this process, and no other server's.

moto has its own HTTP server, but its port would be a way around every permission, and all such
servers of a process would have the same buckets. So its answers are asked for here, by function.
"""

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError

from icecheck.installing import install_command
from icecheck.mock_server.objects.calls import S3Call
from icecheck.mock_server.objects.moto_tracking import untracked
from icecheck.mock_server.objects.refusals import S3Refusal, invalid, refusal_reply
from icecheck.mock_server.protocol.wire import Reply

if TYPE_CHECKING:
    from moto.s3.models import S3Backend

REGION = "us-east-1"

_ACCOUNT = "123456789012"
_PARTITION = "aws"
_HOST = "127.0.0.1"
_NOT_HANDED_BACK = frozenset({"connection", "date", "server", "transfer-encoding"})
_NOT_UNDERSTOOD = (ValueError, LookupError, TypeError, AttributeError, ExpatError)
_log = logging.getLogger(__name__)
_NAMING = threading.Lock()


class ObjectStoreUnavailable(ValueError):
    """Raised if moto is not installed; the message says how to install it."""


def check_installed() -> None:
    """Raise ObjectStoreUnavailable unless moto is there; imports nothing."""
    if find_spec("moto") is None or find_spec("py_partiql_parser") is None:
        raise ObjectStoreUnavailable(
            f"a warehouse at s3:// needs moto, which has its objects: {install_command('s3')}"
        )


class Buckets:
    """Buckets with objects; moto is loaded when the first request comes."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(dict.fromkeys(names))
        # moto iterates over what another thread may change.
        self._lock = threading.RLock()

    def perform(self, call: S3Call) -> Reply:
        """Return the answer to a call, whoever sent it."""
        with self._lock:
            self._check_upload(call)
            if call.method == "PUT" and call.bucket and not call.key and not call.names:
                return self._created(call.bucket)
            self._check_buckets(call)
            try:
                status, headers, body = self._answered(call)
            except NotImplementedError:
                refusal = S3Refusal(501, "NotImplemented", "This object store has no such request")
                return refusal_reply(refusal)
            except _NOT_UNDERSTOOD as error:
                # moto checks little, and what is read here before it is not all that it reads.
                _log.debug("%s %s was not understood", call.method, call.url, exc_info=error)
                return refusal_reply(invalid("The request cannot be understood"))
        return Reply(int(status), _handed_back(call, headers), _bytes(body))

    def clear(self) -> None:
        """Remove every object; the buckets stay."""
        with self._lock:
            for bucket in self._backend.buckets.values() if "_backend" in vars(self) else ():
                for key in bucket.keys.values():
                    _dispose(key)
                for upload in bucket.multiparts.values():
                    _dispose(upload)
            vars(self).pop("_backend", None)

    def load(self) -> None:
        """Load moto and make the buckets; ObjectStoreUnavailable if it cannot be loaded."""
        with self._lock:
            _ = self._backend

    @cached_property
    def _backend(self) -> "S3Backend":
        check_installed()
        from moto.s3.models import S3Backend

        backend = S3Backend(_PARTITION, _ACCOUNT)
        for name in self._names:
            _create(backend, name)
        return backend

    def _check_upload(self, call: S3Call) -> None:
        """Raise S3Refusal if an upload is not of this key: moto would take it for its own key."""
        upload_id = call.query.get("uploadId")
        if upload_id is None:
            return
        bucket = self._backend.buckets.get(call.bucket)
        upload = None if bucket is None else bucket.multiparts.get(upload_id)
        if upload is not None and upload.key_name == call.key:
            return
        key = None if bucket is None else bucket.keys.get(call.key)
        completed = getattr(key, "multipart", None)
        if call.method != "POST" or completed is None or completed.id != upload_id:
            raise S3Refusal(404, "NoSuchUpload", "There is no such upload of this key")

    def _check_buckets(self, call: S3Call) -> None:
        """Raise S3Refusal for a bucket of others: moto would look for it in the whole process."""
        named = (call.bucket, call.copied.bucket if call.copied else "")
        if any(each and each not in self._backend.buckets for each in named):
            raise S3Refusal(404, "NoSuchBucket", "There is no such bucket")

    def _created(self, name: str) -> Reply:
        if name in self._backend.buckets:
            return refusal_reply(S3Refusal(409, "BucketAlreadyOwnedByYou", "The bucket is there"))
        _create(self._backend, name)
        return Reply(200, (("location", f"/{name}"),))

    def _answered(self, call: S3Call) -> tuple[Any, Mapping[str, Any], Any]:
        from moto.core.request import Request
        from moto.s3.responses import S3Response
        from werkzeug.exceptions import HTTPException

        backend = self._backend

        class OwnS3Response(S3Response):  # type: ignore[misc]
            """Answers about the buckets of this server."""

            @property
            def backend(self) -> "S3Backend":
                return backend

        url = f"http://{_HOST}{call.url}"
        # Without an Authorization moto would take the sender for a stranger.
        headers = {"host": _HOST, "authorization": "AWS checked", **call.headers}
        request = Request.from_primitives(call.method, url, headers, call.body)
        response = OwnS3Response()
        answer = response.key_response if call.key else response.bucket_response
        try:
            is_deletion = call.method == "DELETE" and not call.key
            with _apart(call.bucket) if is_deletion else nullcontext(), untracked():
                status, found, body = answer(request, url, dict(request.headers))
        except HTTPException as error:
            return error.code or 400, dict(error.get_headers()), error.get_body()
        return status, found, body


def _create(backend: "S3Backend", name: str) -> None:
    with _apart(name), untracked():
        backend.create_bucket(name, REGION)


@contextmanager
def _apart(name: str) -> Iterator[None]:
    """Leave a bucket of others alone: moto has one list of names for the whole process."""
    from moto.s3.models import s3_backends

    names = s3_backends.bucket_accounts
    with _NAMING:
        before = names.pop(name, None)
        try:
            yield
        finally:
            names.pop(name, None)
            if before is not None:
                names[name] = before


def _dispose(held: Any) -> None:
    """Close the temporary file of an object; a marker of a deletion has none."""
    dispose = getattr(held, "dispose", None)
    if dispose is not None:
        dispose()


def _handed_back(call: S3Call, headers: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    dropped = set(_NOT_HANDED_BACK)
    if call.method != "HEAD":
        dropped.add("content-length")
    found = [(name.lower(), str(value)) for name, value in headers.items()]
    # A value may come from a parameter of the request, and could end its line.
    return tuple(
        (name, value)
        for name, value in found
        if name not in dropped and value.isprintable() and value.isascii()
    )


def _bytes(body: Any) -> bytes:
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else b"".join(body)
