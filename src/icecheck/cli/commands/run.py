"""``icecheck run``: verify a catalog, write the report, and exit with the run's code."""

import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_clients, require_spark, require_suite
from icecheck.cli.gate import Gate, gate_options
from icecheck.cli.selection import selected, selection_options, with_release
from icecheck.cli.target_options import (
    expect_one_catalog,
    expect_what_mock_lacks,
    target_facts,
    target_of,
    target_options,
)
from icecheck.cli.workers import Workers
from icecheck.cli.written import report_directory_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from icecheck.findings.verdict import Run
    from icecheck.run.options import RunOptions
    from icecheck.run.output import Output
    from icecheck.run.runner import Ended
    from icecheck.targets.target import Target

_BY_DEFAULT = ("checks", "generated", "scenarios")
_IF_ASKED_FOR = ("spark", "clients")
_GROUPS = _BY_DEFAULT + _IF_ASKED_FOR
_MOCK_WAREHOUSE = "icecheck"
_OTHER_WAREHOUSE = "another"
_MOCK_EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z


@click.command("run", short_help="Verify a catalog and write a report.")
@target_options("run")
@click.option("--mock", is_flag=True, help="Start the bundled mock catalog and verify that.")
@click.option("--spark", is_flag=True, help="Run the Spark checks too.")
@click.option("--clients", is_flag=True, help="Run the checks with a real PyIceberg too.")
@click.option(
    "--only", "only", multiple=True, type=click.Choice(_GROUPS), help="Run this group; repeatable."
)
@selection_options
@click.option("--run-id", metavar="ID", help="Token in every name of the run; default: random.")
@click.option("--seed", type=int, default=0, show_default=True, help="Drives generated data.")
@click.option("--implementation", metavar="NAME", help="What the report calls the catalog.")
@report_directory_option
@click.option(
    "-n",
    "--workers",
    type=Workers(),
    default=1,
    show_default=True,
    metavar="N",
    help="Judge N checks at a time, or as many as 'auto' says.",
)
@gate_options
@click.option(
    "--regressions",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Run the histories of these replay files again too, before those that are drawn.",
)
@click.option("--iceberg-jar", metavar="FILE", help="Iceberg Spark runtime jar to use.")
@click.option(
    "--iceberg-packages", metavar="COORDINATES", help="Maven coordinates of the runtime instead."
)
@click.option("-q", "--quiet", is_flag=True, help="Only the closing lines.")
@click.option("-v", "--verbose", is_flag=True, help="Every check, and a card for each failure.")
def command(output: Path, **options: Any) -> int:
    """Verify the Iceberg REST catalog at URL (the part before /v1), or the bundled mock.

    The report in DIR is run.json, exchanges.jsonl.zst, junit.xml, summary.md and index.html, and
    replays/ if a drawn history failed: `icecheck replay` runs it again.
    """
    if options["quiet"] and options["verbose"]:
        raise click.UsageError("--quiet and --verbose contradict each other")
    expect_one_catalog(options)
    if options["smoke"]:
        if options["only"] not in {(), ("checks",)}:
            raise click.UsageError("--smoke is about checks alone: say --only checks, or nothing")
        options["only"] = ("checks",)
    groups = _groups(options)
    require_suite()
    if "spark" in groups:
        require_spark()
    if "clients" in groups:
        require_clients()
    with ExitOnError(output) as last_resort, contextlib.ExitStack() as stack:
        from icecheck.cli.shown_command import shown_command
        from icecheck.findings.verdict import Group
        from icecheck.run.releases.demands import set_to_judge_by
        from icecheck.run.replays.files import regressions_in

        target = target_for(options, stack)
        named = options_of_run(last_resort, target, output, options["seed"], options["run_id"])
        named = with_release(named, options)
        contract = named.contract
        gate = Gate.read(options, contract)
        frozen = options["requirement_set"]
        wanted = replace(
            named,
            groups=tuple(Group(g) for g in groups),
            globs=selected(options, output),
            fail_fast=options["fail_fast"],
            witnessed_only=options["witnessed_only"],
            requirement_set=set_to_judge_by(frozen, contract) if frozen else None,
            workers=options["workers"],
            foreseen=gate.foreseen,
            command=shown_command(click.get_current_context()),
            implementation=options["implementation"] or ("icecheck mock" * options["mock"]),
            spark_options=_spark_options(options),
            replays=regressions_in(options["regressions"], output),
        )
        _find_spark(wanted)
        return _run(wanted, output, options, gate)


def options_of_run(
    last_resort: ExitOnError,
    target: "Target",
    directory: Path,
    seed: int,
    run_id: str | None = None,
) -> "RunOptions":
    """Return the options of a run on this target whose ledger stands in ``directory``.

    If the program ends with an error, ``last_resort`` tells none of the target's secrets, and says
    how to remove what the run has left.
    """
    from icecheck.ownership.ledger_file import LEDGER_FILE
    from icecheck.run.options import RunOptions
    from icecheck.targets.target import new_run_id
    from icecheck.wire.redaction import Redactor

    last_resort.redactor = redactor = Redactor(target.secrets, target.headers)
    run_id = run_id or new_run_id()
    last_resort.owner = target.owner(run_id)
    return RunOptions(target, run_id, seed, ledger=directory / LEDGER_FILE, redactor=redactor)


def _run(wanted: "RunOptions", directory: Path, options: dict[str, Any], gate: Gate) -> int:
    from icecheck.cli.closing import print_conclusion
    from icecheck.cli.progress import progress_for

    progress = progress_for(
        sys.stdout, wanted.contract, quiet=options["quiet"], verbose=options["verbose"]
    )
    run, page = reported_run(wanted, directory, progress, lambda run: gate.concluded(run, wanted))
    print_conclusion(run, page)
    return run.exit_code


def reported_run(
    wanted: "RunOptions",
    directory: Path,
    progress: Any,
    concluded: "Callable[[Run], Run]" = lambda run: run,
) -> "tuple[Run, Path]":
    """Run the checks, write the report, and return the run and its page.

    ``concluded`` decides the gate before the report is written. If the target cannot be used or the
    disk is full, the error is raised once the report is there.
    """
    from icecheck.cli.interrupts import one_interrupt
    from icecheck.run.output import Output

    output = Output(directory)
    with one_interrupt() as interrupts:
        ended = recorded_run(wanted, output, progress, interrupts.closing)
        run = concluded(ended.run)
        page = output.finish(run)
    if isinstance(ended.error, Exception):
        click.echo(f"report: {page}")
        raise ended.error
    return run, page


def recorded_run(
    wanted: "RunOptions", output: "Output", progress: Any, on_closing: "Callable[[], None]"
) -> "Ended":
    """Run the checks as far as possible; where nothing can be reported, leave no report.

    After a misuse the report of an earlier run is restored, because nothing was run since.
    """
    from icecheck.run.runner import run_as_far_as_possible
    from icecheck.targets.target import UsageError

    with contextlib.ExitStack() as undo:
        undo.push(lambda kind, *_: output.abandon(as_it_was=_is_a(kind, UsageError)))
        with progress:
            ended = run_as_far_as_possible(
                wanted, progress, on_exchange=output.record, on_closing=on_closing
            )
        undo.pop_all()
    return ended


def _is_a(kind: type[BaseException] | None, wanted: type[BaseException]) -> bool:
    return kind is not None and issubclass(kind, wanted)


def _groups(options: dict[str, Any]) -> tuple[str, ...]:
    """Return the groups to run: ``--only`` names them, ``--spark`` and ``--clients`` add some."""
    wanted = {*(options["only"] or _BY_DEFAULT)} | {g for g in _IF_ASKED_FOR if options.get(g)}
    return tuple(g for g in _GROUPS if g in wanted)


def target_for(options: dict[str, Any], stack: contextlib.ExitStack) -> "Target":
    """Return the catalog that the options name; ``--mock`` starts one, which ends with the stack.

    Raises UsageError for options that contradict.
    """
    from icecheck.targets.sources import from_file
    from icecheck.targets.target import Target

    if not options["mock"]:
        return target_of(options, or_else=" or --mock")
    facts = target_facts(options)
    expect_what_mock_lacks(options)
    from_file(options["config"])  # only to report a mistake in the file: its target is not used
    return Target(**facts | _start_mock(options, stack))


def _start_mock(options: dict[str, Any], stack: contextlib.ExitStack) -> dict[str, Any]:
    """Start the mock on a free port and return the facts of a target for it.

    It is stopped with the stack. Its ids come from the seed and its clock counts requests, so that
    a run with the same run id and seed gets the same answers; real clients use the system's clock,
    so the mock does too there.
    """
    import random

    from icecheck.contract import contract_for
    from icecheck.mock_server import (
        Client,
        MockCatalog,
        OAuth2Settings,
        Permissions,
    )
    from icecheck.mock_server.core.clock import VirtualClock
    from icecheck.proof.defective import offered
    from icecheck.run.releases.choosing import named_releases
    from icecheck.targets.target import Principal

    seed = options["seed"]
    groups = _groups(options)
    with_clients = not {*groups}.isdisjoint(_IF_ASKED_FOR)
    clock = None if with_clients else VirtualClock(_MOCK_EPOCH_MS, step_ms=1)
    secret = f"icecheck-mock-{random.Random(seed).getrandbits(96):024x}"  # noqa: S311 - a mock's
    table_token = f"{secret}-of-tables"
    # The user who starts the mock here also chooses the locations of the run's tables.
    placed = options["location_root"] or ""
    # Java's client would use it for the table's own session, and Spark checks are about tables.
    table_config = {} if "spark" in groups else {"token": table_token}
    version = contract_for(named_releases(options["spec"])[0]).version
    mock = MockCatalog(
        **offered(version, table_config, plans=not with_clients),
        seed=seed,
        clock=clock,
        oauth2=OAuth2Settings(
            clients=(
                Client("icecheck", secret),
                Client("nobody", secret, permissions=Permissions.nothing()),
                Client("reader", secret, permissions=Permissions(read_only=True)),
            ),
            token_seconds=86_400,
        ),
        token=table_token,
        warehouses=[_MOCK_WAREHOUSE, _OTHER_WAREHOUSE],
        allow_locations=[placed] if placed.lower().startswith("file:") else (),
    )
    stack.enter_context(mock)
    return {
        "url": mock.uri,
        "warehouse": _MOCK_WAREHOUSE,
        "credential": f"icecheck:{secret}",
        "second": Principal(credential=f"nobody:{secret}"),
        "reader": Principal(credential=f"reader:{secret}"),
        "second_warehouse": _OTHER_WAREHOUSE,
    }


def _spark_options(options: dict[str, Any]) -> dict[str, str]:
    from icecheck.targets.target import UsageError

    given = {"jar": options["iceberg_jar"], "packages": options["iceberg_packages"]}
    if all(given.values()):
        raise UsageError("give --iceberg-jar or --iceberg-packages, not both")
    return {name: value for name, value in given.items() if value}


def _find_spark(wanted: "RunOptions") -> None:
    """Raise an error about what Spark lacks before anything is created on the catalog."""
    from icecheck.findings.verdict import Group
    from icecheck.spark import find_installation

    if Group.SPARK in wanted.groups:
        given = wanted.spark_options
        find_installation(given.get("jar"), packages=given.get("packages"))
