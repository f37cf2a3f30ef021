"""The options that say which catalog is meant, how to speak to it, and who takes which of them."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.option_groups import Function, adding

if TYPE_CHECKING:
    from icecheck.target import Target

__all__ = ["from_file", "read_url", "target_facts", "target_of", "target_options"]

# What every command needs that speaks to a catalog.
_REACHING = (
    click.argument("url", required=False),
    click.option("--catalog-url", metavar="URL", help="The catalog's base URL; same as URL."),
    click.option("--warehouse", metavar="NAME", help="Warehouse to ask /v1/config for."),
    click.option("--prefix", help="Path prefix, used verbatim instead of the announced one."),
    click.option("--token", help="Bearer token."),
    click.option("--credential", metavar="ID:SECRET", help="OAuth2 client credential."),
    click.option("--oauth2-server-uri", metavar="URL", help="Token endpoint for the credential."),
    click.option("--scope", help="OAuth2 scope.  [default: catalog]"),
    click.option(
        "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Extra header; repeatable."
    ),
    click.option(
        "--allow-host",
        "allow_hosts",
        multiple=True,
        metavar="HOST[:PORT]",
        help="Also go, with credentials, where the catalog's config leads clients; repeatable.",
    ),
    click.option(
        "--ca-bundle",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="PEM file of a private authority.",
    ),
    click.option(
        "--sigv4",
        metavar="REGION/SERVICE",
        help="Sign requests as AWS wants them; keys come from the environment or a profile.",
    ),
    click.option(
        "--client-cert", metavar="FILE", help="PEM file of the certificate to show (mutual TLS)."
    ),
    click.option(
        "--client-key", metavar="FILE", help="PEM file of its key, if it is not in there."
    ),
    click.option(
        "--timeout",
        "timeout_seconds",
        type=float,
        metavar="SECONDS",
        help="Limit for one request.  [default: 30]",
    ),
    click.option(
        "--claim",
        "claims",
        multiple=True,
        metavar="OPERATION",
        help="Hold the catalog to an operation that it does not list; repeatable.",
    ),
    click.option(
        "--rate-limit",
        "requests_per_second",
        type=float,
        metavar="N",
        help="Send at most N requests a second.",
    ),
    click.option(
        "--config",
        metavar="FILE",
        help="Read this file instead of icecheck.toml in the working directory.",
    ),
    click.option(
        "--pyiceberg-catalog", metavar="NAME", help="The catalog is one of PyIceberg's settings."
    ),
    click.option(
        "--spark-conf",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="The catalog is one of these Spark settings.",
    ),
    click.option("--spark-catalog", metavar="NAME", help="Which one, if there are several."),
)

# What bears on the first objects that are made or looked at.
_LOOKING = (
    click.option(
        "--second-token",
        metavar="TOKEN",
        help="Token of somebody who may see nothing of what the run makes.",
    ),
    click.option(
        "--second-credential", metavar="ID:SECRET", help="Or the credential to get one with."
    ),
    click.option(
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="A.B",
        help="Work under this existing namespace; levels joined by dots, or one option each.",
    ),
    click.option(
        "--location-root",
        metavar="URI",
        help="Place what a run creates below this URI, such as s3://bucket/tests.",
    ),
    click.option(
        "--read-only", is_flag=True, help="Create nothing; look at what --given-... names."
    ),
    click.option(
        "--given-namespace", metavar="A.B", help="A namespace that is there, for --read-only."
    ),
    click.option("--given-table", metavar="A.B.T", help="A table that is there, likewise."),
    click.option("--given-view", metavar="A.B.V", help="A view that is there, likewise."),
)

# What bears on a whole run alone.
_RUNNING = (
    click.option(
        "--isolation",
        type=click.Choice(["auto", "nested", "flat", "parent"]),
        help="Where the run keeps its objects.  [default: auto]",
    ),
    click.option(
        "--accept-residue",
        is_flag=True,
        help="Verify a catalog that does not delete; what is made stays on it.",
    ),
    click.option(
        "--race-rounds",
        type=int,
        metavar="N",
        help="Let rivals start together N times in each race.  [default: 4, --disruptive 20]",
    ),
    click.option(
        "--disruptive",
        is_flag=True,
        help="Also strain the catalog: long lists and histories, large commits, many races.",
    ),
)

_TAKEN_BY = {
    "run": (*_REACHING, *_LOOKING, *_RUNNING),
    "plan": (*_REACHING, *_LOOKING, *_RUNNING),
    "doctor": (*_REACHING, *_LOOKING),
    "clean": _REACHING,
}
"""Which command takes which of these options: those that change something of what it does."""


def target_options(command: str) -> Callable[[Function], Function]:
    """Return a decorator that adds to a command the options of a target that it uses."""
    return adding(_TAKEN_BY[command])


def target_facts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options say of a target, as keyword arguments of Target, all but the URL."""
    from icecheck.target import SigV4, read_headers
    from icecheck.target_sources import given_from, principal_from

    as_they_are = (
        "warehouse",
        "token",
        "prefix",
        "credential",
        "oauth2_server_uri",
        "scope",
        "ca_bundle",
        "client_cert",
        "client_key",
        "timeout_seconds",
        "isolation",
        "location_root",
        "requests_per_second",
        "race_rounds",
    )
    options = defaultdict(lambda: None, options)  # a command takes some of them only
    given = {
        **{name: options[name] for name in as_they_are},
        "headers": read_headers(options["headers"], "--header") or None,
        "namespace": _read_namespace(options["namespaces"] or ()) or None,
        "accept_residue": options["accept_residue"] or None,
        "claims": options["claims"] or None,
        "allow_hosts": options["allow_hosts"] or None,
        "read_only": options["read_only"] or None,
        "disruptive": options["disruptive"] or None,
        "sigv4": None if options["sigv4"] is None else SigV4.read(options["sigv4"]),
        "second": principal_from(
            {kind: options[f"second_{kind}"] for kind in ("token", "credential")}
        ),
        "given": given_from(
            {kind: options[f"given_{kind}"] for kind in ("namespace", "table", "view")}
        ),
    }
    return {name: value for name, value in given.items() if value is not None}


def target_of(options: Mapping[str, Any], *, or_else: str = "", **otherwise: Any) -> "Target":
    """Return the target that flags, environment and files describe together.

    ``otherwise`` is what is used where none of them says anything, ``or_else`` what a user could
    give instead of a URL. Raises UsageError when they
    name no catalog, or contradict themselves.
    """
    from icecheck import target_sources as sources
    from icecheck.target import Target, UsageError

    flags = target_facts(options)
    url = read_url(options["url"], options["catalog_url"])
    if url is not None:
        flags["url"] = url
    named = []
    if options["pyiceberg_catalog"]:
        named.append(sources.from_pyiceberg(options["pyiceberg_catalog"]))
    if options["spark_conf"]:
        path = Path(options["spark_conf"])
        named.append(sources.from_spark_conf(path, options["spark_catalog"]))
    elif options["spark_catalog"]:
        raise UsageError(
            "--spark-catalog names one of the catalogs in --spark-conf FILE: give both"
        )
    facts = sources.merged(flags, *named, sources.from_environment(), from_file(options["config"]))
    if "url" not in facts:
        raise UsageError(
            f"name the catalog: give its URL{or_else}, CATALOG_URI, or url in [target] of "
            "icecheck.toml"
        )
    bundle = facts.get("ca_bundle")
    if bundle is not None and not Path(bundle).is_file():
        raise UsageError(f"the CA bundle {bundle} is no file")
    return Target(**otherwise | facts)


def from_file(config: str | None) -> dict[str, Any]:
    """Return what the file says of a target; UsageError where nobody knows what it means."""
    from icecheck.assembly.expecting import read_text
    from icecheck.expectations import DEFAULT_FILE
    from icecheck.target_sources import from_toml

    path = Path(config or DEFAULT_FILE)
    if config is None and not path.exists():
        return {}
    return from_toml(read_text(path), str(path))


def read_url(url: str | None, catalog_url: str | None) -> str | None:
    """Return the one URL that was given, if any; UsageError when two differ."""
    if url is not None and catalog_url is not None and url != catalog_url:
        raise click.UsageError("two catalogs are named: give URL or --catalog-url, not both")
    return url if url is not None else catalog_url


def _read_namespace(namespaces: tuple[str, ...]) -> tuple[str, ...]:
    """Return the levels: one option is split at its dots, several are one level each."""
    levels = tuple(namespaces[0].split(".")) if len(namespaces) == 1 else namespaces
    if any(not level for level in levels):
        raise click.UsageError("--namespace has an empty level: write A.B, or one option per level")
    return levels
