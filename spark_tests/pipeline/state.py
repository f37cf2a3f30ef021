"""The directory in which a pipeline keeps its files and what it has done, to be gone on with."""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from icecheck.spark_tests.pipeline.course import CHECKPOINT, LANDING
from icecheck.targets.target import UsageError

_FILE = "pipeline.json"
_FORMAT = "icecheck-pipeline/1"
_LOCK = "lock"
_OTHERWISE = "go on as it was begun, or name another --state"


class State:
    """The state of one pipeline: which run it is, which steps are done, and its streaming query.

    One process at a time can have the directory; ``close`` gives it free. ``resumed`` tells whether
    the run was begun before.
    """

    def __init__(self, directory: Path, run: Mapping[str, Any], lock: int) -> None:
        self.directory = directory
        self._run = dict(run)
        self._lock = lock
        self._done: list[str] = []
        self._query = ""
        self.resumed = False

    @classmethod
    def opened(cls, directory: Path, run: Mapping[str, Any], run_id: str) -> Self:
        """Return the state in a directory, which is made.

        ``run`` is what a run consists of: its scale, seed and catalog, by the names of the options.
        ``run_id`` is that of a new run. Raises UsageError where the directory cannot be written, is
        in use, or has another run, a query that is not the run's, or other files.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(
                f"--state {directory} cannot be written ({error.strerror}): name another directory"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise UsageError(
                f"another process has --state {directory}: wait for it, or name another directory"
            ) from None
        state = cls(directory, {**run, "run-id": run_id}, lock)
        with contextlib.ExitStack() as undo:
            undo.callback(state.close)
            state._read(run)
            undo.pop_all()
        return state

    @property
    def run_id(self) -> str:
        """The id of the run, which stands in every name that it makes up."""
        return str(self._run["run-id"])

    def has(self, step: str) -> bool:
        """Return whether a step was done."""
        return step in self._done

    def add(self, step: str) -> None:
        """Remember that a step is done."""
        self._done.append(step)
        self._query = _query_in(self.directory)
        self._write()

    @property
    def has_begun(self) -> bool:
        """Whether tables have to be there: a step is done, or events were received."""
        return bool(self._done) or bool(_query_in(self.directory))

    def forget(self) -> None:
        """Remove what the run has kept in the directory, which can be used again then."""
        for each in (LANDING, CHECKPOINT):
            shutil.rmtree(self.directory / each, ignore_errors=True)
        (self.directory / _FILE).unlink(missing_ok=True)

    def close(self) -> None:
        """Let another process have the directory."""
        os.close(self._lock)

    def _read(self, run: Mapping[str, Any]) -> None:
        path = self.directory / _FILE
        others = sorted(each.name for each in self.directory.iterdir() if each.name != _LOCK)
        if not others:
            self._write()
            return
        if path.name not in others:
            (self.directory / _LOCK).unlink()
            raise UsageError(
                f"--state {self.directory} has no run of this command and holds {others[0]}: name "
                "a directory that is new or empty"
            )
        kept = _kept_in(path)
        for name, value in run.items():
            if kept["run"].get(name) != value:
                raise UsageError(
                    f"--state {self.directory} has a run with {name} {kept['run'].get(name)}, and "
                    f"not {value}: {_OTHERWISE}"
                )
        self._run, self._done, self._query = kept["run"], kept["done"], kept["query"]
        self.resumed = True
        if self._query != (found := _query_in(self.directory)) and self._query:
            what = "has the checkpoint of another query" if found else "has lost its checkpoint"
            raise UsageError(
                f"--state {self.directory} {what}, and its events would be received "
                f"{'wrongly' if found else 'twice'}: name another directory"
            )

    def _write(self) -> None:
        path = self.directory / _FILE
        text = json.dumps(
            {"format": _FORMAT, "run": self._run, "done": self._done, "query": self._query}
        )
        unfinished = path.with_suffix(".new")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)


def _kept_in(path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if kept["format"] != _FORMAT or not kept["run"]["run-id"]:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is no file of this command: name another --state") from None
    return kept


def _query_in(directory: Path) -> str:
    """Return the id of the streaming query whose checkpoint is in a directory; "" if none is."""
    try:
        return str(json.loads((directory / CHECKPOINT / "metadata").read_text())["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
