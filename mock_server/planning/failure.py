"""Failures of planning that are no fault of the request: the table's files are at fault."""

from typing import Any

from icecheck.mock_server.protocol.problem import Problem


class PlanningFailure(Exception):
    """Raised when planning ends as `failed` (L3388); the answer has the problem in it.

    The statuses in it are Iceberg's for these errors; the answer itself is a 200.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem

    @classmethod
    def missing(cls, location: str, reason: object) -> "PlanningFailure":
        """Return the failure for a file that is missing or out of reach of this server."""
        message = f"Cannot read {location}: {reason}"
        return cls(Problem(404, "NotFoundException", message))

    @classmethod
    def unreadable(cls, location: str, reason: object) -> "PlanningFailure":
        """Return the failure for a file that violates the table format."""
        message = f"Cannot understand {location}: {reason}"
        return cls(Problem(500, "RuntimeIOException", message))

    def error(self) -> dict[str, Any]:
        """Return the error of the answer, in the document's form."""
        problem = self.problem
        return {"message": problem.message, "type": problem.type, "code": problem.status}
