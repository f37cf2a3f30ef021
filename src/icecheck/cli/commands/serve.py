"""``icecheck serve``: the mock catalog as a process of its own."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import fail
from icecheck.cli.serving.ready import ready_line, write_ready
from icecheck.contract import DEFAULT_SPEC_VERSION, SPEC_VERSIONS

if TYPE_CHECKING:
    from icecheck.cli.serving.request_log import Form
    from icecheck.mock_server import MockCatalog, OAuth2Settings
    from icecheck.mock_server.core.vending_settings import Storage

_USAGE = 2
_NOT_AS_ASKED = 1
_BY_DEFAULT = click.core.ParameterSource.DEFAULT


@click.command("serve", short_help="Serve the mock catalog until it is told to stop.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. 0.0.0.0 (or ::) listens on all: then clients may call it by any "
    "IP address, but by a name only if --allow-host says so.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests for this host (Host), and from web pages of it (Origin), too; "
    "repeatable. Otherwise only those for loopback names and --host: others get 403.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8181,
    show_default=True,
    envvar=("CATALOG_REST_PORT", "REST_PORT"),
    help="Port to listen on; 0, or --run without a port, takes any free one.",
)
@click.option(
    "--warehouse",
    "warehouses",
    multiple=True,
    metavar="NAME[=URI]",
    help="Declare a warehouse, at a location if one is given; repeatable. At s3://BUCKET/PATH it "
    "is in an object store that is served too (extra s3), with credentials that work, unless "
    "--vend makes them up. Without any, every warehouse that is asked for exists.",
)
@click.option("--token", help="Refuse requests without this bearer token.")
@click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="ID:SECRET[:SCOPE,...]",
    help="Refuse requests without a token of this OAuth2 client, and give it tokens at "
    "/v1/oauth/tokens; repeatable. With scopes it may ask for these only.",
)
@click.option(
    "--token-ttl",
    "token_seconds",
    type=click.IntRange(min=1),
    default=3600,
    show_default=True,
    help="Seconds that a client's token is valid.",
)
@click.option(
    "--vend",
    "storage",
    type=click.Choice(["s3", "gcs", "adls"]),
    help="Give tables made-up credentials for this storage.",
)
@click.option(
    "--hide",
    "hidden",
    multiple=True,
    metavar="OPERATION",
    help="Do not serve this operation (an operationId, as listViews); repeatable.",
)
@click.option(
    "--profile",
    metavar="NAME",
    help="Behave as a server that people meet: fixture-1.10 (Apache's REST fixture), "
    "legacy-no-endpoints, single-level-namespaces.",
)
@click.option(
    "--spec",
    type=click.Choice(SPEC_VERSIONS),
    default=DEFAULT_SPEC_VERSION,
    show_default=True,
    help="Version of the document to serve.",
)
@click.option(
    "--idempotency-lifetime",
    "lifetime",
    default="PT30M",
    show_default=True,
    metavar="DURATION",
    help="How long repeated requests with an Idempotency-Key get the first answer, as of 1.11.0; "
    "off: keys have no meaning.",
)
@click.option(
    "--namespace-separator",
    metavar="ESCAPE",
    help="Announce this for clients to put between the levels of a namespace in paths, as %2E; "
    "%1F is always understood.",
)
@click.option("--seed", type=int, help="Make generated ids reproducible.")
@click.option(
    "--state",
    "--root",
    "root",
    metavar="DIR",
    help="Where tables live, and are found again by the next server with namespaces and views, "
    "however this one ends; one at a time can have it. Default: a temporary directory.",
)
@click.option(
    "--table-locations",
    type=click.Choice(["unique", "by-name"]),
    default="unique",
    show_default=True,
    help="Where tables are that are created without a location: at .../namespace/table, or with a "
    "part of their uuid behind it.",
)
@click.option(
    "--allow-location",
    "allow_locations",
    multiple=True,
    metavar="URI",
    help="Let clients have files below this directory or file: URI read, written and deleted too; "
    "repeatable. Otherwise they reach what is below their warehouse's own location only.",
)
@click.option(
    "--page-size-max",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Most entries on one page of a listing.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME[,KEY=VALUE...]",
    help="Let something go wrong: commit-conflict, commit-unknown, conflict-storm, answer-lost, "
    "connection-dropped, throttled, token-expired, server-error, flaky, slow, truncated, corrupt, "
    "wrong-content-type or custom; keys are operation, table, times, status, latency_ms and more.",
)
@click.option(
    "--defect",
    "defect_globs",
    multiple=True,
    metavar="NAME",
    help="Misbehave in this way (see `icecheck list defects`), or in all of a glob; repeatable.",
)
@click.option(
    "--admin/--no-admin",
    default=True,
    show_default=True,
    help="Serve the administration at /_mock/ (see /_mock/openapi.json), for clients here.",
)
@click.option(
    "--admin-token",
    metavar="TOKEN",
    help="Let the administration be reached from elsewhere, with this bearer token only.",
)
@click.option(
    "--log",
    "log_form",
    type=click.Choice(["text", "json", "off"]),
    default="text",
    show_default=True,
    help="Write a line on stderr for each request; json has headers and bodies, without secrets.",
)
@click.option("--quiet", is_flag=True, help="The same as --log off.")
@click.option(
    "--journal-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append every request to this file, as JSON lines.",
)
@click.option(
    "--seed-file",
    "seed_files",
    multiple=True,
    metavar="FILE",
    help="Begin with the namespaces, tables and views that this file describes (YAML or JSON); "
    "repeatable.",
)
@click.option("--ready-file", metavar="FILE", help="Also write the ready line to this file.")
@click.option(
    "--run",
    "has_command",
    is_flag=True,
    help="Serve while COMMAND runs, tell its clients by variables and files where, and end as it "
    "ends.",
)
@click.argument("beside", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(
    host: str,
    port: int,
    ready_file: str | None,
    log_form: "Form",
    quiet: bool,
    journal_file: Path | None,
    has_command: bool,
    beside: tuple[str, ...],
    **settings: Any,
) -> int:
    """Serve the mock catalog until SIGTERM or Ctrl-C.

    Once it listens it prints one line of JSON: {"event": "ready", "uri": ..., "pid": ...}. With
    --run it prints nothing, and runs COMMAND with CATALOG_URI, CATALOG_WAREHOUSE and the variables
    of PyIceberg and Sail; files for Spark, Trino, Flink, DuckDB and ClickHouse are in the directory
    ICECHECK_CLIENTS. Exit codes: that of COMMAND, 0, or 1 if a strict fault never happened, 2
    usage.
    """
    from icecheck.cli.serving.beside import run_beside
    from icecheck.cli.serving.request_log import logged
    from icecheck.mock_server.protocol.problem import Problem
    from icecheck.mock_server.serving.faults import UnfiredFault

    if has_command != bool(beside):
        raise click.UsageError("write serve --run -- COMMAND")
    if beside and click.get_current_context().get_parameter_source("port") is _BY_DEFAULT:
        port = 0
    try:
        mock = _mock(host=host, port=port, **settings)
        with logged(mock.journal, "off" if quiet else log_form, journal_file):
            if beside:
                return run_beside(
                    mock, beside, lambda ready: write_ready(ready_line(ready.uri), ready_file)
                )
            mock.serve_forever(lambda ready: _announce(ready, ready_file))
    except UnfiredFault as error:
        fail(str(error), _NOT_AS_ASKED)
    except (Problem, ValueError) as error:
        fail(str(error), _USAGE)
    except OSError as error:
        what = error.filename or f"{host}:{port}"
        fail(f"cannot serve at {what}: {error.strerror or error}", _USAGE)
    return 0


def _mock(
    warehouses: tuple[str, ...],
    faults: tuple[str, ...],
    clients: tuple[str, ...],
    token_seconds: int,
    storage: "Storage | None",
    defect_globs: tuple[str, ...],
    root: str | None,
    seed_files: tuple[str, ...],
    lifetime: str,
    **settings: Any,
) -> "MockCatalog":
    """Return the mock that the options describe; ValueError, Problem or OSError say why not."""
    from icecheck.mock_server import (
        IdempotencySettings,
        MockCatalog,
        VendingSettings,
        WarehouseDeclaration,
    )
    from icecheck.mock_server.serving.fault_rules import parse_fault

    planted = _planted(defect_globs)
    declared = []
    for warehouse in warehouses:
        name, _, location = warehouse.partition("=")
        declared.append(WarehouseDeclaration(name, location=location or None))
    kept = root is not None
    # As with the fixture that it is told for, what is there begins empty.
    root = root or _root_of_fixture(os.environ)
    mock = MockCatalog(
        warehouses=declared or None,
        oauth2=_oauth2(clients, token_seconds),
        vending=VendingSettings(storage=storage) if storage else None,
        idempotency=None if lifetime == "off" else IdempotencySettings(lifetime),
        root=root,
        keep=kept,
        **settings,
    )
    for rule in map(parse_fault, faults):
        mock.faults.add(rule)
    for seed_file in seed_files:
        mock.states.seed(seed_file)
    mock.defects.switch_on(*planted)
    if kept:
        for each in mock.warehouses.all():
            if not each.is_kept:
                why = "its object store ends with this server"
                click.echo(f"warehouse {each.name} is not kept in {root}: {why}", err=True)
    return mock


def _planted(globs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the defects that are asked for, without loading all of them for none."""
    if not globs:
        return ()
    from icecheck.cli.listings.defect_names import named_defects

    return tuple(defect.name for defect in named_defects(globs))


def _root_of_fixture(environment: Mapping[str, str]) -> str | None:
    """Return where Apache's test fixture would put its tables, as its users tell it.

    The suite's variable of this name has the name of a warehouse: that is no place.
    """
    place = environment.get("CATALOG_WAREHOUSE", "")
    return place if place.startswith("/") or ":/" in place else None


def _oauth2(clients: tuple[str, ...], token_seconds: int) -> "OAuth2Settings | None":
    """Return the settings for the clients of the command line; ValueError names no secret."""
    from icecheck.mock_server import Client, OAuth2Settings

    if not clients:
        return None
    read = []
    for number, client in enumerate(clients, 1):
        client_id, _, rest = client.partition(":")
        secret, _, scopes = rest.partition(":")
        if not client_id or not secret:
            raise ValueError(f"--client number {number}: write ID:SECRET[:SCOPE,...]")
        read.append(Client(client_id, secret, tuple(scopes.split(",")) if scopes else None))
    return OAuth2Settings(clients=tuple(read), token_seconds=token_seconds)


def _announce(mock: "MockCatalog", ready_file: str | None) -> None:
    write_ready(ready_line(mock.uri), ready_file)
    click.echo(ready_line(mock.uri))
