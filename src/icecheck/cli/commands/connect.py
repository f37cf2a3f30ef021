"""``icecheck connect``: how a client reaches a catalog, in the client's own words."""

import click

from icecheck.targets.target import UsageError

_CLIENTS = (
    "pyiceberg", "spark", "duckdb", "trino", "flink", "clickhouse", "sail", "go", "rust", "js",
)  # fmt: skip


@click.command("connect", short_help="Print how a client reaches a catalog.")
@click.argument("client", metavar="CLIENT", type=click.Choice(_CLIENTS))
@click.option(
    "--uri",
    default="http://127.0.0.1:8181",
    show_default=True,
    help="The catalog's address, without /v1.",
)
@click.option("--warehouse", default="warehouse", show_default=True, help="The warehouse's name.")
@click.option(
    "--name", default="mock", show_default=True, help="What the client is to call the catalog."
)
@click.option("--token", help="A bearer token for the catalog.")
@click.option(
    "--credential", metavar="ID:SECRET", help="Credentials, for tokens from the catalog itself."
)
@click.option(
    "--s3",
    "is_s3",
    is_flag=True,
    help="The warehouse is at an s3:// location; its credentials come from the catalog.",
)
def command(
    client: str, uri: str, warehouse: str, name: str, is_s3: bool, **access: str | None
) -> None:
    """Print settings, statements or lines of a program with which CLIENT reaches a catalog.

    CLIENT is pyiceberg, spark, duckdb, trino, flink, clickhouse, sail, go, rust or js.
    """
    from icecheck.mock_server.clients.connection import CLIENTS, Connection, ConnectionUnusable

    if access["token"] and access["credential"]:
        raise click.UsageError("give --token or --credential, not both")
    _expect_plain(name, uri, warehouse, *access.values())
    if access["credential"] and ":" not in access["credential"]:
        raise click.UsageError("--credential: write ID:SECRET")
    try:
        found = Connection(_address(uri), warehouse, name, **access, is_s3=is_s3)
        shown = CLIENTS[client](found)
    except (UsageError, ConnectionUnusable) as error:
        raise click.UsageError(str(error)) from None
    click.echo(shown, nl=False)


def _expect_plain(name: str, *values: str | None) -> None:
    """Refuse a name or a value that could be more than one thing in some client's settings."""
    if not (name.isidentifier() and name.isascii()):
        raise click.UsageError(f"a catalog's name has letters, digits and underscores: {name!r}")
    for value in values:
        if value is not None and not value.isprintable():
            raise click.UsageError(f"control characters cannot stand in settings: {value!r}")


def _address(uri: str) -> str:
    """Return an address without a slash or /v1 at its end; UsageError if it is none."""
    if not uri.startswith(("http://", "https://")):
        raise UsageError(f"--uri {uri!r}: write http://HOST:PORT or https://HOST")
    return uri.rstrip("/").removesuffix("/v1")
