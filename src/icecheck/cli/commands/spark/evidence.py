"""``icecheck evidence``: many runs as Iceberg tables, taken in and asked by Spark."""

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.ending import ExitOnError
from icecheck.cli.extras import require_spark
from icecheck.cli.option_groups import adding
from icecheck.cli.target_options import named_sources, target_facts, target_options
from icecheck.cli.written import format_option, judged_by_option, output_option, put

if TYPE_CHECKING:
    from icecheck.reports.evidence.store import Store
    from icecheck.targets.target import Target

_ROOT = "icecheck-evidence"
_WAREHOUSE = "evidence"


def _prefix(_context: click.Context, _option: click.Parameter, prefix: str) -> str:
    """Return a beginning of names that every catalog and every statement takes."""
    if re.fullmatch(r"[A-Za-z0-9_]+", prefix) is None:
        raise click.BadParameter(f"{prefix!r}: use letters, digits and _ alone")
    return prefix


_common = adding(
    (
        click.option(
            "--root",
            metavar="DIR",
            help=f"Where the tables are; the bundled mock is their catalog.  [default: {_ROOT}]",
        ),
        click.option(
            "--tables-prefix",
            "tables_prefix",
            metavar="NAME",
            default="icecheck",
            show_default=True,
            callback=_prefix,
            help="How the three namespaces of the tables begin, as in NAME_silver.",
        ),
        click.option(
            "--master",
            metavar="URL",
            default="local[2]",
            show_default=True,
            help="Spark's master: local[N], or spark://HOST:PORT.",
        ),
    )
)


@click.group("evidence", short_help="Keep the runs of many catalogs as Iceberg tables.")
def command() -> None:
    """Keep reports and exchanges of many runs in Iceberg tables, through a catalog, with Spark.

    The tables lie below --root, with the bundled mock as their catalog, or in the REST catalog that
    --catalog-url names. Environment and icecheck.toml are not read: they describe the catalog that
    is verified, and not the one that keeps the evidence.
    """


@command.command("ingest", short_help="Take reports in.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--upkeep/--no-upkeep", default=True, help="Compact tables that need it afterwards.")
@click.option("--quiet", is_flag=True, help="Do not tell each step.")
@_common
@target_options("evidence")
def ingest(paths: tuple[str, ...], upkeep: bool, quiet: bool, **options: Any) -> int:
    """Take in what is new below each PATH: a file, a directory, a glob, or an s3:// URI.

    Of a directory, each run.json (run-*.json) and *.jsonl.zst in it and below is taken. What was
    taken in before is passed over, also under another name. What cannot be taken in goes to the
    quarantine, with the reason; the exit code is 1 then.
    """

    def tell(words: str) -> None:
        if not quiet:
            click.echo(words, err=True)

    require_spark()
    from icecheck.reports.evidence.files import find

    files = find(paths)  # what is not there is told before Spark starts
    with _evidence(options) as store:
        from icecheck.reports.evidence import gold
        from icecheck.reports.evidence.arrivals import QUARANTINED
        from icecheck.reports.evidence.ingestion import ingest as take_in
        from icecheck.reports.evidence.upkeep import keep_up

        done = take_in(store, files, datetime.now(UTC), tell)
        changed = gold.build(store, tell)
        if upkeep and (changed or done.others):
            keep_up(store, tell)
    aside = [each for each in done.others if each.state == QUARANTINED]
    copies = len(done.others) - len(aside)
    click.echo(
        f"{len(done.reports)} runs and {done.lines} exchanges taken in, {done.known} files known "
        f"before, {copies} duplicates, {len(aside)} files and {done.bad_lines} lines in quarantine"
    )
    return 1 if aside or done.bad_lines else 0


@command.command("status", short_help="Say what the evidence holds.")
@_common
@target_options("evidence")
def status(**options: Any) -> int:
    """Print how many rows each table has, and the runs of each catalog, as one JSON object."""
    with _evidence(options, only_asked=True) as store:
        from icecheck.reports.evidence import told

        found = told.status(store)
    click.echo(json.dumps(found, indent=1))
    return 0


@command.command("quarantine", short_help="Say what was not taken in, and why.")
@_common
@target_options("evidence")
def quarantine(**options: Any) -> int:
    """Print each file and line that was not taken in, with the reason, one JSON object a line.

    Line 0 stands for a whole file. Duplicates are there too: they add nothing, and nothing is wrong
    with them.
    """
    with _evidence(options, only_asked=True) as store:
        from icecheck.reports.evidence import told

        found = told.put_aside(store)
    for row in found:
        click.echo(json.dumps(row))
    return 0


@command.group("report", short_help="Put catalogs side by side, or show one over time.")
def report() -> None:
    """Make the reports about several runs from the evidence, as `icecheck report` does."""


@report.command("matrix", short_help="Put the last runs of the catalogs side by side.")
@click.option(
    "--catalog", "chosen", multiple=True, metavar="NAME", help="Only this catalog; repeatable."
)
@format_option
@output_option
@_common
@target_options("evidence")
def matrix(chosen: tuple[str, ...], form: str, output: Path | None, **options: Any) -> int:
    """Put the last run of each catalog side by side, as `icecheck report matrix` does."""
    from icecheck.reports.many import matrix as matrices
    from icecheck.reports.many.stored import told_apart

    with _evidence(options, only_asked=True) as store:
        from icecheck.reports.evidence import told

        runs = told.last_runs(store, chosen)
        _expect_known(chosen, told.catalogs(store))
    runs = told_apart(runs)
    table = matrices.matrix(runs, matrices.register_of(runs))
    put(matrices.RENDERINGS[form](table), output)
    return 0


@report.command("trend", short_help="Show how the runs of one catalog changed over time.")
@click.option("--catalog", metavar="NAME", required=True, help="The catalog.")
@judged_by_option
@format_option
@output_option
@_common
@target_options("evidence")
def trend(catalog: str, spec: str | None, form: str, output: Path | None, **options: Any) -> int:
    """Show how the runs of a catalog changed over time, as `icecheck report trend` does."""
    from icecheck.reports.many import trend as trends

    with _evidence(options, only_asked=True) as store:
        from icecheck.reports.evidence import told

        known = told.catalogs(store)
        _expect_known([catalog], known)
        table = trends.trend(told.documents(store, catalog), spec or known[catalog])
    put(trends.RENDERINGS[form](table), output)
    return 0


@contextlib.contextmanager
def _evidence(options: dict[str, Any], *, only_asked: bool = False) -> "Iterator[Store]":
    """Yield the evidence that the options name; it is not made if it is ``only_asked``."""
    require_spark()
    with ExitOnError(), contextlib.ExitStack() as closing:
        from icecheck.reports.evidence.opening import nothing_taken_in, opened
        from icecheck.spark import find_installation
        from icecheck.spark.launcher import require_rows_for_python
        from icecheck.spark.working import expect_master
        from icecheck.targets.target import UsageError

        # What cannot work is told before the root is made.
        expect_master(options["master"])
        require_rows_for_python(find_installation())
        target = _target(options)
        root: Path | None = None
        if target is None:
            root = Path(options["root"] or _ROOT).absolute()
            if only_asked and not root.is_dir():
                raise UsageError(nothing_taken_in(str(root)))
            target = closing.enter_context(_bundled(root))
        elif options["root"] is not None:
            raise click.UsageError("--root is for the bundled catalog: leave it or the URL out")
        yield closing.enter_context(
            opened(
                target,
                prefix=options["tables_prefix"],
                master=options["master"],
                local_root=root,
                only_asked=only_asked,
            )
        )


@contextlib.contextmanager
def _bundled(root: Path) -> "Iterator[Target]":
    """Serve the mock over a directory for the length of the block."""
    from icecheck.mock_server import MockCatalog
    from icecheck.targets.target import Target, UsageError

    try:
        mock = MockCatalog(root=root, keep=True).start()
    except OSError as error:
        raise UsageError(
            f"--root {root} cannot be used ({error.strerror or error}): name a directory that can "
            "be written"
        ) from None
    except ValueError as error:
        raise UsageError(f"--root {root}: {error}") from None
    try:
        yield Target(mock.uri, warehouse=_WAREHOUSE)
    finally:
        mock.stop()


def _target(options: dict[str, Any]) -> "Target | None":
    """Return the catalog that the options name; None for the bundled one."""
    from icecheck.targets import sources
    from icecheck.targets.target import Target, UsageError

    facts = target_facts(options)
    if options["catalog_url"]:
        facts["url"] = options["catalog_url"]
    found = sources.merged(facts, *named_sources(options))
    if "url" in found:
        return Target(**found)
    if given := [name for name, value in facts.items() if value is not None]:
        raise UsageError(f"{given[0]} says something of a catalog: name it with --catalog-url")
    return None


def _expect_known(names: Sequence[str], known: Collection[str]) -> None:
    from icecheck.targets.target import UsageError

    if not known:
        raise UsageError("there are no runs yet: take some in with `icecheck evidence ingest`")
    if missing := [name for name in names if name not in known]:
        raise UsageError(f"there is no run of {missing[0]}: there are {', '.join(known)}")
