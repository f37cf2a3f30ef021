"""Symptoms that many families of checks share, or that the engine and checks both raise."""

from icecheck.findings.symptoms import (
    ANOTHER_THING,
    ANSWER_UNREADABLE,
    NOT_AS_ACKNOWLEDGED,
    UNNAMED_CHANGED,
    Severity,
    declare,
)

CHANGE = ("the change, and nothing else", "another state")
"""Expected and actual of a cause about a change that was not carried out as it was answered."""
_SHAPE = ("the documented shape", "another shape")

EFFECT_MISSING = declare(
    "effect-missing",
    "Accepts a change and shows something else afterwards: {what}",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    told=CHANGE,
    answer_in_id=False,
)
DEFAULTS_MISSING = declare(
    "effect-missing:defaults-of-columns",
    "Accepts a change and shows something else afterwards: {what}",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    told=CHANGE,
    answer_in_id=False,
)
_INITIAL = declare(
    "effect-missing:initial-default",
    "Accepts a column and does not keep its initial default",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    family=DEFAULTS_MISSING,
)
_WRITE = declare(
    "effect-missing:write-default",
    "Accepts a column and does not keep its write default",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    family=DEFAULTS_MISSING,
)
EFFECT_ON_ANOTHER = declare(
    "effect-on-another",
    "A change reaches more than it names: {what}",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
    told=CHANGE,
    answer_in_id=False,
)
CHANGED_ALTHOUGH_REFUSED = declare(
    "changed-although-refused",
    "Refuses a request and changes something all the same",
    Severity.FALSE_OR_LOST,
    "every client: what was refused is changed all the same",
    told=CHANGE,
    answer_in_id=False,
)
REQUIREMENT_IGNORED = declare(
    "requirement-ignored",
    "Accepts commits whose requirements do not hold",
    Severity.FALSE_OR_LOST,
    "every writer: concurrent commits overwrite each other, and nobody is told",
    values_in_title=False,
)
"""The symptom of a commit that is carried out although the object is not as it asserts."""
FIRST_LIFE_SHOWS = declare(
    "first-life-shows",
    "What was created last under a name shows what bore the name before",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    told=("what was created last under the name", "what bore the name before"),
    answer_in_id=False,
)
CHANGED_BESIDE = declare(
    "changed-beside",
    "A change alters what it does not name: {what}",
    Severity.FALSE_OR_LOST,
    UNNAMED_CHANGED,
)
ANSWER_DIFFERS_FROM_LOAD = declare(
    "answer-differs-from-load",
    "The answer to a change differs from what a load shows right after it",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
)
STALE_READ_AFTER_COMMIT = declare(
    "stale-read-after-commit",
    "A load after a commit shows an older version",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    values_in_title=False,
)
LEAK = declare(
    "leak",
    "Answers a caller who has no right to the answer: {what}",
    Severity.EXPOSED,
    "every client: what the catalog guards is open to others",
)
_ALTERED = declare(
    "leak:altered-success",
    "Answers a caller without the right with success and a shortened answer",
    Severity.EXPOSED,
    "every client without the right: what is hidden passes for missing",
)
SCHEMA = declare(
    "schema",
    "Answers do not have the documented shape ({what})",
    Severity.SHAPE,
    told=_SHAPE,
    answer_in_id=False,
)
SCHEMA_REQUIRED = declare(
    "schema:required",
    "Leaves out required members of answers",
    Severity.SHAPE,
    told=_SHAPE,
    answer_in_id=False,
)
SCHEMA_NOT_JSON = declare(
    "schema:not-json",
    "Answers without the JSON body that is due",
    Severity.SHAPE,
    ANSWER_UNREADABLE,
    told=_SHAPE,
    answer_in_id=False,
)
SCHEMA_MEDIA_TYPE = declare(
    "schema:media-type",
    "Says of bodies with JSON that they are something else",
    Severity.SHAPE,
    told=_SHAPE,
    answer_in_id=False,
)
SERVER_ERROR_BODY = declare(
    "server-error-body",
    "Server errors do not have the documented body",
    Severity.SHAPE,
    told=_SHAPE,
    answer_in_id=False,
)
MEMBER_MISSING = declare(
    "member-missing",
    "Leaves out a member that is due: {expected}",
    Severity.SHAPE,
    family=SCHEMA_REQUIRED,
)
NAMES_RUN_TOGETHER = declare(
    "names-run-together",
    "Takes names for other names, or gives them back altered",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    told=CHANGE,
    answer_in_id=False,
)
NAME_ALTERED = declare(
    "name-altered",
    "Gives a name back altered",
    Severity.FALSE_OR_LOST,
    ANOTHER_THING,
    family=NAMES_RUN_TOGETHER,
)
LISTED_TWICE = declare("listed-twice", "Lists one thing twice", Severity.SHAPE)
ERROR_TYPE = declare(
    "error-type", "error.type is not the name that the document gives", Severity.WORDING
)
VALUE = declare(
    "value", "A value is not the one that is due: {what}", Severity.SHAPE, values_in_title=False
)
"""The symptom of a member with a wrong value; only the check can say what that means."""
ANOMALY = declare(
    "anomaly",
    "Answers to concurrent clients contradict each other: {what}",
    Severity.FALSE_OR_LOST,
    NOT_AS_ACKNOWLEDGED,
    values_in_title=False,
)
SUITE_ERROR = declare(
    "suite-error", "The suite itself failed", Severity.SHAPE, values_in_title=False
)
ENDPOINT_NOT_SERVED = declare(
    "endpoint-not-served",
    "Lists endpoints, or lets clients take them for offered, that it does not serve",
    Severity.REFUSED,
)
STAGED_AT_ONCE = declare(
    "staged-at-once",
    "Makes a table at once that was only to be staged",
    Severity.FALSE_OR_LOST,
    "Spark, Trino, Flink (Java client): CREATE TABLE AS SELECT conflicts with its own table, or "
    "leaves an empty one",
    answer_in_id=False,
)
SPELLING_CHANGES_THE_ANSWER = declare(
    "spelling-changes-the-answer",
    "Answers one request differently when it is spelled in another way",
    Severity.FALSE_OR_LOST,
)
