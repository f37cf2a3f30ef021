"""Shows the progress of a run: a live line on a terminal, plain lines everywhere else."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from icecheck.findings.telling.finding_card import card_of, legible, one_line
from icecheck.findings.verdict import Level, Outcome, Verdict

if TYPE_CHECKING:
    from icecheck.client.session import Session
    from icecheck.contract import Contract
    from icecheck.judging.check import Check

_SHOWN = frozenset({Outcome.FAIL, Outcome.BLOCKED, Outcome.ERROR})


def progress_for(
    stream: TextIO, contract: "Contract", *, quiet: bool, verbose: bool
) -> "LiveProgress | PlainProgress":
    """Return the progress for a stream: a context manager with the callbacks of a run."""
    if stream.isatty() and not quiet:
        return LiveProgress(stream, contract, verbose=verbose)
    return PlainProgress(stream, contract, quiet=quiet, verbose=verbose)


class PlainProgress:
    """One line per check that did not pass; with ``verbose`` every check, and cards."""

    def __init__(
        self, stream: TextIO, contract: "Contract", *, quiet: bool = False, verbose: bool = False
    ) -> None:
        self._stream = stream
        self._contract = contract
        self._quiet = quiet
        self._verbose = verbose

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.flush()

    def started(self, checks: Sequence["Check"], session: "Session") -> None:
        """Print what is about to be verified, and where the run keeps its objects."""
        if not self._quiet:
            self._say(_opening(checks, session))

    def judging(self, check: "Check") -> None:
        """Print nothing: a line per start would double the output."""

    def judged(self, verdict: Verdict) -> None:
        """Print a check that did not pass."""
        if not self._quiet and (self._verbose or verdict.outcome in _SHOWN):
            self._say(_line(verdict, self._contract, verbose=self._verbose))

    def _say(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


class LiveProgress:
    """A bar with the current check; checks that do not pass are printed above it."""

    def __init__(self, stream: TextIO, contract: "Contract", *, verbose: bool = False) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._contract = contract
        self._verbose = verbose
        self._wrong = 0
        self._console = Console(file=stream, highlight=False, markup=False, soft_wrap=True)
        self._progress = Progress(
            TextColumn("{task.fields[wrong]}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            transient=True,
        )
        self._task: Any = None
        self._live: AbstractContextManager[Any] = self._progress

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def started(self, checks: Sequence["Check"], session: "Session") -> None:
        """Show the bar."""
        self._console.print(_opening(checks, session))
        self._task = self._progress.add_task("", total=len(checks), wrong="no findings")

    def judging(self, check: "Check") -> None:
        """Show the current check."""
        self._progress.update(self._task, description=check.id)

    def judged(self, verdict: Verdict) -> None:
        """Advance the bar, and print a check that did not pass."""
        from rich.text import Text

        if verdict.outcome in _SHOWN:
            self._wrong += 1
        if self._verbose or verdict.outcome in _SHOWN:
            line = _line(verdict, self._contract, verbose=self._verbose)
            self._console.print(Text(line, style=_style(verdict)))
        words = f"{self._wrong} findings" if self._wrong else "no findings"
        self._progress.update(self._task, advance=1, wrong=words)


def _opening(checks: Sequence["Check"], session: "Session") -> str:
    where = session.target.base_url
    return legible(
        f"icecheck run {session.run_id}: {len(checks)} checks against {where}; {_made(session)}"
    )


def _made(session: "Session") -> str:
    if session.target.read_only:
        return "nothing is created"
    base = ".".join(session.isolation.base)
    kept = f"under {base}" if base else f"in top-level namespaces named {session.owner}_…"
    removed = "and removed again"
    removed += " if the catalog deletes" * session.target.accept_residue
    return f"everything made is {kept} {removed}"


def _line(verdict: Verdict, contract: "Contract", *, verbose: bool) -> str:
    if verbose and verdict.outcome in _SHOWN:
        return card_of(verdict, contract)
    words = f": {one_line(verdict.summary)}" if verdict.summary else ""
    head = f"{verdict.outcome.upper():<7} {verdict.level:<7} {verdict.check}"
    return f"{legible(head)}{words}"


def _style(verdict: Verdict) -> str:
    if verdict.outcome not in _SHOWN:
        return ""
    return "red" if verdict.level is Level.MUST else "yellow"
