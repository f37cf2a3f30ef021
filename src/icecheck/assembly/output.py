"""Writes what a run leaves in its output directory, each file whole or not at all."""

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from icecheck.exchange import Exchange
from icecheck.reports import html, junit, run_json, summary
from icecheck.reports.exchanges import ExchangeLog
from icecheck.target import UsageError
from icecheck.verdict import Run

__all__ = ["ERROR_FILE", "EXCHANGES_FILE", "FORMATS", "Output", "ReportInvalid", "write_report"]

FORMATS: dict[str, Callable[[Run], str]] = {
    "junit.xml": junit.render,
    "summary.md": summary.render,
    "index.html": html.render,
    "run.json": run_json.render,
}
"""File name -> what renders it; run.json is the last, so that a set that has it is complete."""

EXCHANGES_FILE = "exchanges.jsonl.zst"
ERROR_FILE = "error.txt"
_INVALID_FILE = "run.invalid.json"
_PARTIAL = ".partial"


class ReportInvalid(Exception):
    """What the suite was about to publish as run.json breaks its own schema: our bug."""


class Output:
    """The output directory of one run: exchanges are streamed into it, the rest comes at the end.

    Until ``finish`` an earlier report in the directory stays as it was. Raises UsageError when
    the directory cannot be written.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._recording = directory / f"{EXCHANGES_FILE}{_PARTIAL}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._log = ExchangeLog(self._recording)
        except OSError as error:
            raise UsageError(
                f"--output {directory} cannot be written ({error.strerror}): name another directory"
            ) from None

    def record(self, exchange: Exchange) -> None:
        """Keep one redacted exchange."""
        self._log.write(exchange)

    def finish(self, run: Run) -> Path:
        """Write the whole report and return the path of the page.

        Raises ReportInvalid after everything else was written.
        """
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

    def abandon(self) -> None:
        """Leave the directory without a report of this run."""
        self._log.close()
        self._recording.unlink(missing_ok=True)
        # A directory that was made for nothing goes; one that holds anything stays.
        with contextlib.suppress(OSError):
            self.directory.rmdir()


def write_report(run: Run, directory: Path) -> Path:
    """Render a run in every format into a directory and return the path of the page.

    Everything is rendered before anything is written. Raises ReportInvalid when run.json would
    break its published schema; it then stands beside the others as run.invalid.json.
    """
    directory.mkdir(parents=True, exist_ok=True)
    texts = {name: render(run) for name, render in FORMATS.items()}
    problems = run_json.problems_of(texts["run.json"])
    if problems:
        texts[_INVALID_FILE] = texts.pop("run.json")
    for stale in (ERROR_FILE, _INVALID_FILE, *(["run.json"] if problems else [])):
        (directory / stale).unlink(missing_ok=True)
    for name, text in texts.items():
        _write(directory / name, text)
    if problems:
        raise ReportInvalid(f"run.json breaks its schema: {'; '.join(problems[:5])}")
    return directory / "index.html"


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f"{path.name}{_PARTIAL}")
    # A catalog may have sent half a surrogate pair: it is shown, not choked on.
    partial.write_bytes(text.encode("utf-8", "backslashreplace"))
    partial.replace(path)
