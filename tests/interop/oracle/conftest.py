"""Both sides, started once: Iceberg's handlers in their JVM, and the mock."""

from collections.abc import Iterator

import pytest

from tests.interop.oracle.reference import Reference, running_reference
from tests.interop.oracle.subject import Subject


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with running_reference(tmp_path_factory.mktemp("reference")) as running:
        yield running


@pytest.fixture(scope="session")
def subject() -> Subject:
    return Subject()
