"""The response table of the document with what a run showed of each row: operation x status."""

from collections.abc import Iterable
from dataclasses import dataclass

from icecheck.findings.verdict import Outcome, Run, Verdict
from icecheck.reports.joined import checks_by_requirement, contract_of, result_of

SERVER_ERRORS = "5xx"
"""The column of all server errors: no request can ask for one."""


@dataclass(frozen=True, slots=True)
class ResponseCell:
    """One documented response: the worst outcome of its checks or ``not-run``, and how many judged.

    ``check`` is the one to look at first: of the worst outcome, "" without any.
    """

    status: str
    result: str
    judged: int
    check: str

    @property
    def words(self) -> str:
        """What the cell says, for readers who do not see colours."""
        if self.result == "not-run":
            return "not tried"
        return f"{self.judged} {'check' if self.judged == 1 else 'checks'}: {self.result}"


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """An operation, and its cells by column; a column without a cell is not documented."""

    operation: str
    cells: dict[str, ResponseCell]


@dataclass(frozen=True, slots=True)
class ResponseMap:
    """The columns, which are statuses, and a row for each operation."""

    columns: tuple[str, ...]
    rows: tuple[ResponseRow, ...]

    @property
    def counts(self) -> str:
        """How many documented responses were tried, in words."""
        cells = [c for row in self.rows for s, c in row.cells.items() if s != SERVER_ERRORS]
        tried = sum(cell.result != "not-run" for cell in cells)
        return f"{tried} of {len(cells)} documented responses were tried"


def response_map(run: Run) -> ResponseMap:
    """Return the map of the document that the run was judged by."""
    proving = checks_by_requirement(run)
    rows = []
    for operation in contract_of(run).operations.values():
        cells: dict[str, ResponseCell] = {}
        for status, response in operation.responses.items():
            column = SERVER_ERRORS if status.startswith("5") else status
            cell = _cell(column, proving.get(response.id, []))
            if column not in cells or cells[column].result == "not-run":
                cells[column] = cell
        rows.append(ResponseRow(operation.id, cells))
    columns = sorted({status for row in rows for status in row.cells})
    return ResponseMap(tuple(columns), tuple(rows))


def _cell(status: str, verdicts: Iterable[Verdict]) -> ResponseCell:
    judged = [v for v in verdicts if v.outcome is not Outcome.SKIP]
    result = result_of(judged)
    of_result = (v.check for v in judged if str(v.outcome) == result)
    return ResponseCell(status, result, len(judged), next(of_result, ""))
