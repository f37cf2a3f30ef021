"""What each check is good for: the defects that it finds, and those that nothing else finds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from icecheck.contract import Level
from tools.matrix.table import RACED, Row

_WEIGHT = {level: weight for weight, level in enumerate(Level)}


@dataclass(frozen=True, slots=True)
class Known:
    """What the register says: the requirement and the level that each defect breaks, and proofs.

    ``proves``: check -> the requirements that it proves, passive checks included.
    """

    breaks: Mapping[str, str]
    levels: Mapping[str, Level]
    proves: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Matrix:
    """What depends on which checks: each set is one demand that one of them has to meet.

    ``found``: defect -> the checks that find it at the level of what it breaks: they fail, or get
    an answer that a passive check fails. ``proved``: defect -> those of them that are about what it
    breaks. ``rows``: requirement -> the checks that prove it.
    """

    found: Mapping[str, frozenset[str]]
    proved: Mapping[str, frozenset[str]]
    rows: Mapping[str, frozenset[str]]

    def demands(self) -> Iterable[frozenset[str]]:
        """Return all demands."""
        return (*self.found.values(), *self.proved.values(), *self.rows.values())


@dataclass(frozen=True, slots=True)
class Worth:
    """What one check is good for.

    ``kills`` and ``alone`` count the defects that it finds, and that only it finds;
    ``proofs_alone`` those that no other check about the same requirement finds. ``rows_alone`` are
    the requirements that no other check proves. ``within`` is the check with the fewest requests
    that finds all that it finds; "" if there is none.
    """

    check: str
    requests: int
    kills: int
    alone: int
    proofs_alone: int
    rows_alone: tuple[str, ...]
    within: str

    @property
    def droppable(self) -> bool:
        """Whether every defect and every requirement of it would still have another check."""
        return not (self.alone or self.proofs_alone or self.rows_alone)


def matrix_of(rows: Iterable[Row], known: Known) -> Matrix:
    """Return what depends on which checks; defects and checks that are gone count no more."""
    found: dict[str, frozenset[str]] = {}
    proved: dict[str, frozenset[str]] = {}
    for row in rows:
        if row.defect not in known.breaks:
            continue
        breaks = known.breaks[row.defect]
        due = known.levels[row.defect]
        finding, proving = set[str](), set[str]()
        for check, level in row.failed.items():
            if check in known.proves and _WEIGHT[level] <= _WEIGHT[due]:
                finding.add(check)
                proving |= {check} if breaks in known.proves[check] else set()
        for passive, (level, by) in row.shown.items():
            if _WEIGHT[level] <= _WEIGHT[due]:
                showing = known.proves.keys() & by
                finding |= showing
                proving |= showing if _is_about(passive, breaks) else set()
        found[row.defect] = frozenset(finding)
        proved[row.defect] = frozenset(proving)
    provers: dict[str, set[str]] = {}
    for check, requirements in known.proves.items():
        for requirement in requirements:
            provers.setdefault(requirement, set()).add(check)
    return Matrix(found, proved, {name: frozenset(by) for name, by in provers.items()})


def worth_of(matrix: Matrix, requests: Mapping[str, int]) -> list[Worth]:
    """Return the worth of each check of which the requests are known."""
    found = _by_check(matrix.found)
    cheap_first = sorted(requests, key=lambda check: (requests[check], check))
    return [
        Worth(
            check=check,
            requests=requests[check],
            kills=len(found.get(check, ())),
            alone=len(_only(check, matrix.found)),
            proofs_alone=len(_only(check, matrix.proved)),
            rows_alone=tuple(sorted(_only(check, matrix.rows))),
            within=_first_with_all_of(check, found, cheap_first),
        )
        for check in sorted(requests)
    ]


def needless(matrix: Matrix, worths: Iterable[Worth]) -> list[Worth]:
    """Return checks that can all be dropped together, those with most requests first.

    Of two checks that do the same, the one with fewer requests stays.
    """
    demands: dict[str, list[set[str]]] = {}
    for demand in map(set, matrix.demands()):
        for check in demand:
            demands.setdefault(check, []).append(demand)
    dropped: list[Worth] = []
    for worth in sorted(worths, key=lambda worth: (-worth.requests, worth.check)):
        mine = demands.get(worth.check, [])
        if all(_others(worth.check, demand) for demand in mine):
            dropped.append(worth)
            for demand in mine:
                demand.discard(worth.check)
    return dropped


def _is_about(passive: str, requirement: str) -> bool:
    operation = requirement.partition(".")[0]
    return passive == requirement or passive.startswith(f"schema.{operation}.")


def _only(check: str, met_by: Mapping[str, frozenset[str]]) -> list[str]:
    return [name for name, by in met_by.items() if check in by and not _others(check, by)]


def _others(check: str, by: Iterable[str]) -> list[str]:
    """Return the others on which one can count: a race that was won once may be lost."""
    return [other for other in by if other != check and not other.startswith(RACED)]


def _by_check(found: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    collected: dict[str, set[str]] = {}
    for defect, checks in found.items():
        for check in checks:
            collected.setdefault(check, set()).add(defect)
    return {check: frozenset(every) for check, every in collected.items()}


def _first_with_all_of(
    check: str, found: Mapping[str, frozenset[str]], among: Sequence[str]
) -> str:
    mine = found.get(check, frozenset())
    wider = (o for o in among if o != check and mine <= found.get(o, frozenset()))
    return next(wider, "") if mine else ""
