"""Which checks judge which defect, and which stored verdicts still count."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from icecheck.contract import JUDGED_VERSIONS, Contract
from icecheck.contract.releases import newest
from icecheck.judging.check import Check
from icecheck.mock_server.defects import Defect
from icecheck.proof.kill_matrix import GROUPS
from icecheck.proof.reach import Entry, changed_by
from icecheck.run.collect import collect
from tools.kills import reached_by
from tools.matrix.digests import Digests

VERSION = newest(JUDGED_VERSIONS)
"""The version of the matrix: its mock can have every defect, and it has every check."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The checks of one family that judge one defect, in a session of their own.

    ``key`` is a digest of everything that their verdicts follow from.
    """

    defect: str
    family: str
    checks: tuple[str, ...]
    key: str


def judging_checks(contract: Contract) -> tuple[Check, ...]:
    """Return the checks of the matrix: those that need only a catalog, and do not strain it.

    Checks with Spark start a JVM, and would take days; the defects that they have to fail are in
    ``tests/golden/spark_kills.txt``. PyIceberg is no check of the suite. A check that strains a
    catalog sends thousands of requests for one defect of its own, and is judged on that alone.
    """
    return collect(GROUPS, contract)


def reach_of(checks: Iterable[Check]) -> dict[str, frozenset[Entry]]:
    """Return check id -> the entries that serve its requests, those of shared objects included.

    Each check has a session of its own here: otherwise the first one that needs a shared table
    would be the only one that is seen to create it.
    """
    return {check.id: reached_by([check], VERSION)[check.id] for check in checks}


def family_of(check: Check) -> str:
    """Return the folder that a check's module shares with nothing else: ``conformance/tables``.

    The scenarios have one model in common, and are one family.
    """
    _, package, folder, *_ = check.function.__module__.split(".")
    return f"{package}/{folder}" if package == "conformance" else package


@dataclass(frozen=True, slots=True)
class Plan:
    """The checks of the matrix and what they reach: enough to say what judges a defect."""

    checks: Sequence[Check]
    reach: Mapping[str, frozenset[Entry]]
    digests: Digests

    def cells(self, defect: Defect) -> list[Cell]:
        """Return the cells of a defect, by family."""
        chosen: dict[str, list[Check]] = {}
        for check in self.judges(defect):
            chosen.setdefault(family_of(check), []).append(check)
        return [self._cell(defect, family, found) for family, found in sorted(chosen.items())]

    def judges(self, defect: Defect) -> list[Check]:
        """Return the checks that judge a defect: those that are about what it changes.

        A check is about an operation if one of its requirements is. What is not an operation
        (updates, assertions), and a check that is about none, are matched by what serves the
        check's requests. A check that only prepares its ground with a changed operation is left
        out: that it fails too is no reason to do without a check of that operation. All requests
        pass a gate; a defect of one is judged by the families that prove what it breaks. The checks
        that prove it always judge a defect.
        """
        changed = changed_by(defect)
        proofs = {check.id for check in self.checks if defect.breaks in check.proves}
        gated = any(registry == "gates" for registry, _ in changed)
        families = {family_of(c) for c in self.checks if gated and c.id in proofs}
        operations = {entry for registry, entry in changed if registry == "operations"}
        served = {entry for entry in changed if entry[0] != "gates"}
        shared = {entry for entry in served if entry[0] != "operations"}
        return [
            check
            for check in self.checks
            if check.id in proofs
            or family_of(check) in families
            or operations.intersection(check.operations)
            or (shared if check.operations else served) & self.reach[check.id]
        ]

    def _cell(self, defect: Defect, family: str, checks: Sequence[Check]) -> Cell:
        ids = tuple(check.id for check in checks)
        key = self.digests.of_cell(defect.module, family, (defect.name, defect.breaks, *ids))
        return Cell(defect.name, family, ids, key)


def slice_of(defects: Sequence[Defect], index: int, of: int) -> Sequence[Defect]:
    """Return one slice of the defects; the slices 1 to ``of`` have each defect once."""
    return defects[index - 1 :: of]
