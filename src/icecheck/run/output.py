"""Writes the files of a run's output directory, each completely or not at all."""

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from icecheck.findings.conclusion import NO_ROOM, without_room
from icecheck.findings.verdict import Run
from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.exchanges import ExchangeLog, read_exchanges
from icecheck.run.replays.files import DIRECTORY, is_of_a_run, replays_of
from icecheck.targets.target import UsageError
from icecheck.targets.unwritable import PARTIAL, Unwritable, write_text, writing
from icecheck.wire.exchange import Exchange

FORMATS: dict[str, Callable[[Run], str]] = {
    "junit.xml": junit.render,
    "summary.md": summary.render,
    "index.html": html.render,
    "run.json": run_json.render,
}
"""File name -> renderer; run.json is written last, so that a report that has it is complete."""

RUN_FILE = "run.json"
EXCHANGES_FILE = "exchanges.jsonl.zst"
ERROR_FILE = "error.txt"
_INVALID_FILE = "run.invalid.json"
_EARLIER = ".earlier"
_OURS = (*FORMATS, EXCHANGES_FILE, ERROR_FILE, _INVALID_FILE)


class ReportInvalid(Exception):
    """The rendered run.json breaks its own schema: a bug of the suite."""


class Output:
    """The output directory of one run: exchanges are streamed into it, the rest comes at the end.

    An earlier report is renamed first, so that the directory of a run that was cut short holds no
    report of another run. ``option`` is what the user named the directory with. Raises UsageError
    when the directory cannot be written, Unwritable when the disk is full.
    """

    def __init__(self, directory: Path, option: str = "--output") -> None:
        self.directory = directory
        self._recording = directory / f"{EXCHANGES_FILE}{PARTIAL}"
        try:
            _rename_earlier_files(directory)
            self._log = ExchangeLog(self._recording)
        except OSError as error:
            raise UsageError(
                f"{option} {directory} cannot be written ({error.strerror}): name another directory"
            ) from None

    def take_parts(self) -> None:
        """Add what other processes of the run have recorded beside it, and remove their files."""
        for part in self._parts():
            for exchange in read_exchanges(part):
                self.record(exchange)
            part.unlink()

    def _parts(self) -> list[Path]:
        return sorted(self.directory.glob(f"*.{EXCHANGES_FILE}{PARTIAL}"))

    def record(self, exchange: Exchange) -> None:
        """Keep one redacted exchange; raises Unwritable, once, when the disk is full."""
        self._log.write(exchange)

    def finish(self, run: Run) -> Path:
        """Write the whole report and return the path of the page.

        Where the disk is full, the exchanges are given up to make room for the rest: raises
        Unwritable after that, which says whether there is a report. Of a run that has ended for
        want of room it says nothing more. Raises ReportInvalid after everything else was written.
        """
        if run.exit_reason == NO_ROOM:
            return self._without_exchanges(run)
        try:
            return self._with_exchanges(run)
        except Unwritable as full:
            page = self._without_exchanges(without_room(run, str(full)))
            raise Unwritable(f"{full}; {page} is the report, without the exchanges") from None

    def _without_exchanges(self, run: Run) -> Path:
        """Write the report alone; raises Unwritable if there is no room for that either."""
        with contextlib.suppress(Unwritable):
            self._log.close()
        for path in (self._recording, self.directory / EXCHANGES_FILE, *self._parts()):
            path.unlink(missing_ok=True)
        try:
            return write_report(run, self.directory)
        except Unwritable as full:
            self._leave_if_empty()
            raise Unwritable(f"{full}; there is no report of this run") from None

    def _with_exchanges(self, run: Run) -> Path:
        self._log.close()
        content = self._recording.read_bytes()
        artifact: dict[str, Any] = {
            "name": EXCHANGES_FILE,
            "sha256": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "bytes": len(content),
            "exchanges": self._log.written,
        }
        complete = replace(run, facts=run.facts | {"artifacts": {"exchanges": artifact}})
        self._recording.replace(self.directory / EXCHANGES_FILE)
        return write_report(complete, self.directory)

    def abandon(self, *, as_it_was: bool = False) -> None:
        """Leave the directory without a report of this run; with ``as_it_was`` restore it."""
        with contextlib.suppress(Unwritable):
            self._log.close()
        self._recording.unlink(missing_ok=True)
        if as_it_was:
            for name in _OURS:
                earlier = self.directory / f"{name}{_EARLIER}"
                if earlier.exists():
                    earlier.replace(self.directory / name)
        self._leave_if_empty()

    def _leave_if_empty(self) -> None:
        """Remove the directory if nothing is in it: it was made for this run."""
        with contextlib.suppress(OSError):
            self.directory.rmdir()


def part_of(directory: Path, worker: str) -> ExchangeLog:
    """Return the log of one process of a run; `Output.take_parts` adds it to the report.

    Raises OSError when it cannot be written.
    """
    return ExchangeLog(directory / f"{worker}.{EXCHANGES_FILE}{PARTIAL}")


def _rename_earlier_files(directory: Path) -> None:
    """Rename the files of an earlier run there to ``NAME.earlier``, and nothing else.

    The directory is made if there is none. The renamed files are removed with the next complete
    report.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for part in directory.glob(f"*.{EXCHANGES_FILE}{PARTIAL}"):
        part.unlink(missing_ok=True)
    for name in _OURS:
        (directory / f"{name}{PARTIAL}").unlink(missing_ok=True)
        if (directory / name).is_file():
            (directory / name).replace(directory / f"{name}{_EARLIER}")


def write_report(run: Run, directory: Path) -> Path:
    """Render a run in every format into a directory and return the path of the page.

    Everything is rendered before anything is written. Raises ReportInvalid when run.json would
    break its published schema; it is then written as run.invalid.json beside the others.
    """
    directory.mkdir(parents=True, exist_ok=True)
    texts = {name: render(run) for name, render in FORMATS.items()}
    problems = run_json.problems_of(texts["run.json"])
    if problems:
        texts[_INVALID_FILE] = texts.pop("run.json")
    for stale in (ERROR_FILE, _INVALID_FILE, *(["run.json"] if problems else [])):
        (directory / stale).unlink(missing_ok=True)
    _write_replays(run, directory / DIRECTORY)
    for name, text in texts.items():
        write_text(directory / name, text)
    for name in _OURS:
        (directory / f"{name}{_EARLIER}").unlink(missing_ok=True)
    if problems:
        raise ReportInvalid(f"run.json breaks its schema: {'; '.join(problems[:5])}")
    return directory / "index.html"


def _write_replays(run: Run, directory: Path) -> None:
    """Replace the replay files of an earlier run by those of this one; no file, no directory.

    Other files there are not the run's, and stay.
    """
    texts = replays_of(run)
    for stale in filter(is_of_a_run, directory.glob("*.json")):
        stale.unlink(missing_ok=True)
    if texts:
        with writing(directory):
            directory.mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(directory / name, text)
    if not texts:
        with contextlib.suppress(OSError):
            directory.rmdir()
