"""Sets of HTTP statuses: those that were due, and those that came."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from icecheck.findings.symptoms import Severity, declare

STATUS = declare(
    "status",
    "Answers {actual} where {expected} is due",
    Severity.WRONG_STATUS,
    "Spark, PyIceberg: what they make of it depends on the status",
)
"""The symptom of a status that was not due. Its severity depends on what was due and what came."""

_REFUSALS = frozenset({4, 5})
_NAMED_MAX = 4
"""The number of statuses that a title names one by one."""


@dataclass(frozen=True, slots=True)
class Statuses:
    """A set of statuses: single ones, and whole classes by their first digit."""

    single: frozenset[int] = frozenset()
    classes: frozenset[int] = frozenset()

    @classmethod
    def of(cls, *statuses: int) -> "Statuses":
        """Return the set of these statuses."""
        return cls(frozenset(statuses))

    def __or__(self, other: "Statuses") -> "Statuses":
        return Statuses(self.single | other.single, self.classes | other.classes)

    def __and__(self, other: "Statuses") -> "Statuses":
        return Statuses(self.single & other.single, self.classes & other.classes)

    def __bool__(self) -> bool:
        return bool(self.single or self.classes)

    def __len__(self) -> int:
        """Return the number of alternatives; a class counts as one."""
        return len(self.single) + (1 if self.classes == _REFUSALS else len(self.classes))

    def __str__(self) -> str:
        """Return the alternatives as a report writes them: "404 or 409", "4xx", "a refusal"."""
        if self.classes == _REFUSALS and not self.single:
            return "a refusal"
        return " or ".join(self.alternatives)

    @property
    def alternatives(self) -> list[str]:
        """The alternatives one by one, sorted: "404", or "4xx" for a class."""
        return sorted((*map(str, self.single), *(f"{first}xx" for first in self.classes)))

    @classmethod
    def from_alternatives(cls, alternatives: Collection[str]) -> "Statuses":
        """Return the set that has these alternatives."""
        classes = frozenset(int(each[0]) for each in alternatives if each.endswith("xx"))
        single = frozenset(int(each) for each in alternatives if not each.endswith("xx"))
        return cls(single, classes)

    @property
    def named(self) -> str:
        """The alternatives as a title names them: "2xx, 404, 409 or 500", or by classes if many."""
        told = self.alternatives
        if len(told) > _NAMED_MAX:
            told = sorted(f"{first}xx" for first in self._firsts)
        *others, last = told or [""]
        return f"{', '.join(others)} or {last}" if others else last

    @property
    def all_success(self) -> bool:
        """Whether every status in the set is a success."""
        return bool(self) and self._firsts <= {2}

    @property
    def all_refusal(self) -> bool:
        """Whether every status in the set is a 4xx."""
        return bool(self) and self._firsts <= {4}

    @property
    def all_server_errors(self) -> bool:
        """Whether every status in the set is a 5xx."""
        return bool(self) and self._firsts <= {5}

    @property
    def any_success(self) -> bool:
        """Whether a success is in the set."""
        return 2 in self._firsts

    @property
    def all_success_or_server_errors(self) -> bool:
        """Whether every status in the set is a success or a 5xx."""
        return bool(self) and self._firsts <= {2, 5}

    @property
    def any_refusal(self) -> bool:
        """Whether any 4xx will do, as for a malformed request: 400, or any other refusal."""
        return 4 in self.classes or min(self.single, default=0) == 400

    @property
    def _firsts(self) -> frozenset[int]:
        return frozenset(status // 100 for status in self.single) | self.classes

    @staticmethod
    def union(sets: "Iterable[Statuses]") -> "Statuses":
        """Return the union of the sets."""
        whole = Statuses()
        for each in sets:
            whole |= each
        return whole


ANY_SUCCESS = Statuses(classes=frozenset({2}))
ANY_4XX = Statuses(classes=frozenset({4}))
ANY_REFUSAL = Statuses(classes=_REFUSALS)
ANY_SUCCESS_OR_4XX = Statuses(classes=frozenset({2, 4}))


def what_is_wrong(due: Statuses, answered: int) -> tuple[Statuses, Statuses]:
    """Return what was due and what came, in terms that do not depend on the operation.

    A request that breaks the contract is due a 400, or any other refusal. What came instead has the
    same root whether it is the 200 of one operation or the 204 of another; and a server error has
    one root whether a refusal or a success was due.
    """
    exact = Statuses.of(answered)
    refusal, success = due.any_refusal, due.all_success
    match answered // 100:
        case 5:
            return (ANY_4XX if refusal else ANY_SUCCESS if success else due, exact)
        case 2 if not success:
            return (ANY_4XX if refusal else due, ANY_SUCCESS)
        case 4 if success:
            return (ANY_SUCCESS, ANY_4XX)
        case _:
            return (due, exact)


def wrong_status_severity(due: Statuses, answered: int) -> Severity:
    """Return the severity of a status that came where others were due."""
    came = answered // 100
    if came == 2 and not due.any_success:
        taken_twice = due == Statuses.of(409)
        return Severity.FALSE_OR_LOST if taken_twice else Severity.WRONG_STATUS
    return Severity.REFUSED if due.any_success and came == 4 else Severity.WRONG_STATUS
