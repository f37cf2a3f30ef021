"""The catalog under test, as its user describes it: its address and how to speak to it."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from icecheck.targets.addresses import host_flaw, prefix_flaw
from icecheck.targets.secret_names import known_from_headers

Namespace = tuple[str, ...]

AGENT = "Apache-HttpClient/5.5 (Java/17.0.15)"
"""The user agent of every request: that of Spark's client, so that no catalog knows the suite."""
NAME_PATTERN = "icecheck_{run}"
"""The beginning of every name that a run makes up, unless its user gives another one."""
_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_SIGNING_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,31}\{run\}[a-z0-9_]{0,32}")
_LOCATION = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/[!-~]*[!-.0-~]/*")
_TIMEOUT_SECONDS_MAX = 86_400
_TOKEN_CHARACTERS_MIN = 8
_ID_CHARACTERS_MIN = 6
_RACE_ROUNDS_MAX = 1_000
_FUZZ_CASES_MAX = 1_000_000
_FUZZ_SECONDS_MAX = 86_400
# Four rounds of four competing clients give two dozen pairs; disruptive runs race more often.
_RACE_ROUNDS = 4
_RACE_ROUNDS_DISRUPTIVE = 20


def new_run_id() -> str:
    """Return a random run id: six hexadecimal digits, letters and decimal digits among them."""
    while not is_unlike_words(made := secrets.token_hex(_ID_CHARACTERS_MIN // 2)):
        pass
    return made


def is_unlike_words(run_id: str) -> bool:
    """Return whether a run id is unlike words and numbers that stand in other names."""
    mixed = any(c.isdigit() for c in run_id) and any(c.isalpha() for c in run_id)
    return mixed and len(run_id) >= _ID_CHARACTERS_MIN


class UsageError(Exception):
    """The user asked for something impossible; the message says what to type instead."""


@dataclass(frozen=True, slots=True)
class Given:
    """Objects that the user names to be read; a table or view by its namespace and its name."""

    namespace: Namespace = ()
    table: tuple[Namespace, str] | None = None
    view: tuple[Namespace, str] | None = None


@dataclass(frozen=True, slots=True)
class SigV4:
    """The region and service for signing; keys and region may come from AWS's default chain."""

    region: str | None = None
    service: str = "execute-api"
    access_key_id: str | None = field(default=None, repr=False)
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, text: str) -> "SigV4":
        """Read REGION/SERVICE or REGION; raises UsageError."""
        region, slash, service = text.partition("/")
        parts = (region, service) if slash else (region,)
        if not all(_SIGNING_NAME.fullmatch(part) for part in parts):
            raise UsageError(
                f"{text!r} is no signing scope: write REGION/SERVICE, such as us-east-1/execute-api"
            )
        return cls(*parts)


@dataclass(frozen=True, slots=True)
class Principal:
    """A principal: a token, or a credential with which one is fetched."""

    token: str | None = field(default=None, repr=False)
    credential: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """The catalog's address and how to speak to it.

    ``prefix`` None means: as the config announces; a string is used verbatim (rule 12 of the
    verdict rules: clients do the same), the empty one meaning none. ``namespace`` is a parent to
    work under; with ``accept_residue`` a catalog that deletes nothing is verified all the same.
    With ``read_only`` nothing is created, and the ``given`` objects are read instead.

    ``location_root`` is the URI below which objects of the run are placed; None leaves the places
    to the catalog. ``claims`` are operationIds that the catalog is held to although it does not
    list them.

    ``disruptive`` allows checks that strain a catalog; each race is then run more often, unless
    ``race_rounds`` says how often. A ``thorough`` run draws many more histories, and longer ones.

    ``fuzz_cases`` is the number of requests that are drawn for each operation; none is drawn after
    ``fuzz_seconds`` of one.

    ``allow_hosts`` (HOST or HOST:PORT) are hosts to which the catalog's config may send requests,
    and credentials with them; otherwise they go to the host of ``url`` only.

    ``name_pattern`` is the beginning of every name that a run makes up; ``{run}`` in it stands for
    the run's id.

    ``second`` is a principal who has no right to the objects of the run, ``reader`` one who may
    read them and change nothing, ``second_warehouse`` a warehouse apart from the first. Without
    token and credential no Authorization header is sent, unless requests are signed (``sigv4``).
    """

    url: str
    warehouse: str | None = None
    prefix: str | None = None
    token: str | None = field(default=None, repr=False)
    credential: str | None = field(default=None, repr=False)
    oauth2_server_uri: str | None = None
    scope: str = "catalog"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_bundle: str | None = None
    timeout_seconds: float = 30.0
    namespace: Namespace = ()
    isolation: str = "auto"
    accept_residue: bool = False
    claims: tuple[str, ...] = ()
    requests_per_second: float | None = None
    read_only: bool = False
    given: Given = Given()
    location_root: str | None = None
    sigv4: SigV4 | None = None
    client_cert: str | None = None
    client_key: str | None = None
    second: Principal | None = None
    reader: Principal | None = None
    second_warehouse: str | None = None
    race_rounds: int | None = None
    fuzz_cases: int = 7
    fuzz_seconds: float | None = None
    disruptive: bool = False
    thorough: bool = False
    allow_hosts: tuple[str, ...] = ()
    name_pattern: str = NAME_PATTERN

    def __post_init__(self) -> None:
        scheme = self.url.partition("://")[0].lower()
        if scheme not in {"http", "https"} or not self.url.partition("://")[2]:
            raise UsageError(
                f"{self.url!r} is not an http(s) URL: give the catalog's base URL, "
                "for example http://127.0.0.1:8181"
            )
        self._refuse_bad_access()
        if not all(self.namespace):
            raise UsageError("the namespace has an empty level: write --namespace a.b")
        self._refuse_unsendable()
        if not 0 < self.timeout_seconds <= _TIMEOUT_SECONDS_MAX:  # refuses NaN too
            raise UsageError(
                f"the timeout must be more than 0 and at most {_TIMEOUT_SECONDS_MAX} seconds"
            )
        if self.requests_per_second is not None and not self.requests_per_second > 0:
            raise UsageError("the rate limit must be more than 0 requests a second")
        self._refuse_odd_amounts()
        if self.disruptive and self.read_only:
            raise UsageError("--disruptive strains what --read-only must leave alone: choose one")
        if self.isolation not in {"auto", "nested", "flat", "parent"}:
            raise UsageError(f"isolation {self.isolation!r}: use auto, nested, flat or parent")
        if self.isolation == "parent" and not self.namespace:
            raise UsageError("isolation 'parent' needs a parent: add --namespace NAME")
        if not _NAME_PATTERN.fullmatch(self.name_pattern):
            raise UsageError(
                f"the name pattern {self.name_pattern!r} makes no names: a letter, then small "
                "letters, digits, underscores, and {run} once, such as sales_{run}"
            )

    def _refuse_odd_amounts(self) -> None:
        """Raise UsageError for more than anybody waits for, or less than nothing."""
        if not 1 <= self.rounds <= _RACE_ROUNDS_MAX:
            raise UsageError(f"races take 1 to {_RACE_ROUNDS_MAX} rounds: write --race-rounds 20")
        if not 0 <= self.fuzz_cases <= _FUZZ_CASES_MAX:
            words = f"0 to {_FUZZ_CASES_MAX} requests can be drawn for each operation"
            raise UsageError(f"{words}: write --fuzz-cases 100")
        if self.fuzz_seconds is not None and not 0 < self.fuzz_seconds <= _FUZZ_SECONDS_MAX:
            words = f"drawing takes more than 0 and at most {_FUZZ_SECONDS_MAX} seconds"
            raise UsageError(f"{words}: write --fuzz-seconds 60")

    def _refuse_bad_access(self) -> None:
        """Raise UsageError for credentials that identify nobody, or a root that is no location."""
        _refuse_bad_principal("", self.token, self.credential)
        for whose, other in (("second ", self.second), ("reader's ", self.reader)):
            if other is not None:
                _refuse_bad_principal(whose, other.token, other.credential)
                if not (other.token or other.credential):
                    raise UsageError(f"the {whose}principal needs a token or a credential")
        if self.second_warehouse is not None and self.second_warehouse == self.warehouse:
            raise UsageError("the second warehouse is the first: name another one")
        if self.client_key and not self.client_cert:
            raise UsageError("the client key belongs to a certificate: add --client-cert FILE")
        if self.location_root is not None and not _LOCATION.fullmatch(self.location_root):
            raise UsageError(
                f"the location root {self.location_root!r} is no URI: write s3://bucket/path"
            )

    def _refuse_unsendable(self) -> None:
        """Raise UsageError for values that no request can carry; secrets are not repeated."""
        _refuse_bad_url("the catalog's URL", self.url)
        if "?" in self.url or "#" in self.url:
            raise UsageError("the URL has a '?' or '#' part: give the part before /v1 only")
        if self.oauth2_server_uri is not None:
            _refuse_bad_url("the OAuth2 server's URI", self.oauth2_server_uri)
        texts = {
            "warehouse": self.warehouse,
            "second warehouse": self.second_warehouse,
            "prefix": self.prefix,
            "scope": self.scope,
            "namespace": "".join(self.namespace),
        }
        for what, text in texts.items():
            _refuse_unencodable(what, text or "")
        if why := prefix_flaw(self.prefix or ""):
            raise UsageError(f"the prefix {self.prefix!r} makes no path: {why}")
        for host in self.allow_hosts:
            if why := host_flaw(host):
                raise UsageError(f"--allow-host {host!r}: {why}, such as catalog.example.com:443")

    @property
    def agent(self) -> str:
        """The user agent of every request; a header that the user gives replaces ours."""
        given = (value for name, value in self.headers.items() if name.lower() == "user-agent")
        return next(given, AGENT)

    def owner(self, run_id: str) -> str:
        """Return the token that stands in every name of a run.

        Raises UsageError for one that names of others might contain: it is short, or its run id is
        a number or a word behind a pattern of the user's own, as in ``orders_2026``.
        """
        token = self.name_pattern.replace("{run}", run_id)
        if self.name_pattern != NAME_PATTERN and not is_unlike_words(run_id):
            raise UsageError(
                f"with a --name-pattern, {run_id!r} might be part of other names: leave --run-id "
                f"out, or give {_ID_CHARACTERS_MIN} or more characters, both letters and digits"
            )
        if len(token) < _TOKEN_CHARACTERS_MIN:
            raise UsageError(
                f"the names of this run would begin with {token!r}: use a longer --name-pattern "
                f"or --run-id, {_TOKEN_CHARACTERS_MIN} characters together"
            )
        return token

    def may_be_of_a_run(self, name: str) -> bool:
        """Return whether an earlier run may have made a name: it begins as their tokens do."""
        own, usual = (p.partition("{run}")[0] for p in (self.name_pattern, NAME_PATTERN))
        run_id = re.match(r"[0-9A-Za-z]*", name.removeprefix(own))
        return name.startswith(usual) or (
            name.startswith(own) and run_id is not None and is_unlike_words(run_id[0])
        )

    @property
    def base_url(self) -> str:
        """The URL that ``/v1/...`` is appended to (clients strip a trailing slash too)."""
        return self.url.rstrip("/")

    @property
    def warehouse_query(self) -> tuple[tuple[str, str], ...]:
        """The query of the request for the config: the warehouse, if one was named."""
        return () if self.warehouse is None else (("warehouse", self.warehouse),)

    @property
    def config_path(self) -> str:
        """The path and query after a base URL with which the config is requested."""
        query = self.warehouse_query
        return "/v1/config" + (f"?{httpx.QueryParams(query)}" if query else "")

    @property
    def safety(self) -> str:
        """How much a run may do to the catalog."""
        if self.disruptive:
            return "disruptive"
        return "read-only" if self.read_only else "standard"

    @property
    def rounds(self) -> int:
        """The number of times that each race is run."""
        if self.race_rounds is not None:
            return self.race_rounds
        return _RACE_ROUNDS_DISRUPTIVE if self.disruptive else _RACE_ROUNDS

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every value that the user gave and that must never be shown."""
        others = [each for each in (self.second, self.reader) if each is not None]
        credentials = [self.credential, *(each.credential for each in others)]
        given = [self.token, *(each.token for each in others), *credentials]
        given += [each.partition(":")[2] for each in credentials if each]
        if self.sigv4 is not None:
            given += [self.sigv4.access_key_id, self.sigv4.secret_access_key]
            given.append(self.sigv4.session_token)
        given += known_from_headers(self.headers)
        return tuple(secret for secret in given if secret)

    @property
    def authenticates(self) -> bool:
        """Whether requests carry credentials."""
        return bool(self.token or self.credential or self.sigv4)

    @property
    def token_endpoint(self) -> str:
        """The URL at which a credential is exchanged for a token."""
        return self.oauth2_server_uri or f"{self.base_url}/v1/oauth/tokens"


def _refuse_bad_principal(whose: str, token: str | None, credential: str | None) -> None:
    """Raise UsageError for a principal that identifies nobody; secrets are not repeated."""
    if token and credential:
        raise UsageError(f"give either a {whose}token or a {whose}credential, not both")
    if credential is not None and not credential.strip(":"):
        raise UsageError(f"the {whose}credential is empty: give it as ID:SECRET")
    if token and not can_be_sent(token):
        raise UsageError(
            f"the {whose}token cannot be sent: only printable ASCII is possible in it, "
            "without blanks at its ends"
        )
    _refuse_unencodable(f"{whose}credential", credential or "")


def can_be_sent(token: str) -> bool:
    """Return whether a header can carry a token."""
    return token.isascii() and token.isprintable() and token == token.strip()


def _refuse_unencodable(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the {what} cannot be sent: it is no valid UTF-8") from None


def _refuse_bad_url(what: str, url: str) -> None:
    """Raise UsageError for a URL that no request can be sent to, whatever server is there."""
    try:
        parts = httpx.URL(url)
        # Host names are looked up in IDNA form; httpx accepts some names that have none.
        parts.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise UsageError(f"{what} cannot be read: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.host:
        raise UsageError(f"{what} is no http(s) URL: {url!r}")
    if parts.userinfo:  # it would put a secret into every report
        raise UsageError(f"{what} holds a user: give --credential or --token instead")


def read_headers(headers: Sequence[str], option: str) -> dict[str, str]:
    """Return header name -> value of an option's NAME:VALUE texts.

    Raises UsageError that names the option. A header that cannot be sent is not repeated in the
    message: it may be a secret.
    """
    read: dict[str, str] = {}
    for number, header in enumerate(headers, 1):
        name, colon, value = header.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name:
            raise UsageError(f"{option} number {number}: write NAME:VALUE")
        if not (header.isascii() and header.isprintable()):
            raise UsageError(f"{option} number {number}: only printable ASCII can be sent")
        if not _HEADER_NAME.fullmatch(name):
            raise UsageError(f"{option} number {number}: the name has a forbidden character")
        read[name] = value
    return read
