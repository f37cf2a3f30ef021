"""The classes of disagreement between the server and the contract, as they were reviewed."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.interop.corpus.acceptances import ACCEPTED, flaws_to_explain
from tests.interop.corpus.case import CorpusCase
from tests.interop.corpus.judging import Flaw
from tests.interop.corpus.refusals import REFUSED
from tests.interop.corpus.stocked_server import StockedFacts

FILE = Path(__file__).parents[2] / "golden" / "disagreements.toml"


@dataclass(frozen=True, slots=True)
class DisagreementClass:
    """One reason; ``takes`` says which of the two registries has the rule."""

    id: str
    takes: bool
    rule: str
    operations: tuple[str, ...]
    pointers: tuple[str, ...]
    because: str

    def covers(self, flaw: Flaw) -> bool:
        """Whether this is a flaw that the server may look past."""
        return self.takes and flaw.pointer in self.pointers and ACCEPTED[self.rule](flaw)

    def refuses(self, body: Any, facts: StockedFacts) -> bool:
        """Whether this is a body that the server refuses although the schemas allow it."""
        return not self.takes and REFUSED[self.rule](body, facts)


@cache
def classes() -> tuple[DisagreementClass, ...]:
    """All classes, in the order in which they are tried."""
    return tuple(map(_read, tomllib.loads(FILE.read_text(encoding="utf-8"))["class"]))


def _read(row: dict[str, Any]) -> DisagreementClass:
    takes = "takes" in row
    return DisagreementClass(
        id=row.pop("id"),
        takes=takes,
        rule=row.pop("takes" if takes else "refuses"),
        operations=tuple(row.pop("operations")),
        pointers=tuple(row.pop("pointers", ())),
        because=row.pop("because"),
    )


def matching(operation_id: str) -> tuple[DisagreementClass, ...]:
    """The classes that an operation may have cases in."""
    return tuple(each for each in classes() if operation_id in each.operations)


def explained(case: CorpusCase) -> Iterator[tuple[Flaw, str]]:
    """Each flaw of a request that the server took, with its class or an empty text."""
    for flaw in flaws_to_explain(case):
        found = (each.id for each in matching(case.operation_id) if each.covers(flaw))
        yield flaw, next(found, "")
