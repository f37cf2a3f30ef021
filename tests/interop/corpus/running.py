"""Sends the corpus of one operation and sorts what came of it."""

import shlex
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from icecheck.mock_server.core.context import Reply
from tests.interop.corpus.case import METHODS, CorpusCase
from tests.interop.corpus.disagreements import explained, matching
from tests.interop.corpus.generated import corpus_of
from tests.interop.corpus.judging import flaws_of, json_of, wrong_with
from tests.interop.corpus.stocked_server import StockedFacts, StockedServer, new_stocked_server


@dataclass(slots=True)
class OperationRun:
    """What the corpus of one operation showed; ``problems`` are empty for a server in order."""

    operation_id: str
    cases: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    served: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    pointers: set[tuple[str, str]] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """The counts, as they are written in the golden file."""
        counts = {**self.modes, "served": self.served}
        counts |= {f"class {id_}": count for id_, count in self.classes.items()}
        return sorted(f"{self.operation_id} | {what} {count}" for what, count in counts.items())


@cache
def run_of(operation_id: str) -> OperationRun:
    """Send every case of an operation to a server as it should be; once a process."""
    with tempfile.TemporaryDirectory() as root:
        return run_against(new_stocked_server(Path(root)), operation_id)


def run_against(stocked: StockedServer, operation_id: str) -> OperationRun:
    """Send every case of an operation, each to the state that the first one met."""
    run = OperationRun(operation_id)
    facts = replace(stocked.facts, about_view=operation_id == "replaceView")
    for case in corpus_of(operation_id, facts):
        reply = stocked.answer(case)
        run.cases += 1
        run.modes[case.mode] += 1
        for wrong in wrong_with(case, reply):
            run.problems.append(_told(case, reply, wrong))
        if case.mode != METHODS:
            _compare(run, case, reply, facts)
    return run


def _compare(run: OperationRun, case: CorpusCase, reply: Reply, facts: StockedFacts) -> None:
    """Compare what the contract says of a request with what the server made of it."""
    flaws = flaws_of(case)
    accepted = reply.status < 400
    if flaws and accepted:
        for flaw, class_id in explained(case):
            run.classes[class_id] += 1
            run.pointers.add((class_id, flaw.pointer))
            if not class_id:
                run.problems.append(_told(case, reply, f"taken although invalid: {flaw}"))
    elif not flaws:
        run.served += accepted
        _compare_valid(run, case, reply, facts)


def _compare_valid(run: OperationRun, case: CorpusCase, reply: Reply, facts: StockedFacts) -> None:
    refusing = [
        each.id
        for each in matching(case.operation_id)
        if case.body is not None and each.refuses(json_of(case), facts)
    ]
    if reply.status == 400:
        run.classes[refusing[0] if refusing else ""] += 1
        if not refusing:
            run.problems.append(_told(case, reply, "refused although valid"))
    elif reply.status < 400 and refusing:
        run.problems.append(_told(case, reply, f"taken, but {refusing} would be refused"))


def _told(case: CorpusCase, reply: Reply, wrong: str) -> str:
    """A problem with the line that shows it again, on a server with the same objects."""
    parts = ["curl", "-i", "-X", case.method]
    for name, value in case.headers.items():
        parts += ["-H", f"{name}: {value}"]
    if case.body is not None:
        parts += ["--data-binary", case.body.decode(errors="backslashreplace")]
    line = shlex.join([*parts, f"http://localhost:8181{case.target}"])
    return f"{wrong} ({case.description}): {reply.status} {reply.body[:300]!r}\n  {line}"
