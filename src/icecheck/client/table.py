"""A table as a check holds it: its names, and what the catalog last said of it."""

from dataclasses import dataclass
from typing import Any

from icecheck.targets.target import Namespace


@dataclass(frozen=True, slots=True)
class Table:
    """A table that exists, as its last answer described it."""

    namespace: Namespace
    name: str
    metadata: dict[str, Any]
    metadata_location: str | None

    @property
    def uuid(self) -> str:
        """The table's UUID."""
        return str(self.metadata["table-uuid"])

    @property
    def identifier(self) -> dict[str, Any]:
        """The table's identifier as requests name it."""
        return {"namespace": [*self.namespace], "name": self.name}
