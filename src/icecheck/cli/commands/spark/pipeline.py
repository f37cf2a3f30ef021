"""``icecheck pipeline``: a retail pipeline of Spark through a catalog, each stage compared."""

import contextlib
import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_spark
from icecheck.cli.target_options import (
    expect_one_catalog,
    expect_what_mock_lacks,
    target_facts,
    target_of,
    target_options,
)

if TYPE_CHECKING:
    from icecheck.client.catalog import Catalog
    from icecheck.client.session import Session
    from icecheck.spark_tests.pipeline.scale import Scale
    from icecheck.spark_tests.pipeline.state import State
    from icecheck.targets.target import Target

_MOCK, _WAREHOUSE = "mock", "icecheck"
_DIFFERS, _NOTHING_VERIFIED, _RESIDUE = 1, 5, 6
_SEED_MAX = 2**31 - 1


def _rows(_context: click.Context, _option: click.Parameter, scale: float) -> int:
    """Return the number of events of a scale."""
    from icecheck.spark_tests.pipeline.scale import ROWS_MIN, ROWS_OF_SCALE_1

    if not math.isfinite(scale) or scale * ROWS_OF_SCALE_1 < ROWS_MIN:
        least = ROWS_MIN / ROWS_OF_SCALE_1
        raise click.BadParameter(f"{scale:g} is no scale: give a number from {least:g} on")
    return round(scale * ROWS_OF_SCALE_1)


@click.command("pipeline", short_help="Run a retail pipeline of Spark, each stage compared.")
@target_options("pipeline")
@click.option("--mock", is_flag=True, help="Use the bundled mock catalog.")
@click.option(
    "--scale",
    "rows",
    type=float,
    default=0.1,
    show_default=True,
    callback=_rows,
    metavar="N",
    help="N million events arrive.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, _SEED_MAX),
    default=0,
    show_default=True,
    metavar="N",
    help="Drives what the events say.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep files and progress here: a run that was ended goes on.  [default: a new one]",
)
@click.option("--keep", is_flag=True, help="Leave the tables on the catalog at the end.")
@click.option(
    "--master",
    metavar="URL",
    default="local[2]",
    show_default=True,
    help="Spark's master: local[N], or spark://HOST:PORT.",
)
def command(rows: int, seed: int, state: Path | None, keep: bool, **options: Any) -> int:
    """Let events of a shop flow through bronze, silver and gold on the catalog at URL.

    A stream appends them while a column is added; merges keep the newest order and the history of
    customers; a bad batch is refused on a branch; files are compacted and snapshots expire. After
    each stage the tables are compared with what pandas computes of the same events. Exit codes: 0
    all equal, 1 a stage differs or fails, 2 misuse, 3 suite error, 4 target unusable, 5 not
    offered, 6 objects left behind, 130 interrupted.
    """
    expect_one_catalog(options)
    if keep and state is None:
        raise click.UsageError("--keep needs --state DIR, where the record of what is kept lies")
    require_spark()
    with ExitOnError() as last_resort, contextlib.ExitStack() as closing:
        from icecheck.cli.interrupts import one_interrupt
        from icecheck.client.catalog import Catalog
        from icecheck.spark.working import expect_master
        from icecheck.spark_tests.pipeline.running import CHECK_ID
        from icecheck.spark_tests.pipeline.scale import Scale
        from icecheck.wire.redaction import Redactor

        expect_master(options["master"])
        closing.enter_context(one_interrupt())
        scale = Scale(rows, seed)
        kept, target = _opened(options, state, scale, closing)
        redactor = last_resort.redactor = Redactor(target.secrets, target.headers)
        stays = ", and the tables stay" if keep else ""
        click.echo(f"{rows} events of seed {seed}{f' in {state}' if state else ''}{stays}")
        session = _session(target, kept, redactor)
        catalog = Catalog(session, CHECK_ID)
        done = _Ending(catalog, kept, keeps=keep, goes_on=state is not None)
        try:
            return _compared(done, kept, scale, options["master"])
        finally:
            done.remove()


def _opened(
    options: dict[str, Any], named: Path | None, scale: "Scale", closing: contextlib.ExitStack
) -> "tuple[State, Target]":
    """Return the state and the catalog that the options name; ``closing`` ends both."""
    from icecheck.spark_tests.pipeline.state import State
    from icecheck.targets.target import new_run_id

    target: Target | None = None
    if not options["mock"]:
        target = target_of(options, or_else=" or --mock")
    else:
        expect_what_mock_lacks(options)
    directory = named.absolute() if named is not None else _temporary(closing)
    run = {
        "scale": scale.rows / 1_000_000,
        "seed": scale.seed,
        "catalog": _MOCK if target is None else target.base_url,
        "warehouse": _WAREHOUSE if target is None else target.warehouse,
        "prefix": None if target is None else target.prefix,
        "namespace": None if target is None else [*(target.namespace or ())],
    }
    state = State.opened(directory, run, new_run_id())
    closing.callback(state.close)
    if target is None:
        target = closing.enter_context(_bundled(directory / _MOCK, options))
    # Top-level names are the same when the run is gone on with, and are not refused then.
    return state, target if target.namespace else replace(target, isolation="flat")


def _temporary(closing: contextlib.ExitStack) -> Path:
    directory = tempfile.TemporaryDirectory(prefix="icecheck-pipeline-", ignore_cleanup_errors=True)
    return Path(closing.enter_context(directory))


@contextlib.contextmanager
def _bundled(root: Path, options: dict[str, Any]) -> "Iterator[Target]":
    """Serve the mock over a directory for the length of the block."""
    from icecheck.mock_server import MockCatalog
    from icecheck.targets.target import Target, UsageError

    try:
        mock = MockCatalog(root=root, keep=True).start()
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from None
    try:
        yield Target(**target_facts(options) | {"url": mock.uri, "warehouse": _WAREHOUSE})
    finally:
        mock.stop()


def _session(target: "Target", state: "State", redactor: Any) -> "Session":
    """Ask the catalog for its config and find Spark; nothing is made yet."""
    from icecheck import spark
    from icecheck.client.opening import open_session
    from icecheck.ownership.ledger_file import LEDGER_FILE
    from icecheck.spark.launcher import require_rows_for_python

    session = open_session(
        target, run_id=state.run_id, ledger=state.directory / LEDGER_FILE, redactor=redactor
    )
    with contextlib.ExitStack() as undo:
        undo.callback(session.close)
        require_rows_for_python(spark.find_installation())
        undo.pop_all()
    return session


def _compared(done: "_Ending", state: "State", scale: "Scale", master: str) -> int:
    """Run the stages and print a line for each; return the exit code."""
    from icecheck.spark.working import working_spark
    from icecheck.spark_tests.pipeline.running import Place, purge, run_course

    words = "start the command again with the same --state to go on"
    with working_spark(master, "icecheck pipeline", words) as workbench:
        spark_session, catalog_name = workbench.session(done.catalog)
        place = Place(done.catalog, catalog_name)
        code = _stages_told(run_course(spark_session, place, state, scale), scale)
        done.has_ended = True
        if not done.keeps:
            purge(spark_session, place)
    return code


def _stages_told(stages: Any, scale: "Scale") -> int:
    from icecheck.replies.expect import NotOffered, Violation
    from icecheck.wire.connection import TargetUnusable
    from icecheck.wire.unreachable import Unreachable

    began, ended = time.monotonic(), 0
    try:
        for stage in stages:
            ended += 1
            differs = f"differs: {stage.difference}" if stage.difference else "equal"
            click.echo(f"{stage.name:<18} {stage.rows:>9} rows {stage.seconds:>7.1f} s  {differs}")
            if stage.difference:
                return _DIFFERS
    except Violation as violation:
        click.echo(f"fails: {'; '.join(f.actual for f in violation.findings)}")
        return _DIFFERS
    except NotOffered as lacking:
        click.echo(f"not offered: {lacking}")
        return _NOTHING_VERIFIED
    except Unreachable as trouble:
        raise TargetUnusable(str(trouble)) from None
    seconds = time.monotonic() - began
    click.echo(f"all equal: {ended} stages, {scale.rows} events, {seconds:.1f} s")
    return 0


@dataclass(slots=True)
class _Ending:
    """How a run ends: whether it has ended, and whether what it has made stays.

    What a run that ``goes_on`` has made stays until it has ended.
    """

    catalog: "Catalog"
    state: "State"
    keeps: bool
    goes_on: bool
    has_ended: bool = False

    def remove(self) -> None:
        """Remove what the run has made, unless it is to stay; exit with 6 if something is left."""
        session, catalog = self.catalog.session, self.catalog
        begun = self.goes_on and not self.has_ended and len(catalog.ledger) > 0
        if self.keeps or begun:
            session.absorb(catalog.ledger)
        else:
            catalog.undo()
        session.close()
        if session.residue:
            self._tell_of_residue()
            if self.has_ended and not self.keeps:
                raise SystemExit(_RESIDUE)
        elif self.has_ended:
            self.state.forget()

    def _tell_of_residue(self) -> None:
        from icecheck.ownership.ledger_file import LEDGER_FILE, clean_command

        session = self.catalog.session
        advice = clean_command(session.target.base_url, self.state.directory / LEDGER_FILE)
        again = "" if self.has_ended else "start it again with this --state to go on; "
        click.echo(f"{len(session.residue)} objects stay: {again}{advice}", err=True)
