"""Why a scan cannot be planned although the request is right: the table's files are at fault."""

from typing import Any

from icecheck.mock_server.protocol.problem import Problem

__all__ = ["PlanningFailure"]


class PlanningFailure(Exception):
    """A planning operation that ends as `failed` (L3388); the problem is what the answer says.

    The statuses in it are Iceberg's for these errors; the answer itself is a 200.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem

    @classmethod
    def missing(cls, location: str, reason: object) -> "PlanningFailure":
        """A file that is not there, or out of reach of this server."""
        message = f"Cannot read {location}: {reason}"
        return cls(Problem(404, "NotFoundException", message))

    @classmethod
    def unreadable(cls, location: str, reason: object) -> "PlanningFailure":
        """A file that is not what the table format says."""
        message = f"Cannot understand {location}: {reason}"
        return cls(Problem(500, "RuntimeIOException", message))

    def error(self) -> dict[str, Any]:
        """The error of the answer, in the document's form."""
        problem = self.problem
        return {"message": problem.message, "type": problem.type, "code": problem.status}
