"""Reads and writes replay files: what a drawn history has found, to be run again."""

from collections.abc import Iterable
from pathlib import Path

from icecheck.findings.replay import Replay, Replays, ReplayUnusable, read_replay, replay_text
from icecheck.findings.verdict import Outcome, Run
from icecheck.targets.target import UsageError

DIRECTORY = "replays"
"""The directory of a report that holds its replay files, one for each check."""


def replay_of(path: Path) -> Replay:
    """Return the history in a file; raise UsageError, naming the file, if it cannot be used."""
    from icecheck.run.replays.understanding import understood

    try:
        return understood(read_replay(path.read_text("utf-8")))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: it is no text") from None
    except ReplayUnusable as error:
        raise UsageError(f"{path}: {error}") from None


def regressions_in(directory: Path | None, report: Path | None) -> Replays:
    """Return the histories of all ``.json`` files in a directory, by name; none without one.

    Raises UsageError if there are none, if one cannot be used, or if they are those of the report
    that the run is about to replace.
    """
    if directory is None:
        return Replays()
    if report is not None:
        expect_kept_elsewhere(directory, report)
    found = sorted(directory.glob("*.json"))
    if not found:
        raise UsageError(f"{directory} has no replay files (*.json)")
    return Replays.of(*map(replay_of, found))


def expect_checks_of(replays: Replays, checks: Iterable[str]) -> None:
    """Raise UsageError if histories are to be run again whose checks are not among these."""
    if left_out := sorted({*replays.by_check} - {*checks}):
        told = f"there are histories of {', '.join(left_out)} to be run again"
        raise UsageError(f"{told}, which is not among the selected checks")


def expect_kept_elsewhere(directory: Path, report: Path) -> None:
    """Raise UsageError if a directory of replay files is that of a report to be written."""
    if directory.resolve() == (report / DIRECTORY).resolve():
        raise UsageError(f"a run replaces the files in {directory}: keep copies of them elsewhere")


def is_of_a_run(path: Path) -> bool:
    """Return whether a file is a replay file under the name that a run gives it."""
    try:
        replay = read_replay(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ReplayUnusable):
        return False
    return path.name == f"{replay.check}.json"


def replays_of(run: Run) -> dict[str, str]:
    """Return the replay files of a run: name -> text."""
    spec = str(run.facts["spec"]["id"]).rpartition("/")[2]
    return {
        f"{verdict.check}.json": replay_text(verdict.check, spec, finding)
        for verdict in run.verdicts
        if verdict.outcome is Outcome.FAIL
        for finding in verdict.findings[:1]
        if finding.steps
    }
