"""Signs requests with AWS Signature Version 4, as Iceberg's own clients sign them.

Java's RESTSigV4AuthSession is the model: the path is encoded once more, the hash of the body is a
header, a bearer token goes into ``Original-Authorization``, and all of it is signed.
"""

import contextlib
import hashlib
import os
from collections.abc import Generator, Mapping
from typing import Any
from urllib.parse import parse_qsl

import httpx

from icecheck.installing import install_command
from icecheck.targets.target import SigV4, UsageError

RELOCATED = "Original-Authorization"
"""The header of a signed request that holds its token."""
# Headers that a proxy may change.
_UNSIGNED = frozenset({"connection", "content-length", "transfer-encoding"})


class Signer:
    """Signs with the credentials that the user gave, or those of AWS's default chain.

    Temporary ones are renewed by botocore where it can. Raises UsageError without botocore, without
    a region, and without credentials.
    """

    def __init__(self, settings: SigV4) -> None:
        try:
            from botocore.session import Session
        except ModuleNotFoundError:
            raise UsageError(f"SigV4 needs botocore: run {install_command('sigv4')}") from None
        session = Session()
        self._service = settings.service
        self._region = settings.region or os.environ.get("AWS_REGION") or _region_of(session)
        if not self._region:
            raise UsageError(
                "SigV4 needs a region: write --sigv4 REGION/SERVICE, or set AWS_REGION"
            )
        self._credentials = _credentials_of(session, settings)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The current key id, key and session token, if any."""
        frozen = self._credentials.get_frozen_credentials()
        return tuple(each for each in (frozen.access_key, frozen.secret_key, frozen.token) if each)

    def signed(
        self, method: str, url: str | httpx.URL, headers: Mapping[str, str], body: bytes | None
    ) -> dict[str, str]:
        """Return the headers to send: those given, the signature and the headers it needs.

        ``url`` is signed in the form in which it is sent.
        """
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        kept = {
            RELOCATED if name.lower() == "authorization" else name: value
            for name, value in headers.items()
        }
        kept["x-amz-content-sha256"] = hashlib.sha256(body or b"").hexdigest()
        sent = httpx.URL(url)
        path = sent.raw_path.decode("ascii").partition("?")[0]
        request = AWSRequest(
            method=method,
            url=f"{sent.scheme}://{sent.netloc.decode('ascii')}{path}",
            # The signature covers the decoded query: a space may be written in either way.
            params=parse_qsl(sent.query.decode("ascii"), keep_blank_values=True),
            data=body,
            headers=kept,
        )
        SigV4Auth(self._credentials.get_frozen_credentials(), self._service, self._region).add_auth(
            request
        )
        return dict(request.headers.items())


class SignedAuth(httpx.Auth):
    """Signs a request each time another flow sends it; that flow's own requests are not signed."""

    requires_request_body = True

    def __init__(self, signer: Signer, flow: httpx.Auth | None = None) -> None:
        self._signer = signer
        self._flow = flow or httpx.Auth()

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Yield the requests of the other flow; the request itself is signed when it is sent."""
        request.read()
        with contextlib.closing(self._flow.sync_auth_flow(request)) as flow:
            asked = next(flow)
            while True:
                unsigned = asked.headers
                if asked is request:
                    asked.headers = self._signed(asked)
                response = yield asked
                asked.headers = unsigned
                try:
                    asked = flow.send(response)
                except StopIteration:
                    return

    def _signed(self, request: httpx.Request) -> httpx.Headers:
        kept: list[tuple[str, str]] = []
        to_sign: dict[str, str] = {}
        for raw_name, raw_value in request.headers.raw:
            name, value = raw_name.decode("ascii"), raw_value.decode("ascii")
            if name.lower() in _UNSIGNED:
                kept.append((name, value))
            else:
                to_sign[name] = value
        signed = self._signer.signed(request.method, request.url, to_sign, request.content or None)
        return httpx.Headers([*kept, *signed.items()])


def _region_of(session: Any) -> str | None:
    region = session.get_config_variable("region")
    return region if isinstance(region, str) else None


def _credentials_of(session: Any, settings: SigV4) -> Any:
    from botocore.credentials import Credentials
    from botocore.exceptions import BotoCoreError

    if settings.access_key_id and settings.secret_access_key:
        return Credentials(
            settings.access_key_id, settings.secret_access_key, settings.session_token
        )
    try:
        found = session.get_credentials()
        if found is not None:
            found.get_frozen_credentials()
    except BotoCoreError as error:
        raise UsageError(f"AWS credentials for SigV4 cannot be had: {error}") from None
    if found is None:
        raise UsageError(
            "SigV4 found no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
            "AWS_PROFILE"
        )
    return found
