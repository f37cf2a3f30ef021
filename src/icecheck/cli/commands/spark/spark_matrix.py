"""``icecheck spark-matrix``: run the Spark checks in each Spark, and put the results together."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_suite
from icecheck.cli.target_options import (
    expect_one_catalog,
    expect_what_mock_lacks,
    target_of,
    target_options,
)
from icecheck.cli.written import make_writable

if TYPE_CHECKING:
    from icecheck.reports.many.engines import Engine, Engines
    from icecheck.spark.versions import Combination

_RUN_FILE = "run.json"
_LOG = "output.txt"
_PAGE = "index.html"
_FILES = {"html": _PAGE, "markdown": "summary.md", "json": "spark-matrix.json"}
_BROKEN, _NOT_RUN, _NOTHING_VERIFIED, _LEFT, _INTERRUPTED = 1, 3, 5, 6, 130
_ENDINGS_OF_RUN = frozenset({0, 1, 3, 5, 6})
"""The exit codes of `icecheck run` with which its checks have all ended."""


@click.command("spark-matrix", short_help="Run the Spark checks in several versions of Spark.")
@target_options("spark-matrix")
@click.option("--mock", is_flag=True, help="Run them on the bundled mock catalog.")
@click.option(
    "--combination",
    "names",
    multiple=True,
    metavar="NAME",
    help="Run this Spark and Iceberg, such as spark-4.0-iceberg-1.11.0; repeatable; default: all.",
)
@click.option("--list", "only_list", is_flag=True, help="Print what there is, and run nothing.")
@click.option(
    "--check", "globs", multiple=True, metavar="GLOB", help="Run the checks whose id matches."
)
@click.option(
    "--environments",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where other PySparks are installed; default: in the user's cache.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("icecheck-spark-matrix"),
    show_default=True,
    metavar="DIR",
    help="Where the report is written, and beside it that of each run.",
)
def command(output: Path, **options: Any) -> int:
    """Run the Spark checks on the catalog at URL in each Spark with each Iceberg, one by one.

    A PySpark that is not here is installed by pip, once, into a directory of its own (about 600
    MB); the Iceberg runtimes come from Maven Central. The page in DIR shows side by side what works
    in which. Exit codes: 0 if every combination ran and nothing is broken, 1 if something is, 3 if
    a combination could not be run, 5 if nothing was verified in one, 6 if objects were left on the
    catalog, 2 usage, 130 interrupted.
    """
    from icecheck.spark.versions import combinations

    if options["only_list"]:
        for each in combinations():
            click.echo(f"{each.name}: PySpark {each.pyspark}, {each.coordinates}")
        return 0
    chosen = _chosen(options["names"])
    expect_one_catalog(options)
    require_suite()
    with ExitOnError(output):
        # Mistakes are told before anything is made.
        if options["mock"]:
            expect_what_mock_lacks(options)
        else:
            target_of(options, or_else=" or --mock")
        make_writable(output)
        return _run_all(chosen, output, options)


def _chosen(names: Sequence[str]) -> "tuple[Combination, ...]":
    from icecheck.spark.versions import combinations

    known = {each.name: each for each in combinations()}
    for name in names:
        if name not in known:
            raise click.UsageError(
                f"there is no combination {name!r}; there are {', '.join(known)}"
            )
    return tuple(known[name] for name in dict.fromkeys(names)) if names else (*known.values(),)


def _run_all(chosen: "Sequence[Combination]", output: Path, options: Mapping[str, Any]) -> int:
    from icecheck.cli.interrupts import one_interrupt
    from icecheck.reports.many.engines import engines_side_by_side

    engines: list[Engine] = []
    interrupted = False
    with one_interrupt() as interrupts:
        try:
            for wanted in chosen:
                engines.append(_engine(wanted, output, options))  # noqa: PERF401 - kept if interrupted
        except KeyboardInterrupt:
            interrupted = True
        interrupts.closing()
        table = engines_side_by_side(engines)
        page = _write(table, output)
    click.echo(f"report: {page}")
    return _INTERRUPTED if interrupted else _exit_code(table)


def _exit_code(table: "Engines") -> int:
    from icecheck.reports.many.engines import BROKEN

    columns = range(len(table.engines))
    if any(table.count(at, BROKEN) for at in columns):
        return _BROKEN
    if any(engine.trouble or engine.errors for engine in table.engines):
        return _NOT_RUN
    if not all(engine.judged for engine in table.engines):
        return _NOTHING_VERIFIED
    return _LEFT if any(engine.left for engine in table.engines) else 0


def _engine(wanted: "Combination", output: Path, options: Mapping[str, Any]) -> "Engine":
    """Run the checks in one combination, print a line on it, and return its column."""
    from icecheck.reports.many.engines import BROKEN, Engine, engines_side_by_side
    from icecheck.spark.unavailable import SparkUnavailable

    started = time.monotonic()
    directory = output / wanted.name
    try:
        code = _run_one(wanted, directory, options)
    except SparkUnavailable as error:
        engine = Engine(wanted.name, None, trouble=str(error))
    else:
        engine = _read(wanted.name, directory, code)
    alone = engines_side_by_side([engine])
    words = engine.trouble or (
        f"{alone.count(0, 'works')} work, {alone.count(0, BROKEN)} broken"
        + (f", {others}" if (others := alone.others(0)) else "")
    )
    words = "; ".join([words, *engine.notes])
    versions = f" ({engine.versions})" if engine.versions else ""
    click.echo(f"{wanted.name}{versions}: {words}; {time.monotonic() - started:.0f} s")
    return engine


def _run_one(wanted: "Combination", directory: Path, options: Mapping[str, Any]) -> int:
    """Run the checks in a process that has the combination's PySpark; return its exit code."""
    from icecheck.spark.environments import environment_with, environments_directory

    where = options["environments"] or environments_directory(os.environ)
    environment = environment_with(
        wanted, where.absolute(), os.environ, lambda words: click.echo(f"{wanted.name}: {words}")
    )
    directory.mkdir(parents=True, exist_ok=True)
    for old in (_RUN_FILE, _LOG):
        (directory / old).unlink(missing_ok=True)
    command = [sys.executable, "-m", "icecheck", "run", *_words(click.get_current_context())]
    command += ["--only", "spark", "--iceberg-packages", wanted.coordinates]
    command += ["--output", str(directory)]
    with (directory / _LOG).open("wb") as log:
        # A session of its own: a signal at the terminal comes to this process alone.
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()  # it removes what it made, and ends
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()
            process.kill()
            raise


def _words(context: click.Context) -> list[str]:
    """Return the words of the command line that `icecheck run` is to be given as well."""
    from icecheck.cli.shown_command import words_given

    own = frozenset({"names", "only_list", "environments", "output"})
    return [*words_given(context, lambda name: name not in own)]


def _read(name: str, directory: Path, code: int) -> "Engine":
    """Return the column of a run that has ended with this code."""
    from icecheck.cli.stored_run import stored_run
    from icecheck.reports.many.engines import Engine
    from icecheck.targets.target import UsageError

    page = f"{name}/{_PAGE}"
    try:
        document = stored_run(directory / _RUN_FILE)
    except UsageError:
        return Engine(name, None, trouble=_last_line(directory / _LOG) or f"exit {code}")
    verdict, trouble = document["verdict"], ""
    if not document["complete"] or verdict["exit_code"] not in _ENDINGS_OF_RUN:
        trouble = str(verdict["headline"])
    elif code != verdict["exit_code"]:  # it failed after its report was written
        trouble = f"exit {code}: {_last_line(directory / _LOG)}"
    return Engine(name, document, page, trouble)


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    named = [line.strip() for line in lines if line.strip()]
    return named[-1].removeprefix("icecheck: ") if named else ""


def _write(table: "Engines", output: Path) -> Path:
    from icecheck.reports.many.engines import RENDERINGS
    from icecheck.targets.unwritable import write_text

    for form, name in _FILES.items():
        write_text(output / name, RENDERINGS[form](table))
    return output / _PAGE
