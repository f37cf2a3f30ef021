"""What is drawn for a design is counted, and what it does wrong is told."""

import httpx
import pytest

from tests.lawful import drawn
from tests.lawful.designs import Design
from tests.lawful.drawn import FAITHFUL, drawn_histories, drawn_requests
from tests.lawful.freedom import Freedom

CREATE = "createNamespace"
_REFUSALS = (400, 409)
_SERVER_ERROR = 500


def _fails(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    """Answer a server error in place of a refusal."""
    refused = request.method == "POST" and response.status_code in _REFUSALS
    return httpx.Response(_SERVER_ERROR) if refused else response


def _takes_nothing(request: httpx.Request, response: httpx.Response) -> httpx.Response:
    return httpx.Response(_SERVER_ERROR) if request.method == "POST" else response


@pytest.fixture(autouse=True)
def _broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(drawn.FREEDOMS, "fails", Freedom("none", sent=_fails))
    monkeypatch.setitem(drawn.DESIGNS, "broken", Design("It fails.", ("fails",)))
    monkeypatch.setitem(drawn.FREEDOMS, "takes-nothing", Freedom("none", sent=_takes_nothing))
    monkeypatch.setitem(drawn.DESIGNS, "useless", Design("It is out.", ("takes-nothing",)))
    monkeypatch.setitem(drawn.DESIGNS, "reading", Design("It only shows.", ("read-only",)))


def test_drawn_requests_are_counted_and_a_server_error_is_told() -> None:
    check_id = f"generated.{CREATE}.fuzzed"
    found = drawn_requests(check_id, [FAITHFUL, "broken", "reading", "useless"], 12, 0)
    assert found[FAITHFUL].blames == []
    assert found[FAITHFUL].requests[CREATE] >= 12
    assert "500" in str(found["broken"].blames)
    assert found["reading"].requests.total() == 0
    assert "blocked" in str(found["useless"].blames)


def test_steps_are_counted_where_they_are_taken_and_a_wrong_one_is_told() -> None:
    found = drawn_histories([FAITHFUL, "broken", "reading", "useless"], 1, 0)
    assert (found[FAITHFUL].steps, found[FAITHFUL].blames) == (40, [])
    assert "500" in str(found["broken"].blames)
    assert (found["reading"].steps, found["useless"].steps) == (0, 0)
    assert "blocked" in str(found["useless"].blames)
