"""Whatever is sent to the token endpoint or as a token: a documented answer, never a failure."""

import base64
import json
from urllib.parse import quote_plus

from hypothesis import given, settings
from hypothesis import strategies as st

from icecheck.mock_server import MockCatalog, OAuth2Settings
from icecheck.mock_server.core.clock import VirtualClock
from icecheck.mock_server.core.context import Reply, Request
from tests.mock.security.serving import CLIENTS, NOW_MS, TOKENS

MOCK = MockCatalog(
    seed=7,
    clock=VirtualClock(NOW_MS),
    root="memory://root",
    oauth2=OAuth2Settings(clients=CLIENTS),
)
ERRORS = {
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope",
}  # fmt: skip
TYPE = "urn:ietf:params:oauth:token-type:"


def one_of_or(known: list[str], other: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(known), other)


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sub", "exp", "iss"]), inner)
    ),
    max_leaves=6,
)
nested = st.integers(1, 3000).map(lambda depth: "[" * depth)
json_texts = json_values.map(json.dumps) | nested | st.text(max_size=20)
parts = json_texts.map(lambda text: encoded(text.encode("utf-8", "surrogatepass")))
tokens = st.one_of(
    st.sampled_from([MOCK.access_token("root"), MOCK.access_token("narrow", seconds=-10)]),
    st.tuples(parts, parts, parts).map(".".join),
    parts,
    st.text(max_size=20),
)
token_types = one_of_or(
    [TYPE + name for name in ("access_token", "jwt", "id_token", "saml1", "saml2")],
    st.text(max_size=10),
)
grants = ["client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"]
forms = st.fixed_dictionaries(
    {},
    optional={
        "grant_type": one_of_or(grants, st.text(max_size=10)),
        "client_id": one_of_or(["root", "narrow", "single"], st.text(max_size=10)),
        "client_secret": one_of_or(["root-secret", "narrow-secret"], st.text(max_size=10)),
        "scope": one_of_or(["catalog", "read"], st.text(max_size=10)),
        "subject_token": tokens,
        "subject_token_type": token_types,
        "actor_token": tokens,
        "actor_token_type": token_types,
        "requested_token_type": token_types,
    },
)
headers = st.fixed_dictionaries(
    {},
    optional={
        "authorization": st.one_of(
            tokens.map(lambda token: f"Bearer {token}"),
            st.sampled_from(["root:root-secret", "root:x", ":", ""]).map(
                lambda text: f"Basic {base64.b64encode(text.encode()).decode()}"
            ),
            st.text(max_size=20),
        ),
        "content-type": one_of_or(
            ["application/x-www-form-urlencoded", "application/json"], st.text(max_size=20)
        ),
    },
)


def post(body: bytes, sent: dict[str, str]) -> Reply:
    return MOCK.app.handle(Request("POST", TOKENS, "", sent, body)).reply


def judge(reply: Reply) -> None:
    """Judge that an answer is one of the two that the document has."""
    answer = json.loads(reply.body)
    assert ("cache-control", "no-store") in reply.headers
    if reply.status == 200:
        token = MOCK.security.tokens.read(answer["access_token"])
        assert token is not None
        assert token.scope == answer["scope"]
        assert answer["token_type"] == "bearer"
    else:
        assert answer["error"] in ERRORS
        challenged = any(name == "www-authenticate" for name, _ in reply.headers)
        assert reply.status == (401 if answer["error"] == "invalid_client" else 400)
        assert challenged == (reply.status == 401)


@settings(max_examples=600, deadline=None)
@given(forms, headers)
def test_any_form_has_a_documented_answer(form: dict[str, str], sent: dict[str, str]) -> None:
    quoted = "&".join(
        f"{name}={quote_plus(value, errors='replace')}" for name, value in form.items()
    )
    judge(post(quoted.encode(), sent))


@settings(max_examples=300, deadline=None)
@given(tokens, st.sampled_from(["Bearer {}", "Basic {}", "{}"]))
def test_any_authorization_opens_or_is_refused(token: str, pattern: str) -> None:
    sent = {"authorization": pattern.format(token)}
    reply = MOCK.app.handle(Request("GET", "/v1/config", "", sent)).reply
    assert reply.status in {200, 401}
    if reply.status == 200:
        assert MOCK.security.tokens.read(token) is not None
