"""What these tests ask of a server: clients of every kind, requests to the token endpoint."""

import base64
from typing import Any

import httpx
import jwt

from icecheck.mock_server import Client, MockCatalog, Permissions

NOW_MS = 1_700_000_000_000
NOW = NOW_MS // 1000
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
CLIENTS = (
    Client("root", "root-secret"),
    Client("narrow", "narrow-secret", scopes=("catalog", "read")),
    Client("reader", "reader-secret", permissions=Permissions(read_only=True)),
    Client("outsider", "outsider-secret", permissions=Permissions(denied_namespaces=("a.b",))),
    Client("single", "single-secret", grant_types=("client_credentials",)),
    Client("exchanger", "exchanger-secret", grant_types=()),
)
TOKENS = "/v1/oauth/tokens"
CREDENTIALS = {"grant_type": "client_credentials"}
ROOT = {**CREDENTIALS, "client_id": "root", "client_secret": "root-secret"}
NARROW = {**CREDENTIALS, "client_id": "narrow", "client_secret": "narrow-secret"}


def client_of(mock: MockCatalog, token: str | None = None, **headers: str) -> httpx.Client:
    """An HTTP client of a server, with a bearer token if one is given."""
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return httpx.Client(transport=mock.httpx_transport(), base_url="http://mock", headers=headers)


def basic(text: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def claims(token: str) -> dict[str, Any]:
    decoded: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return decoded


def expect_refused(response: httpx.Response, status: int, error: str) -> None:
    """Judge that an answer is the error of RFC 6749, and nothing of Iceberg's."""
    assert (response.status_code, response.json()["error"]) == (status, error), response.text
    assert set(response.json()) == {"error", "error_description"}
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    assert ("www-authenticate" in response.headers) == (status == 401)
