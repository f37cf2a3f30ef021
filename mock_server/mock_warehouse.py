"""One warehouse of a running mock catalog, as a test holds it."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from icecheck.mock_server.mock import MockCatalog

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

    from icecheck.mock_server.core.state import WarehouseState
    from icecheck.mock_server.serving.faults import FaultRule, Faults

__all__ = ["MockWarehouse", "fresh_warehouse"]


class MockWarehouse(msgspec.Struct, frozen=True):
    """A warehouse of a running mock catalog: what a test needs to connect to it."""

    mock: MockCatalog
    warehouse: str

    @property
    def uri(self) -> str:
        """The base address of the server, without `/v1`."""
        return self.mock.uri

    def pyiceberg(
        self, *, in_process: bool = False, credential: str | None = None, **properties: str
    ) -> "RestCatalog":
        """A pyiceberg catalog on this warehouse."""
        return self.mock.pyiceberg(
            self.warehouse, in_process=in_process, credential=credential, **properties
        )

    def spark_conf(self, name: str, *, credential: str | None = None) -> dict[str, str]:
        """Spark's settings for a catalog of this name on this warehouse."""
        return self.mock.spark_conf(name, self.warehouse, credential=credential)

    @property
    def faults(self) -> "Faults":
        """What goes wrong on purpose on the whole server; the fixture removes what a test adds."""
        return self.mock.faults

    def fault(self, fault: str, **settings: Any) -> AbstractContextManager["FaultRule"]:
        """Let something go wrong inside a block, as `MockCatalog.fault` does."""
        return self.mock.fault(fault, **settings)

    def reset(self) -> None:
        """Empty this warehouse."""
        self.mock.reset(self.warehouse)

    def state(self) -> "WarehouseState":
        """What the warehouse holds now."""
        return self.mock.state(self.warehouse)


def fresh_warehouse(mock: MockCatalog) -> MockWarehouse:
    """Return a warehouse that nobody has used, for one test; `mock.remove` it by name afterwards.

    Its name is new to this server and not known to others. Only for servers that open warehouses
    on demand.
    """
    if not mock.warehouses.on_demand:
        raise RuntimeError("a server with declared warehouses has no others")
    return MockWarehouse(mock, f"test-{mock.identities.next_version()}")
