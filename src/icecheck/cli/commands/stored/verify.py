"""``icecheck verify BUNDLE``: derive every verdict of a recorded run again, without a catalog."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

import icecheck
from icecheck.cli.extras import require_suite

if TYPE_CHECKING:
    from icecheck.bundles.verification import Verification

_DIFFERS = 1
_SHOWN_MAX = 100


@click.command("verify", short_help="Derive every verdict of a bundle again, offline.")
@click.argument("bundle", metavar="BUNDLE", type=click.Path(dir_okay=False, path_type=Path))
def command(bundle: Path) -> int:
    """Verify BUNDLE, which `icecheck bundle` has made: its hashes, and each of its verdicts.

    The checks get the recorded answers again; what they are answered is also judged by a second
    judge, on openapi-core and jsonschema. Nothing is sent.

    Exit codes: 0 everything is as the bundle says, 1 something differs, and a line names each
    difference, 2 the file is no bundle.
    """
    require_suite()
    from icecheck.bundles.bundle import BundleUnusable
    from icecheck.bundles.packing import open_bundle
    from icecheck.bundles.verification import verified
    from icecheck.targets.target import UsageError

    try:
        shown = verified(open_bundle(bundle))
    except BundleUnusable as unusable:
        raise UsageError(str(unusable)) from None
    for line in _lines(shown):
        click.echo(line)
    return _DIFFERS if shown.differences else 0


def _lines(shown: "Verification") -> Iterator[str]:
    """Yield each difference in a line, then what was judged how, and the result."""
    from icecheck.findings.telling.finding_card import legible

    for difference in shown.differences[:_SHOWN_MAX]:
        yield legible(f"differs: {difference.line}")
    if (more := len(shown.differences) - _SHOWN_MAX) > 0:
        yield f"differs: and in {more} more places"
    for why, checks in shown.only_read.items():
        yield legible(
            f"judged from their exchanges only ({len(checks)}), {why}: {', '.join(checks)}"
        )
    yield (
        f"verdicts: {shown.replayed} derived again by their checks, {shown.passive} by both judges "
        f"of {shown.exchanges} exchanges; {shown.compared} bodies judged by openapi-core and by "
        f"jsonschema, {shown.disagreements} of them differently"
    )
    if shown.suite not in {"", icecheck.__version__}:
        yield legible(
            f"the run was made by icecheck {shown.suite}, and this is {icecheck.__version__}: where"
            f" they differ, verify it with icecheck {shown.suite} before you call it changed"
        )
    read = sum(map(len, shown.only_read.values()))
    if shown.differences:
        yield legible(
            f"NOT VERIFIED: run {shown.run_id}: {_many(len(shown.differences), 'difference')}"
        )
    else:
        but = f", but for the {_many(read, 'check')} named above" if read else ""
        yield f"VERIFIED: run {shown.run_id}: every verdict was derived again{but}"


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
