"""The tables of a run: how each operation stands, and what works for each client and in Spark."""

from collections import defaultdict
from dataclasses import dataclass

from icecheck.findings.telling.standing import Cell, Findings, Standing, client_cell, operation_cell
from icecheck.findings.verdict import Capability, Cause, Group, Run, Verdict
from icecheck.reports.joined import contract_of

_DIALECT = "dialect."
_ENDPOINT = "endpoint:"
WORDS = {
    Standing.WORKS: "works",
    Standing.WORKS_BUT: "works, but",
    Standing.BROKEN: "broken",
    Standing.NOT_OFFERED: "not offered",
    Standing.NOT_LOOKED_AT: "not looked at",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A cause that concerns a cell, and its number in the list of what to fix first."""

    number: int
    cause: Cause

    @property
    def words(self) -> str:
        """The number, and what is wrong."""
        return f"{self.number}. {self.cause.wrong}"


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation: what the catalog claims and does, and how it stands by all findings."""

    operation: str
    capability: Capability
    cell: Cell
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class EngineRow:
    """The result of one thing that a user of an engine does, and why it is so.

    ``title`` is the statement or the workflow in words; ``why`` says how its own check ended.
    """

    check: str
    title: str
    cell: Cell
    why: str
    found: tuple[Found, ...]

    @property
    def status(self) -> str:
        """How it stands, as run.json writes it."""
        return str(self.cell.standing)


@dataclass(frozen=True, slots=True)
class ClientRow:
    """A client whose requests were replayed: its slug, its name and version, and its workflows."""

    id: str
    client: str
    workflows: tuple[EngineRow, ...]

    def workflow(self, name: str) -> EngineRow | None:
        """Return the row of tables, views or transactions; None if the client has none."""
        wanted = f"{_DIALECT}{self.id}.{name}"
        return next((row for row in self.workflows if row.check == wanted), None)


def words_of(cell: Cell) -> str:
    """Return how a cell stands in words."""
    if cell.standing is Standing.NOT_LOOKED_AT and cell.passed:
        return "effect not checked"  # what passed are refusals, or the shapes of answers
    return WORDS[cell.standing]


def operation_rows(run: Run) -> tuple[OperationRow, ...]:
    """Return a row for each operation of the run's document."""
    contract = contract_of(run)
    findings = Findings.of(run.verdicts, run.causes, contract)
    by_endpoint = {f"{_ENDPOINT}{o.endpoint}": o.id for o in contract.operations.values()}
    rows = []
    for capability in run.capabilities:
        operation_id = by_endpoint.get(capability.id)
        if operation_id is not None:
            cell = operation_cell(operation_id, capability, findings)
            rows.append(OperationRow(operation_id, capability, cell, _found(run, cell)))
    return tuple(rows)


def spark_rows(run: Run) -> tuple[EngineRow, ...]:
    """Return one row for each check that Spark itself ran or should have run."""
    findings = Findings.of(run.verdicts, run.causes, contract_of(run))
    rows = (v for v in run.verdicts if v.group is Group.SPARK)
    return tuple(_engine_row(v, v.title, run, findings) for v in rows)


def client_rows(run: Run) -> tuple[ClientRow, ...]:
    """Return one row for each client whose recorded requests were replayed.

    The title of such a check is the client with its version, a colon, and the workflow.
    """
    findings = Findings.of(run.verdicts, run.causes, contract_of(run))
    found: defaultdict[tuple[str, str], list[EngineRow]] = defaultdict(list)
    for verdict in run.verdicts:
        if verdict.group is Group.SCENARIOS and verdict.check.startswith(_DIALECT):
            client, _, does = verdict.title.partition(": ")
            slug = verdict.check.removeprefix(_DIALECT).partition(".")[0]
            found[slug, client].append(_engine_row(verdict, does, run, findings))
    return tuple(ClientRow(slug, name, tuple(rows)) for (slug, name), rows in found.items())


def _engine_row(verdict: Verdict, title: str, run: Run, findings: Findings) -> EngineRow:
    unreadable = verdict.group is Group.SCENARIOS and _lacks_what_is_read(verdict)
    cell = client_cell(verdict, findings, unreadable=unreadable)
    return EngineRow(verdict.check, title, cell, verdict.summary, _found(run, cell))


def _found(run: Run, cell: Cell) -> tuple[Found, ...]:
    wanted, numbered = frozenset(cell.causes), enumerate(run.causes, 1)
    return tuple(Found(number, cause) for number, cause in numbered if cause.id in wanted)


def _lacks_what_is_read(verdict: Verdict) -> bool:
    """Return whether a check was blocked by the shape of an answer, which stops the client too."""
    return bool(verdict.blocked_by) and all(by.startswith("schema.") for by in verdict.blocked_by)
