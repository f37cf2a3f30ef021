"""The options that say which catalog is meant and how to speak to it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

__all__ = ["read_url", "target_facts", "target_options"]

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("url", required=False),
    click.option("--catalog-url", metavar="URL", help="The catalog's base URL; same as URL."),
    click.option("--warehouse", metavar="NAME", help="Warehouse to ask /v1/config for."),
    click.option("--prefix", help="Path prefix, used verbatim instead of the announced one."),
    click.option("--token", help="Bearer token."),
    click.option("--credential", metavar="ID:SECRET", help="OAuth2 client credential."),
    click.option("--oauth2-server-uri", metavar="URL", help="Token endpoint for the credential."),
    click.option("--scope", default="catalog", show_default=True, help="OAuth2 scope."),
    click.option(
        "--header", "headers", multiple=True, metavar="NAME:VALUE", help="Extra header; repeatable."
    ),
    click.option(
        "--ca-bundle",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="PEM file of a private authority.",
    ),
    click.option(
        "--timeout",
        "timeout_seconds",
        type=float,
        default=30.0,
        show_default=True,
        metavar="SECONDS",
        help="Limit for one request.",
    ),
    click.option(
        "--namespace",
        "namespaces",
        multiple=True,
        metavar="A.B",
        help="Work under this existing namespace; levels joined by dots, or one option each.",
    ),
    click.option(
        "--isolation",
        type=click.Choice(["auto", "nested", "flat", "parent"]),
        default="auto",
        show_default=True,
        help="Where the run keeps its objects.",
    ),
    click.option(
        "--accept-residue",
        is_flag=True,
        help="Verify a catalog that does not delete; what is made stays on it.",
    ),
)


def target_options(function: Function) -> Function:
    """Add the options of a target to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def target_facts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options say of a target, as keyword arguments of Target, all but the URL."""
    from icecheck.target import read_headers

    as_they_are = (
        "warehouse",
        "token",
        "prefix",
        "credential",
        "oauth2_server_uri",
        "scope",
        "ca_bundle",
        "timeout_seconds",
        "isolation",
        "accept_residue",
    )
    return {
        **{name: options[name] for name in as_they_are},
        "headers": read_headers(options["headers"], "--header"),
        "namespace": _read_namespace(options["namespaces"]),
    }


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
