"""All requests that schemathesis derives from the contract meet with a correct answer."""

from collections import Counter

import pytest
import schemathesis

from icecheck.mock_server.operations.served import default_registries
from tests.interop.corpus.acceptances import ACCEPTED
from tests.interop.corpus.case import NEGATIVE, POSITIVE
from tests.interop.corpus.disagreements import classes
from tests.interop.corpus.refusals import REFUSED
from tests.interop.corpus.running import run_of
from tests.kit.contracts import CONTRACT
from tests.laws.golden import FOLDER, VARIABLE, expect_golden, updating

SERVED = [id_ for id_ in CONTRACT.operations if id_ in default_registries().operations]
GOLDEN = f"corpus-{schemathesis.__version__}.txt"
PROBLEMS_SHOWN_MAX = 10


@pytest.mark.parametrize("operation_id", SERVED)
def test_every_request_is_answered_as_the_contract_says(operation_id: str) -> None:
    problems = run_of(operation_id).problems
    shown = "\n".join(problems[:PROBLEMS_SHOWN_MAX])
    assert not problems, f"{len(problems)} of {run_of(operation_id).cases} requests:\n{shown}"


@pytest.mark.parametrize("operation_id", SERVED)
def test_what_the_contract_allows_can_be_served(operation_id: str) -> None:
    assert run_of(operation_id).served > 0


def test_the_corpus_is_as_large_as_it_was_and_so_is_each_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs = [run_of(operation_id) for operation_id in SERVED]
    total: Counter[str] = sum((run.modes for run in runs), Counter())
    with capsys.disabled():
        print(f"\nschemathesis {schemathesis.__version__}: {dict(sorted(total.items()))}")
    assert total[NEGATIVE] >= 4000
    assert total[POSITIVE] >= 900
    lines = [f"total {mode} {count}" for mode, count in sorted(total.items())]
    lines += [line for run in runs for line in run.lines]
    known = (FOLDER / GOLDEN).exists() or updating()
    assert known, f"no counts for schemathesis {schemathesis.__version__}: set {VARIABLE}=1"
    expect_golden(GOLDEN, lines)
    # Here, because another process would have to send all requests again.
    expect_a_reason_a_rule_and_a_case_for_every_class()


def expect_a_reason_a_rule_and_a_case_for_every_class() -> None:
    ids = Counter(each.id for each in classes())
    assert max(ids.values()) == 1
    for each in classes():
        assert each.because
        assert each.rule in (ACCEPTED if each.takes else REFUSED)
        assert bool(each.pointers) == each.takes
        for operation_id in each.operations:
            run = run_of(operation_id)
            assert run.classes[each.id] > 0, (each.id, operation_id)
            assert {(each.id, pointer) for pointer in each.pointers} <= run.pointers
    used = {each.rule for each in classes()}
    assert used == {*ACCEPTED, *REFUSED}
