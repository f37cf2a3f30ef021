"""Requests to the object store, signed by botocore: not by the code that is tested."""

import http.client
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

REGION = "us-east-1"


class Answered(NamedTuple):
    """An answer, with the code of the error that it tells of."""

    status: int
    code: str
    body: bytes
    headers: Mapping[str, str]


class Sender(NamedTuple):
    """Whoever has credentials for a store."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    session_token: str | None = None

    def ask(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        sent_as: str = "",
        added: Mapping[str, str] | None = None,
    ) -> Answered:
        """Send a signed request.

        With `sent_as` another spelling of the signed target is sent; headers that are `added` are
        not signed.
        """
        signed = self.signed(method, target, body, headers)
        return send(self.endpoint, method, sent_as or target, body, {**signed, **(added or {})})

    def signed(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the headers of a signed request."""
        url = f"{self.endpoint}{target}"
        request = AWSRequest(method, url, headers=dict(headers or {}), data=body)
        keys = Credentials(self.access_key_id, self.secret_access_key, self.session_token)
        signer = S3SigV4Auth(keys, "s3", REGION)
        payload = (headers or {}).get("X-Amz-Content-Sha256")
        if payload is not None:
            # botocore would choose it by itself.
            signer.payload = lambda _request: payload
        signer.add_auth(request)
        return dict(request.headers.items())


def send(
    endpoint: str, method: str, target: str, body: bytes, headers: Mapping[str, str]
) -> Answered:
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=60)
    try:
        has_host = "Host" in headers
        connection.putrequest(method, target, skip_host=has_host, skip_accept_encoding=True)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        found = re.search(rb"<Error><Code>(\w+)</Code>", content)
        code = found[1].decode() if found else ""
        told = {name.lower(): value for name, value in answer.getheaders()}
        return Answered(answer.status, code, content, told)
    finally:
        connection.close()
