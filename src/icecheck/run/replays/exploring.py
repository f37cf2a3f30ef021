"""Explores a catalog: draws histories with new seeds until the time is over, and keeps findings."""

import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from icecheck.findings.replay import ReplayUnusable, read_replay, replay_text
from icecheck.findings.verdict import Finding, Outcome, Run, Verdict, asked_of
from icecheck.run.options import RunOptions
from icecheck.run.replays.understanding import checks_of_round
from icecheck.targets.target import UsageError, new_run_id
from icecheck.targets.unwritable import write_text

Key = tuple[str, str, str]
"""What findings that count as one have in common: check, symptom, and the kind of the last step."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """A finding that was not known before: the seed that drew its history, and its file."""

    seed: int
    verdict: Verdict
    path: Path


class Corpus:
    """The findings that are known, each a replay file of a directory, which is made if need be.

    Raises UsageError for a directory that cannot be used, or that holds other files of its kind.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.known: dict[Key, Path] = {}
        try:
            directory.mkdir(parents=True, exist_ok=True)
            found = sorted(directory.glob("*.json"))
            texts = {path: path.read_text("utf-8") for path in found}
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{directory} cannot be used: {error}") from None
        for path, text in texts.items():
            try:
                replay = read_replay(text)
            except ReplayUnusable as error:
                raise UsageError(f"{path}: {error}") from None
            self.known[_key(replay.check, replay.symptom, replay.steps)] = path

    def take(self, verdict: Verdict, finding: Finding, spec: str) -> Path | None:
        """Keep a finding; return its file, or None if it is known."""
        key = _key(verdict.check, finding.symptom.slug, finding.steps)
        if key in self.known:
            return None
        names = (f"{verdict.check}-{number}.json" for number in itertools.count(1))
        path = next(path for path in map(self.directory.joinpath, names) if not path.exists())
        write_text(path, replay_text(verdict.check, spec, finding))
        self.known[key] = path
        return path


def explore(
    options: RunOptions,
    corpus: Corpus,
    seconds: float,
    run: Callable[[RunOptions], Run],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[int, Run, Sequence[Discovery]]]:
    """Run what draws, on the target of ``options``, with one seed after another for a time.

    Yields each seed, its run, and what it found that the corpus had not; at least one seed is
    taken. A run without a verdict, or one that was interrupted, is the last.
    """
    end = clock() + seconds
    seed = options.seed
    while True:
        # Under other names: what one run could not remove must not meet the next.
        checks = checks_of_round(seed)
        done = run(replace(options, seed=seed, run_id=new_run_id(), globs=checks))
        yield seed, done, tuple(_discoveries(options.spec, corpus, seed, done))
        if not done.complete or not is_judged(done) or clock() >= end:
            return
        seed += 1


def is_judged(run: Run) -> bool:
    """Return whether any history of a round has told something of the catalog."""
    return any(v.outcome in {Outcome.PASS, Outcome.FAIL} for v in asked_of(run.verdicts))


def left_open(run: Run) -> tuple[Verdict, ...]:
    """Return what a round was to judge and could not: blocked checks, and errors of the suite."""
    return tuple(v for v in asked_of(run.verdicts) if v.outcome in {Outcome.BLOCKED, Outcome.ERROR})


def _discoveries(spec: str, corpus: Corpus, seed: int, run: Run) -> Iterator[Discovery]:
    for verdict in run.verdicts:
        for finding in verdict.findings[:1]:
            if verdict.outcome is Outcome.FAIL and finding.steps:
                path = corpus.take(verdict, finding, spec)
                if path is not None:
                    yield Discovery(seed, verdict, path)


def _key(check_id: str, symptom: str, steps: str) -> Key:
    match json.loads(steps):
        case [*_, [str(last), *_]]:
            return check_id, symptom, last
    return check_id, symptom, ""
