"""All requests that schemathesis derives from the contract meet with a correct answer."""

from collections import Counter

import pytest
import schemathesis

from icecheck.mock_server.operations.served import default_registries
from tests.interop.corpus.acceptances import ACCEPTED
from tests.interop.corpus.case import NEGATIVE, POSITIVE
from tests.interop.corpus.disagreements import classes, matching
from tests.interop.corpus.refusals import REFUSED
from tests.interop.corpus.running import run_of
from tests.kit.contracts import CONTRACT
from tests.laws.golden import FOLDER, VARIABLE, expect_part, reviewed, updating

SERVED = [
    id_ for id_ in CONTRACT.operations if id_ in default_registries(CONTRACT.version).operations
]
GOLDEN = f"corpus-{schemathesis.__version__}.txt"
PROBLEMS_SHOWN_MAX = 10


LIKE_OTHERS = {"commitTransaction": "updateTable", "replaceView": "createView"}
"""The bodies of the first are made of the same parts as those of the second, and are many."""


@pytest.mark.parametrize(
    "operation_id",
    [
        pytest.param(
            id_,
            marks=pytest.mark.complete("thousands of bodies like those of another operation")
            if id_ in LIKE_OTHERS
            else (),
        )
        for id_ in SERVED
    ],
)
def test_every_request_is_answered_as_the_contract_says(operation_id: str) -> None:
    known = (FOLDER / GOLDEN).exists() or updating()
    assert known, f"no counts for schemathesis {schemathesis.__version__}: set {VARIABLE}=1"
    run = run_of(operation_id)
    shown = "\n".join(run.problems[:PROBLEMS_SHOWN_MAX])
    assert not run.problems, f"{len(run.problems)} of {run.cases} requests:\n{shown}"
    assert run.served > 0
    for each in matching(operation_id):
        assert run.classes[each.id] > 0, each.id
        assert {(each.id, pointer) for pointer in each.pointers} <= run.pointers
    expect_part(GOLDEN, [operation_id], run.lines)


def test_the_corpus_is_large_and_of_all_operations() -> None:
    total: Counter[str] = Counter()
    for line in reviewed(GOLDEN):
        operation_id, _, counted = line.partition(" | ")
        assert operation_id in SERVED
        kind, _, count = counted.rpartition(" ")
        total[kind] += int(count)
    assert total[NEGATIVE] >= 4000
    assert total[POSITIVE] >= 900


def test_every_class_has_a_reason_and_a_rule() -> None:
    ids = Counter(each.id for each in classes())
    assert max(ids.values()) == 1
    for each in classes():
        assert each.because
        assert each.operations
        assert each.rule in (ACCEPTED if each.takes else REFUSED)
        assert bool(each.pointers) == each.takes
    used = {each.rule for each in classes()}
    assert used == {*ACCEPTED, *REFUSED}
