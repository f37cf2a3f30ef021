"""Every symptom that a finding can have: those of the engine and of all checks."""

from collections.abc import Mapping

from icecheck.findings import causes
from icecheck.findings.symptoms import Symptom, declared
from icecheck.findings.verdict import Group
from icecheck.judging import judge, passive
from icecheck.ownership import request_guard
from icecheck.run.collect import declarations

_RAISING = (causes, judge, passive, request_guard)
"""Importing these imports every module of the engine that declares symptoms."""


def known_symptoms() -> Mapping[str, Symptom]:
    """Return slug -> symptom of all that are declared, after importing every check."""
    for _ in declarations(frozenset(Group)):
        pass  # importing the module of a check declares its symptoms
    return declared()
