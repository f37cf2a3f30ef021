"""``python -m tests.mutation.repeats TESTS``: which changes of the mock do only these tests notice?

Changes the core of the mock in small ways, one at a time, in a copy of this process. What these
tests notice is shown to the other tests of the mock, and then to the checks of the suite; each
gets the changes of functions that it calls. A change that nobody else notices is printed, with the
tests that do. A test that is never printed repeats what others prove, or proves what no change of
code can show. See docs/mutation.md.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Outcome
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.mock_server import __file__ as mock_server
from icecheck.mock_server.protocol import request_bodies
from icecheck.proof.defective import defective_session
from icecheck.proof.kill_matrix import GROUPS
from icecheck.run.collect import collect
from tests.kit.contracts import CONTRACT
from tests.mutation.mutants import Mutant, functions_below, mutants_of

MOCK = Path(mock_server).resolve().parent
NOT_CORE = {"clients", "defects", "http"}
SECONDS_MAX = 60
MOCK_TESTS = Path(__file__).parents[1] / "mock"

Key = tuple[str, str, int]
"""A function: its file, its name, its first line."""


def main() -> int:
    """Collect the tests of the mock, and count."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.repeats")
    parser.add_argument("tests", nargs="+", help="files, or tests by their pytest id")
    parser.add_argument("--beside", nargs="*", default=[str(MOCK_TESTS)], help="other tests")
    parser.add_argument("--room", default="", help="only this folder of mock_server")
    parser.add_argument("--sample", type=int, help="so many changes, drawn with a fixed seed")
    options = parser.parse_args()
    settings.register_profile("counted", database=None, derandomize=True, deadline=None)
    settings.load_profile("counted")
    asked = [str(Path(each).absolute()) for each in options.tests]
    given = ["-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-m", "not spark", "-s"]
    counting = Counting(options.tests, options.room, options.sample)
    return int(pytest.main([*given, *asked, *options.beside], [counting]))


class Counting:
    """Counts in the place of the usual loop over the tests."""

    def __init__(self, tests: Sequence[str], room: str, sample: int | None) -> None:
        self._tests = tuple(tests)
        self._room = room
        self._sample = sample

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Print the changes that only the tests in question notice."""
        checks = collect(GROUPS, CONTRACT)
        _judged(checks[:1])  # What is compiled once is compiled before the copies are made.
        functions = functions_below(MOCK)
        reach = in_a_copy(lambda: _reached(session.items, checks))
        asked = [each for each in session.items if each.nodeid.startswith(self._tests)]
        others = [each for each in session.items if each not in asked]
        drawn, noticed, alone = self._drawn(), 0, 0
        for mutant in drawn:
            found = in_a_copy(
                lambda mutant=mutant: _noticed(
                    mutant, functions.get(mutant.path, []), reach, asked, others, checks
                )
            )
            by_these, by_others = found or ([], True)
            noticed += bool(by_these)
            if by_these and not by_others:
                alone += 1
                print(f"{mutant}: {', '.join(by_these)}", flush=True)
        print(
            f"{len(drawn)} changes: these tests notice {noticed}, and nothing else {alone} of them"
        )
        return True

    def _drawn(self) -> list[Mutant]:
        paths = (MOCK / self._room).rglob("*.py")
        core = [path for path in sorted(paths) if not NOT_CORE & {*path.relative_to(MOCK).parts}]
        every = [mutant for path in core for mutant in mutants_of(path)]
        if self._sample is None or self._sample >= len(every):
            return every
        return random.Random(1).sample(every, self._sample)  # noqa: S311 - no secret


def _noticed(
    mutant: Mutant,
    functions: list[FunctionType],
    reach: Mapping[str, Sequence[Sequence[Any]]],
    asked: Iterable[pytest.Item],
    others: Iterable[pytest.Item],
    checks: Iterable[Check],
) -> tuple[list[str], bool]:
    """Return the tests in question that notice a change, and whether anybody else does."""
    changed = {_key(each.__code__) for each in mutant.put_into(functions)}
    for each in vars(request_bodies).values():
        getattr(each, "cache_clear", lambda: None)()

    def reaching(name: str) -> bool:
        return any(tuple(key) in changed for key in reach[name])

    found = [each.nodeid for each in asked if reaching(each.nodeid) and _fails(each)]
    if not found or any(_fails(each) for each in others if reaching(each.nodeid)):
        return found, True
    return found, not _judged([each for each in checks if reaching(each.id)])


def _fails(item: pytest.Item) -> bool:
    with _limited():
        return any(report.failed for report in runtestprotocol(item, log=False))
    return True


def _judged(checks: Iterable[Check]) -> bool:
    """Return whether every check passes."""
    with _limited(), defective_session() as (_, session):
        return all(judge(c, Catalog(session, c.id)).outcome is Outcome.PASS for c in checks)
    return False


def _reached(items: Iterable[pytest.Item], checks: Iterable[Check]) -> dict[str, list[Key]]:
    """Return test or check -> the functions of the mock that it calls."""
    found: dict[str, list[Key]] = {}
    for item in items:
        found[item.nodeid] = _called(lambda item=item: runtestprotocol(item, log=False))
    for check in checks:
        found[check.id] = _called(lambda check=check: _judged([check]))
    return found


def _called(run: Callable[[], object]) -> list[Key]:
    codes: set[CodeType] = set()

    def noted(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(noted)
    sys.setprofile(noted)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [_key(code) for code in codes if "mock_server" in code.co_filename]


def _key(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def in_a_copy(work: Callable[[], Any]) -> Any:
    """Return what a function gives, as JSON keeps it, that runs in a copy of this process."""
    with tempfile.NamedTemporaryFile() as file:
        if not (child := os.fork()):
            try:
                Path(file.name).write_text(json.dumps(work()), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        return json.loads(Path(file.name).read_text(encoding="utf-8") or "null")


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Leave what takes too long, or breaks the machinery itself: that is noticed too."""

    def ended(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, ended)
    signal.alarm(SECONDS_MAX)
    with contextlib.suppress(Exception):
        yield
    signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main())
