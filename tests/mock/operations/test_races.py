"""Threads at once: a name, and a warehouse, come to be once; commits: test_races_of_commits.py."""

from collections.abc import Callable
from functools import partial

import httpx

from icecheck.mock_server import MockCatalog
from tests.mock.operations.together import together

THREADS = 8
ROUNDS = 25


def at_once(work: Callable[[int], object]) -> None:
    """Run `work(number)` in all threads, starting together."""
    together(*(partial(work, number) for number in range(THREADS)))


def test_a_name_is_created_once_however_many_try() -> None:
    mock = MockCatalog(root="memory://root")
    statuses: list[int] = []

    def create(_number: int) -> None:
        with httpx.Client(transport=mock.httpx_transport(), base_url="http://mock") as http:
            for number in range(ROUNDS):
                body = {"namespace": [f"n{number}"]}
                statuses.append(http.post("/v1/namespaces", json=body).status_code)

    at_once(create)
    assert statuses.count(200) == ROUNDS
    assert statuses.count(409) == ROUNDS * (THREADS - 1)


def test_a_warehouse_is_opened_once_however_many_ask() -> None:
    mock = MockCatalog(root="memory://root")
    found: list[object] = []
    at_once(lambda _number: found.append(mock.warehouses.open("new")))
    assert len(found) == THREADS
    assert len({id(warehouse) for warehouse in found}) == 1
