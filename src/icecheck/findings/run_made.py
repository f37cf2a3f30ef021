"""Words for what differs from run to run, so that two runs of one catalog have the same causes."""

import re

from icecheck.targets.secret_marks import without_marks

_GENERATED = (
    (re.compile(r"[a-z][a-z0-9+.-]*:/[^\s\"']+", re.IGNORECASE), "a location"),
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE), "a uuid"),
    # Names begin as the user wants, and have then a key and a number.
    (
        re.compile(
            r"icecheck_[0-9a-z_]*[0-9][0-9a-z_]*|[a-z][0-9a-z_]*_[0-9a-f]{6}_[0-9][0-9a-z_]*"
        ),
        "a name of the run",
    ),
    (re.compile(r"\b\d{10,}\b"), "a number"),
)


def without_generated(text: str) -> str:
    """Return a text with words for what differs from run to run.

    These are the marks of secrets, locations, uuids, names and times: the ids of causes are made of
    what is left.
    """
    text = without_marks(text)
    for pattern, word in _GENERATED:
        text = pattern.sub(word, text)
    return text
