"""Every option that describes a target: one table for the command line, pytest and files.

This module imports nothing else, because every pytest run of an environment that has icecheck loads
it.
"""

from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """The kind of an option's value; ``icecheck.targets.values`` reads each in its own way."""

    TEXT = auto()
    FILE = auto()
    NUMBER = auto()
    WHOLE_NUMBER = auto()
    FLAG = auto()
    NAMES = auto()
    HEADERS = auto()
    LEVELS = auto()
    SIGNING = auto()

    @property
    def repeats(self) -> bool:
        """Whether the option may be given several times."""
        return self in {Kind.NAMES, Kind.HEADERS, Kind.LEVELS}


class Stage(Enum):
    """The stage of a run from which an option matters; commands that get so far have it."""

    REACHING = auto()
    """Any request to the catalog."""
    LOOKING = auto()
    """The first objects that are made or looked at."""
    RUNNING = auto()
    """A whole run."""


@dataclass(frozen=True, slots=True)
class TargetOption:
    """One option: ``--NAME`` of the command line, ``--catalog-NAME`` and its ini key under pytest.

    ``fact`` is the keyword of ``Target`` that it gives, or a part of one, as ``second.token``; an
    option that sets none names another source of facts. ``key`` is its key in ``table`` of
    icecheck.toml, with a dot for a part of a table there. ``client_property`` is Iceberg's name for
    it, used by the environment, PyIceberg and Spark. ``flag`` is its name on the command line if
    that is another. A ``secret`` is never shown. ``mock_brings``: `run --mock` sets it itself.
    ``not_under_pytest`` says why the plugin does not have the option, if it does not.
    """

    name: str
    help: str
    metavar: str = ""
    kind: Kind = Kind.TEXT
    fact: str = ""
    stage: Stage = Stage.REACHING
    default: str = ""
    choices: tuple[str, ...] = ()
    key: str = ""
    table: str = "target"
    client_property: str = ""
    flag: str = ""
    secret: bool = False
    mock_brings: bool = False
    not_under_pytest: str = ""

    @property
    def words(self) -> str:
        """The option's text in the help."""
        choices = f" ({', '.join(self.choices)})" if self.choices else ""
        repeats = "; repeatable" if self.kind in {Kind.NAMES, Kind.HEADERS} else ""
        default = f"  [default: {self.default}]" if self.default else ""
        return f"{self.help}{choices}{repeats}.{default}"


_ONE_CATALOG = "a run under pytest is described by its own options, the environment and one file"

TARGET_OPTIONS: tuple[TargetOption, ...] = (
    TargetOption(
        "url", "The base URL of the Iceberg REST catalog to verify, the part before /v1", "URL",
        fact="url", key="url", client_property="uri", flag="catalog-url",
    ),
    TargetOption(
        "warehouse", "Warehouse to ask /v1/config for", "NAME",
        fact="warehouse", key="warehouse", client_property="warehouse", mock_brings=True,
    ),
    TargetOption(
        "prefix", "Path prefix, used verbatim instead of the announced one", "PREFIX",
        fact="prefix", key="prefix", client_property="prefix",
    ),
    TargetOption(
        "token", "Bearer token", "TOKEN",
        fact="token", key="token", client_property="token", secret=True, mock_brings=True,
    ),
    TargetOption(
        "credential", "OAuth2 client credential", "ID:SECRET",
        fact="credential", key="credential", client_property="credential",
        secret=True, mock_brings=True,
    ),
    TargetOption(
        "oauth2-server-uri", "Token endpoint for the credential", "URL",
        fact="oauth2_server_uri", key="oauth2-server-uri", client_property="oauth2-server-uri",
    ),
    TargetOption(
        "scope", "OAuth2 scope", "SCOPE",
        fact="scope", default="catalog", key="scope", client_property="scope",
    ),
    TargetOption(
        "header", "Extra header", "NAME:VALUE", Kind.HEADERS, fact="headers", key="headers",
    ),
    TargetOption(
        "allow-host", "Also go, with credentials, where the catalog's config leads clients",
        "HOST[:PORT]", Kind.NAMES, fact="allow_hosts", key="allow-hosts",
    ),
    TargetOption(
        "ca-bundle", "PEM file of a private authority", "FILE", Kind.FILE,
        fact="ca_bundle", key="ca-bundle", client_property="ssl.cabundle",
    ),
    TargetOption(
        "sigv4",
        "Sign requests as AWS wants them; keys come from the environment or a profile",
        "REGION/SERVICE", Kind.SIGNING, fact="sigv4", key="sigv4", mock_brings=True,
    ),
    TargetOption(
        "client-cert", "PEM file of the certificate to show (mutual TLS)", "FILE",
        fact="client_cert", key="client-cert", client_property="ssl.client.cert",
    ),
    TargetOption(
        "client-key", "PEM file of its key, if it is not in there", "FILE",
        fact="client_key", key="client-key", client_property="ssl.client.key",
    ),
    TargetOption(
        "timeout", "Limit for one request", "SECONDS", Kind.NUMBER,
        fact="timeout_seconds", default="30", key="timeout",
    ),
    TargetOption(
        "claim", "Hold the catalog to an operation that it does not list", "OPERATION", Kind.NAMES,
        fact="claims", key="claims",
    ),
    TargetOption(
        "rate-limit", "Send at most N requests a second", "N", Kind.NUMBER,
        fact="requests_per_second", key="rate-limit",
    ),
    TargetOption(
        "config", "Read this file instead of icecheck.toml in the working directory", "FILE",
    ),
    TargetOption(
        "pyiceberg-catalog", "The catalog is one of PyIceberg's settings", "NAME",
        mock_brings=True, not_under_pytest=_ONE_CATALOG,
    ),
    TargetOption(
        "spark-conf", "The catalog is one of these Spark settings", "FILE", Kind.FILE,
        mock_brings=True, not_under_pytest=_ONE_CATALOG,
    ),
    TargetOption(
        "spark-catalog", "Which one, if there are several", "NAME",
        mock_brings=True, not_under_pytest=_ONE_CATALOG,
    ),
    TargetOption(
        "second-token", "Token of somebody who may see nothing of what the run makes", "TOKEN",
        fact="second.token", stage=Stage.LOOKING, key="second.token",
        client_property="second-token", secret=True, mock_brings=True,
    ),
    TargetOption(
        "second-credential", "Or the credential to get one with", "ID:SECRET",
        fact="second.credential", stage=Stage.LOOKING, key="second.credential",
        client_property="second-credential", secret=True, mock_brings=True,
    ),
    TargetOption(
        "namespace",
        "Work under this existing namespace; levels joined by dots, or one option each", "A.B",
        Kind.LEVELS, fact="namespace", stage=Stage.LOOKING, key="namespace",
    ),
    TargetOption(
        "location-root", "Place what a run creates below this URI, such as s3://bucket/tests",
        "URI", fact="location_root", stage=Stage.LOOKING, key="location-root",
    ),
    TargetOption(
        "read-only", "Create nothing; look at the objects that are given by their names",
        kind=Kind.FLAG, fact="read_only", stage=Stage.LOOKING, key="read-only",
    ),
    TargetOption(
        "given-namespace", "A namespace that is there, for a run that may only read", "A.B",
        fact="given.namespace", stage=Stage.LOOKING, key="namespace", table="given",
    ),
    TargetOption(
        "given-table", "A table that is there, likewise", "A.B.T",
        fact="given.table", stage=Stage.LOOKING, key="table", table="given",
    ),
    TargetOption(
        "given-view", "A view that is there, likewise", "A.B.V",
        fact="given.view", stage=Stage.LOOKING, key="view", table="given",
    ),
    TargetOption(
        "name-pattern", "How the names that the run makes up begin; {run} is its id", "PATTERN",
        fact="name_pattern", default="icecheck_{run}", key="name-pattern",
    ),
    TargetOption(
        "reader-token", "Token of somebody who may read what the run makes and change nothing",
        "TOKEN", fact="reader.token", stage=Stage.RUNNING, key="reader.token",
        client_property="reader-token", secret=True, mock_brings=True,
    ),
    TargetOption(
        "reader-credential", "Or the credential to get one with", "ID:SECRET",
        fact="reader.credential", stage=Stage.RUNNING, key="reader.credential",
        client_property="reader-credential", secret=True, mock_brings=True,
    ),
    TargetOption(
        "second-warehouse", "A warehouse apart from the first, to look for what the run makes",
        "NAME", fact="second_warehouse", stage=Stage.RUNNING, key="second-warehouse",
        mock_brings=True,
    ),
    TargetOption(
        "isolation", "Where the run keeps its objects", "MODE",
        fact="isolation", stage=Stage.RUNNING, default="auto",
        choices=("auto", "nested", "flat", "parent"), key="isolation",
    ),
    TargetOption(
        "accept-residue", "Verify a catalog that does not delete; what is made stays on it",
        kind=Kind.FLAG, fact="accept_residue", stage=Stage.LOOKING, key="accept-residue",
    ),
    TargetOption(
        "race-rounds", "Let clients start together N times in each race", "N", Kind.WHOLE_NUMBER,
        fact="race_rounds", stage=Stage.RUNNING, default="4, or 20 for a disruptive run",
        key="race-rounds",
    ),
    TargetOption(
        "fuzz-cases", "Send up to N drawn requests to each operation; 0 sends none", "N",
        Kind.WHOLE_NUMBER, fact="fuzz_cases", stage=Stage.RUNNING, default="7", key="fuzz-cases",
    ),
    TargetOption(
        "fuzz-seconds", "Draw no further requests to an operation after so many seconds", "SECONDS",
        Kind.NUMBER, fact="fuzz_seconds", stage=Stage.RUNNING, key="fuzz-seconds",
    ),
    TargetOption(
        "disruptive",
        "Also strain the catalog: long lists and histories, large commits, many races",
        kind=Kind.FLAG, fact="disruptive", stage=Stage.RUNNING, key="disruptive",
    ),
    TargetOption(
        "thorough", "Draw histories of 10 000 steps in all, for a night, in place of 150",
        kind=Kind.FLAG, fact="thorough", stage=Stage.RUNNING, key="thorough",
    ),
)  # fmt: skip
"""Every option, in the order of pytest's help; the command line orders them by stage."""
