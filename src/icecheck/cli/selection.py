"""The options that choose among the checks, and end a run early."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.option_groups import adding
from icecheck.cli.stored_run import stored_run

if TYPE_CHECKING:
    from icecheck.run.options import RunOptions

SMOKE = ("getConfig.*", "*.succeeds", "*.exists-at-once")
"""The globs of a quick test: one request of each kind that has to succeed."""
_FAILED = frozenset({"fail", "blocked", "error"})

spec_option = click.option(
    "--spec",
    metavar="RELEASE",
    help="Hold the catalog to the document of another release of Iceberg, such as 1.9.0; auto: the "
    "newest of which its config shows a feature; 1.10.0,1.11.0: the newest, with the other beside.",
)
"""Decorates a command with the one option that names the version of the document."""

set_option = click.option(
    "--requirement-set",
    metavar="ID",
    help="Judge by a frozen set of requirements, such as iceberg-rest/1.10.0@0.1.0.",
)
"""Decorates a command with the option that names what the verdict is about."""

_OPTIONS = (
    click.option(
        "--check",
        "globs",
        multiple=True,
        metavar="GLOB",
        help="Run the checks whose id matches; repeatable.",
    ),
    click.option("--smoke", is_flag=True, help="Only what shows whether the wiring is right."),
    click.option(
        "--last-failed", is_flag=True, help="Only what did not pass in the report that is in DIR."
    ),
    spec_option,
    set_option,
    click.option("--fail-fast", is_flag=True, help="End the run at the first failure of a MUST."),
)


selection_options = adding(_OPTIONS)
"""Decorates a command with the options of a selection."""


def selected(options: Mapping[str, Any], report: Path) -> tuple[str, ...]:
    """Return the globs that select the checks.

    Raises UsageError when the options contradict.
    """
    from icecheck.targets.target import UsageError

    if sum(bool(options[name]) for name in ("globs", "smoke", "last_failed")) > 1:
        raise UsageError("choose in one way: by --check, --smoke or --last-failed")
    if options["smoke"]:
        return SMOKE
    if not options["last_failed"]:
        return tuple(options["globs"])
    failed = _failed_in(report)
    if not failed:
        raise UsageError(f"everything in {report} passed: there is nothing to run again")
    return failed


def with_release(wanted: "RunOptions", options: Mapping[str, Any]) -> "RunOptions":
    """Return the options of a run that holds to what `--spec` says.

    Raises UsageError for a release whose document cannot be used.
    """
    from icecheck.run.releases.choosing import chosen_release

    chosen = chosen_release(options["spec"], wanted.target, wanted.redactor)
    return replace(wanted, spec=chosen.spec, spec_reason=chosen.reason, beside=chosen.beside)


def _failed_in(report: Path) -> tuple[str, ...]:
    from icecheck.targets.target import UsageError

    try:
        checks = stored_run(report)["checks"]
    except UsageError as error:
        raise UsageError(f"--last-failed needs a report: {error}") from None
    return tuple(c["id"] for c in checks if c["outcome"] in _FAILED and not c.get("passive"))
