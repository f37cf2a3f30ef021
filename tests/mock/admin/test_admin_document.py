"""The administration's own OpenAPI document holds, for whatever is sent to its routes."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from openapi_spec_validator import validate
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance, unsupported_method

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.admin.declared import PREFIX
from icecheck.mock_server.admin.routes import routes
from icecheck.mock_server.core.journal import Journal
from icecheck.mock_server.serving.gates import RequestGate
from tests.kit.shares import in_shares, judges_everything

_SHORT_SECONDS = 0.02


NOT_SAID_BY_A_SCHEMA = {
    "addFault": "a fault that does nothing, a status below 400",
    "freezeClock": "a time before 1970",
    "advanceClock": "a clock that would be past the year 9999",
    "waitForRequests": "requests that do not come",
    "loadState": "metadata that is none",
    "seedWarehouses": "a warehouse that was not declared",
    "openWarehouse": "declared warehouses are the only ones",
}


@pytest.fixture(scope="module")
def served() -> Iterator[MockCatalog]:
    """A server on which nothing is waited for long."""
    with pytest.MonkeyPatch.context() as patch, MockCatalog(warehouses=["wh"]) as mock:
        wait = Journal.waited_for
        patch.setattr(Journal, "waited_for", lambda *given: wait(*given[:3], _SHORT_SECONDS))
        patch.setattr(RequestGate, "wait_for", hasten(RequestGate.wait_for))
        patch.setattr(RequestGate, "release", hasten(RequestGate.release))
        yield mock
        mock.faults.clear()  # strict ones that never fired would be an error


def hasten(wait: Callable[..., None]) -> Callable[..., None]:
    return lambda gate, given=None, **_: wait(gate, given, timeout=_SHORT_SECONDS)


@pytest.fixture(scope="module")
def described(served: MockCatalog) -> Any:
    return schemathesis.openapi.from_url(f"{served.uri}/_mock/openapi.json")


@in_shares
@pytest.mark.parametrize("name", [route.name for route in routes()])
def test_whatever_is_sent_is_answered_as_the_document_says(described: Any, name: str) -> None:
    excluded = [unsupported_method]
    if name in NOT_SAID_BY_A_SCHEMA:
        excluded.append(positive_data_acceptance)
    operation = described.find_operation_by_id(name)

    @given(case=operation.as_strategy() | operation.as_strategy(GenerationMode.NEGATIVE))
    @settings(
        max_examples=60 if judges_everything() else 12,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[*HealthCheck],
    )
    def answered(case: Any) -> None:
        case.call_and_validate(timeout=30, excluded_checks=excluded)

    answered()


def test_the_document_is_one_and_has_every_route(served: MockCatalog) -> None:
    document = httpx.get(f"{served.uri}/_mock/openapi.json", trust_env=False).json()
    validate(document)
    told = {(method.upper(), path) for path, each in document["paths"].items() for method in each}
    assert told == {(route.method, f"{PREFIX}{route.path}") for route in routes()}
