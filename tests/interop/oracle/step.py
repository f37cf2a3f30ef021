"""One request of a sequence, the same for both sides."""

from dataclasses import dataclass

from tests.interop.oracle.answer import Json


@dataclass(frozen=True, slots=True)
class Step:
    """One request: createTable, or else updateTable, with times relative to the start."""

    creates: bool
    body: Json

    @property
    def json(self) -> Json:
        """As the list of differences holds it."""
        return {"create" if self.creates else "commit": self.body}
