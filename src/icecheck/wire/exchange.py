"""One request and its answer, reproducible as a curl line once it is redacted."""

import base64
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum

from icecheck.wire.json_text import Flaws, flaws_of

TOKEN_VARIABLE = "ICECHECK_TOKEN"  # noqa: S105 - the name of a variable
# Digests of another principal's secrets say whose they are.
_OF_ANOTHER = re.compile(r"[Bb]earer <redacted:(second|reader):")

# Headers that curl writes itself when it signs.
_SIGNING_SCOPE = re.compile(r"AWS4-HMAC-SHA256 Credential=[^/]+/\d+/([^/]+)/([^/]+)/aws4_request,")
_OF_SIGNATURES = frozenset({"x-amz-date", "x-amz-content-sha256"})

Headers = tuple[tuple[str, str], ...]

# Headers that curl writes itself.
_TRANSPORT_HEADERS = frozenset(
    {"host", "connection", "content-length", "accept-encoding", "user-agent", "transfer-encoding"}
)


class Step(StrEnum):
    """The part of a check in which an exchange happened."""

    PROBE = "probe"
    GIVEN = "given"
    DO = "do"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as sent and the answer as received; ``status`` is None when there was none.

    ``ordinal`` counts from 1 within a check. ``url`` is absolute and still percent-encoded.
    ``response_text`` is what was wrong with the answer's JSON text if its body was rewritten since,
    to hide secrets. A ``raced`` request was to change something, and another one that was sent at
    the same time succeeded.
    """

    check: str
    ordinal: int
    step: Step
    operation: str | None
    method: str
    url: str
    request_headers: Headers
    request_body: bytes | None
    status: int | None = None
    response_headers: Headers = ()
    response_body: bytes = b""
    elapsed_ms: float = 0.0
    error: str | None = None
    response_text: Flaws | None = None
    raced: bool = False

    def header(self, name: str) -> str | None:
        """Return the first response header of that name, compared without case."""
        wanted = name.lower()
        return next((v for k, v in self.response_headers if k.lower() == wanted), None)

    @property
    def text_flaws(self) -> Flaws:
        """What is wrong with the answer's body as JSON text, as it was received."""
        return flaws_of(self.response_body) if self.response_text is None else self.response_text

    @property
    def claims_json(self) -> bool:
        """Whether the answer declares a JSON body (False for an empty one)."""
        media = (self.header("content-type") or "").split(";")[0].strip().lower()
        return bool(self.response_body) and (media == "application/json" or media.endswith("+json"))


def as_curl(exchange: Exchange) -> str:
    """Return one shell line that sends a redacted exchange again; the token is a shell variable."""
    parts = ["curl", "-sS", "-i", "--globoff", "--path-as-is"]
    parts += ["--head"] if exchange.method == "HEAD" else ["-X", exchange.method]
    quoted = [shlex.quote(p) for p in parts]
    authorization = dict(exchange.request_headers).get("Authorization", "")
    scope = _SIGNING_SCOPE.match(authorization)
    for name, value in exchange.request_headers:
        lower = name.lower()
        if lower in _TRANSPORT_HEADERS or (scope is not None and lower in _OF_SIGNATURES):
            continue
        if lower == "authorization" and scope is not None:
            quoted += ["--aws-sigv4", shlex.quote(f"aws:amz:{scope[1]}:{scope[2]}")]
            quoted += ["--user", '"$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"']
        elif lower == "x-amz-security-token":
            quoted += ["-H", '"x-amz-security-token: $AWS_SESSION_TOKEN"']
        elif lower.endswith("authorization") and value.lower().startswith("bearer <redacted:"):
            another = _OF_ANOTHER.match(value)
            variable = f"ICECHECK_{another[1].upper()}_TOKEN" if another else TOKEN_VARIABLE
            quoted += ["-H", f'"{name}: Bearer ${variable}"']
        else:
            quoted += ["-H", shlex.quote(f"{name}: {value}")]
    pipe = ""
    if exchange.request_body is not None:
        try:
            text = exchange.request_body.decode()
            if "\0" in text:
                raise UnicodeError
            quoted += ["--data-binary", shlex.quote(text)]
        except UnicodeError:
            encoded = base64.b64encode(exchange.request_body).decode()
            pipe = f"printf %s {encoded} | base64 -d | "
            quoted += ["--data-binary", "@-"]
    quoted.append(shlex.quote(exchange.url))
    return pipe + " ".join(quoted)
