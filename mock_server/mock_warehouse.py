"""One warehouse of a running mock catalog, for one test."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from icecheck.mock_server.mock import MockCatalog

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from icecheck.mock_server.core.state import WarehouseState
    from icecheck.mock_server.serving.fault_rules import FaultRule
    from icecheck.mock_server.serving.faults import Faults
    from icecheck.mock_server.serving.gates import RequestGate


class MockWarehouse(msgspec.Struct, frozen=True):
    """A warehouse of a running mock catalog, with everything that a test needs to connect to it."""

    mock: MockCatalog
    warehouse: str

    @property
    def uri(self) -> str:
        """The base address of the server, without `/v1`."""
        return self.mock.uri

    def pyiceberg(
        self, *, in_process: bool = False, credential: str | None = None, **properties: str
    ) -> "RestCatalog":
        """Return a pyiceberg catalog on this warehouse."""
        return self.mock.pyiceberg(
            self.warehouse, in_process=in_process, credential=credential, **properties
        )

    def spark_conf(self, name: str, *, credential: str | None = None) -> dict[str, str]:
        """Return Spark's settings for a catalog of this name on this warehouse."""
        return self.mock.spark_conf(name, self.warehouse, credential=credential)

    @property
    def faults(self) -> "Faults":
        """The fault rules of the whole server; the fixture removes the rules that a test adds."""
        return self.mock.faults

    def fault(self, fault: str, **settings: Any) -> AbstractContextManager["FaultRule"]:
        """Add a fault rule for a block, as `MockCatalog.fault` does."""
        return self.mock.fault(fault, **settings)

    def gate(self, operation: str, **settings: Any) -> AbstractContextManager["RequestGate"]:
        """Hold requests to this warehouse for a block, as `MockCatalog.gate` does."""
        return self.mock.gate(operation, **{"warehouse": self.warehouse, **settings})

    def reset(self) -> None:
        """Empty this warehouse."""
        self.mock.reset(self.warehouse)

    def state(self) -> "WarehouseState":
        """Return the present content of the warehouse."""
        return self.mock.state(self.warehouse)


def fresh_warehouse(mock: MockCatalog) -> MockWarehouse:
    """Return a warehouse that was never used before, for one test; remove it with `mock.remove`.

    Its name is new to this server and unknown to others. Only for servers that open warehouses on
    demand.
    """
    if not mock.warehouses.on_demand:
        raise RuntimeError("a server with declared warehouses has no others")
    return MockWarehouse(mock, f"test-{mock.identities.next_version()}")
