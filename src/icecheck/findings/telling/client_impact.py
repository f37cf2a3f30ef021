"""Client impact of a finding: the clients that the register names, or Spark and PyIceberg."""

from icecheck.contract import Contract
from icecheck.findings.shared_symptoms import SCHEMA, SCHEMA_REQUIRED
from icecheck.findings.statuses import STATUS, Statuses
from icecheck.findings.symptoms import NOBODY
from icecheck.findings.verdict import Finding, Verdict

_STATE_UNKNOWN = frozenset({500, 502, 504})
_SUCCESS_TO_JAVA = frozenset({200, 202, 204})
# Error classes that Java's client (shown by Spark) and PyIceberg raise, by status.
_CLASSES = {
    400: ("BadRequestException", "BadRequestError"),
    401: ("NotAuthorizedException", "UnauthorizedError"),
    403: ("ForbiddenException", "ForbiddenError"),
    500: ("ServiceFailureException", "ServerError"),
    501: ("UnsupportedOperationException", "NotImplementedError"),
}
_OTHER_ERROR = ("RESTException", "RESTError")
_MISSED = {
    404: "that something is missing, so that IF EXISTS and their like fail",
    409: "that there is a conflict, so that IF NOT EXISTS fails and commits are not tried again",
}
_UNREADABLE = "clients that demand the member, as Spark does of most: the answer cannot be read"
_MISTYPED = (
    "Spark (Java client), where it reads the member: IllegalArgumentException: a member of another "
    "type makes the answer one that cannot be read"
)
_WRONG_TYPE = SCHEMA.of("type")
_IS_NULL = "null is not of type"
"""What is told of a member that is null and must not be: clients miss it."""


def hurt_by(verdict: Verdict, contract: Contract) -> tuple[str, ...]:
    """Return which clients a check's findings affect, and how, or that no such client is known.

    Where the register names no client, the first finding's status or symptom tells it.
    """
    requirements = contract.requirements
    proven = [requirements[id_] for id_ in verdict.requirements if id_ in requirements]
    named = dict.fromkeys(r.hurts for r in proven if r.hurts != NOBODY)
    if named or not verdict.findings:
        return tuple(named) or (NOBODY,)
    finding = verdict.findings[0]
    if any(map(_is_success, verdict.requirements)) and (why := _unreadable(finding)):
        return (why,)
    return (_noticed(finding, verdict, contract),)


def consequence_of(verdict: Verdict, contract: Contract) -> str:
    """Return whom a check's first finding hurts, and how, as briefly as a title needs it.

    The finding itself tells it: what the register says of a requirement is about every way in which
    that may be missed.
    """
    if verdict.findings:
        finding = verdict.findings[0]
        told = _unreadable(finding) or _noticed(finding, verdict, contract)
        if told != NOBODY:
            return told
    return hurt_by(verdict, contract)[0]


def _unreadable(finding: Finding) -> str | None:
    """Return who cannot read the body of a success for this finding, or None."""
    if finding.symptom == _WRONG_TYPE:
        return _UNREADABLE if _IS_NULL in finding.actual else _MISTYPED
    return _UNREADABLE if finding.symptom == SCHEMA_REQUIRED else None


def _is_success(requirement_id: str) -> bool:
    return requirement_id.rpartition(".")[2].startswith("2")


def _noticed(finding: Finding, verdict: Verdict, contract: Contract) -> str:
    if finding.symptom == STATUS and finding.due is not None and finding.answered is not None:
        commits = _commits(verdict.operations[:1], contract)
        return _by_status(finding.due, finding.answered, commits=commits)
    return finding.symptom.hurts


def _commits(operations: tuple[str, ...], contract: Contract) -> bool:
    known = contract.operations
    return any(known[id_].facts.commits for id_ in operations if id_ in known)


def _by_status(due: Statuses, actual: int, *, commits: bool) -> str:
    """Return what Spark and PyIceberg do with a status where others are due."""
    came = actual // 100
    if came == 2:
        if not due.all_success:
            return "Spark, PyIceberg: see no error; what was to be refused counts as done"
        if actual in _SUCCESS_TO_JAVA:
            return NOBODY
        return f"Spark: RESTException: {actual} is no success to Java's client"
    if actual in _STATE_UNKNOWN and commits:
        return (
            "Spark, PyIceberg: CommitStateUnknownException: the job ends without knowing whether "
            "its commit is there, and what it has written stays"
        )
    java, python = _CLASSES.get(actual, _OTHER_ERROR)
    if due.all_success and came == 4:
        missed = "fails, although nothing is wrong with it"
        if actual in {404, 409}:
            return f"Spark, PyIceberg: the request {missed}"
        return f"Spark ({java}), PyIceberg ({python}): the request {missed}"
    for status, words in _MISSED.items():
        if status in due.single:
            return f"Spark ({java}), PyIceberg ({python}): the error does not say {words}"
    if came == 5:
        return f"Spark ({java}), PyIceberg ({python}): an error that looks like a breakdown"
    return NOBODY
