"""What either side answers."""

from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """A status; the error's type and message, or the table's metadata and its file."""

    status: int
    type: str = ""
    message: str = ""
    metadata: Json | None = None
    metadata_location: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether it is no refusal."""
        return self.status == 200

    @property
    def outcome(self) -> str:
        """Status and error type as one text: `409 CommitFailedException`, `200`."""
        return f"{self.status} {self.type}".strip()
