"""``icecheck serve``: the mock catalog as a process of its own."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import fail

if TYPE_CHECKING:
    from icecheck.mock_server import MockCatalog

__all__ = ["command"]

_USAGE = 2


@click.command("serve", short_help="Serve the mock catalog until it is told to stop.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8181,
    show_default=True,
    help="Port to listen on; 0 takes any free one.",
)
@click.option(
    "--warehouse",
    "warehouses",
    multiple=True,
    metavar="NAME[=URI]",
    help="Declare a warehouse, at a location if one is given; repeatable. "
    "Without any, every warehouse that is asked for exists.",
)
@click.option("--token", help="Refuse requests without this bearer token.")
@click.option("--seed", type=int, help="Make generated ids reproducible.")
@click.option("--root", metavar="DIR", help="Where tables live; default: a temporary directory.")
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
    help="Let something go wrong: commit-conflict, answer-lost, throttled, connection-dropped, "
    "server-error, server-error-applied; keys are operation, table, times, status, retry_after.",
)
@click.option("--ready-file", metavar="FILE", help="Also write the ready line to this file.")
def command(
    host: str,
    port: int,
    warehouses: tuple[str, ...],
    faults: tuple[str, ...],
    ready_file: str | None,
    **settings: Any,
) -> None:
    """Serve the mock catalog until SIGTERM or Ctrl-C.

    Once it listens it prints one line of JSON: {"event": "ready", "uri": ..., "pid": ...}.
    """
    from icecheck.mock_server import MockCatalog, WarehouseDeclaration
    from icecheck.mock_server.faults import parse_fault

    declared = []
    for warehouse in warehouses:
        name, _, location = warehouse.partition("=")
        declared.append(WarehouseDeclaration(name, location=location or None))
    try:
        mock = MockCatalog(host=host, port=port, warehouses=declared or None, **settings)
        for fault, fault_settings in map(parse_fault, faults):
            mock.faults.add(fault, **fault_settings)
        mock.serve_forever(lambda ready: _announce(ready, ready_file))
    except ValueError as error:
        fail(str(error), _USAGE)
    except OSError as error:
        fail(f"cannot serve at {host}:{port}: {error.strerror or error}", _USAGE)


def _announce(mock: "MockCatalog", ready_file: str | None) -> None:
    line = json.dumps({"event": "ready", "uri": mock.uri, "pid": os.getpid()})
    if ready_file is not None:
        path = Path(ready_file)
        # Whoever waits for the file must never read half of it.
        partial = path.with_name(f"{path.name}.partial")
        try:
            partial.write_text(f"{line}\n", encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            fail(f"--ready-file {path} cannot be written: {error.strerror}", _USAGE)
    click.echo(line)
