"""The options for known failures, and how they change the exit code of a run."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.option_groups import adding

if TYPE_CHECKING:
    from icecheck.contract import Contract
    from icecheck.findings.expectations import Selection
    from icecheck.findings.expected_failures import Expectation, ExpectationFile
    from icecheck.findings.verdict import Run
    from icecheck.run.options import RunOptions

_OPTIONS = (
    click.option(
        "--expectations",
        metavar="FILE",
        help="Take the known failures, [[expectation]], from this file instead.",
    ),
    click.option(
        "--update-expectations",
        is_flag=True,
        help="Write what fails now into the file of known failures.",
    ),
    click.option(
        "--witnessed-only",
        is_flag=True,
        help="Let the gate fail for nothing that no catalog but the mock was seen to pass.",
    ),
)


gate_options = adding(_OPTIONS)
"""Decorates a command with the options of the gate."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The user's known failures: their file, its entries, and whether it is to be updated.

    The entries name checks of the run's ``contract``.
    """

    path: Path
    text: str
    file: "ExpectationFile | None"
    update: bool
    contract: "Contract"

    @classmethod
    def read(cls, options: dict[str, Any], contract: "Contract") -> "Gate":
        """Find and read the file.

        Raises UsageError for one that cannot be used.
        """
        from icecheck.run.expectations import expectations_from
        from icecheck.targets.settings_file import DEFAULT_FILE, read_text

        named = options["expectations"] or options["config"]
        update = options["update_expectations"]
        path = Path(named or DEFAULT_FILE)
        if not path.exists() and (update or not named):
            return cls(path, "", None, update, contract)
        text = read_text(path)
        return cls(path, text, expectations_from(text, path, contract), update, contract)

    @property
    def foreseen(self) -> "tuple[Expectation, ...]":
        """The entries that hold today; a failure that they name does not end a run early."""
        from icecheck.findings.expectations import in_force

        return in_force(self.file, datetime.now(UTC).date())

    def concluded(self, run: "Run", wanted: "RunOptions") -> "Run":
        """Return the run with its exit code decided by the file, updated first if asked for."""
        from icecheck.run.expectations import gated, selection_of

        if self.file is None and not self.update:
            return run
        selection = selection_of(wanted.groups, wanted.globs, wanted.contract, wanted.target)
        judged = gated(run, self.file, selection)
        if not self.update:
            return judged
        text = self._updated(judged, selection)
        # Applied to the original run, so that a removed entry leaves no mark.
        return judged if text is None else gated(run, self._read_again(text), selection)

    def _read_again(self, text: str) -> "ExpectationFile | None":
        from icecheck.run.expectations import expectations_from

        return expectations_from(text, self.path, self.contract)

    def _updated(self, run: "Run", selection: "Selection") -> str | None:
        """Update the file and return its text; print why and return None when it cannot be."""
        from icecheck.run.expectations import known_checks
        from icecheck.run.expectations_update import refusal_of, update
        from icecheck.targets.target import UsageError

        refusal = refusal_of(run)
        try:
            if refusal is None:
                result = update(self.text, run, selection, known_checks(self.contract))
                if result.text != self.text:
                    _replace(self.path, result.text)
                click.echo(f"{self.path}: {result.words}")
                return result.text
        except UsageError as misuse:
            refusal = str(misuse)
        except OSError as error:
            refusal = str(error.strerror)
        click.echo(f"icecheck: {self.path} was not updated: {refusal}", err=True)
        return None


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(text.encode("utf-8"))
    partial.replace(path)
