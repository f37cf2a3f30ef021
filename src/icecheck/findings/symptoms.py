"""Symptoms: what can be wrong with a catalog, each declared once, beside the code that raises it.

A symptom does not name the operation, so that one root cause seen through forty operations is one
finding (verdict-rules 15).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from types import MappingProxyType

NOBODY = "no known client"
"""The client impact of a finding when no client is known to be affected."""
# Client impacts that findings of several kinds share.
NOT_AS_ACKNOWLEDGED = "every client: what was acknowledged is not what is there"
UNNAMED_CHANGED = "every client: something that the request does not name is changed"
NOT_ALL_SEEN = "every client: it does not see all that is there"
ANOTHER_THING = "every client: it works with something else than it named"
OTHER_ROWS = "every client that has its scans planned: it reads other rows than there are"
ANSWER_UNREADABLE = "Spark, PyIceberg: an answer that cannot be read fails the statement"

_PLACE = re.compile(r"\{(expected|actual|what)\}")


class Severity(IntEnum):
    """The severity of a finding, in the order of verdict-rules 18: smaller is worse.

    ``FALSE_OR_LOST``: something acknowledged is not true, or data are lost, altered or somebody
    else's. ``WRONG_STATUS``: an answer by which clients do the wrong thing. ``REFUSED``: something
    required is not available. ``WORDING``: names and words that no client depends on.
    """

    FALSE_OR_LOST = 0
    EXPOSED = 1
    WRONG_STATUS = 2
    REFUSED = 3
    SHAPE = 4
    WORDING = 5

    @property
    def word(self) -> str:
        """The severity as a list of symptoms writes it."""
        return self.name.lower().replace("_", "-")

    @property
    def words(self) -> str:
        """The severity as it is explained."""
        return _SEVERITIES[self]


_SEVERITIES = {
    Severity.FALSE_OR_LOST: "something is accepted or shown falsely, or data are lost or altered",
    Severity.EXPOSED: "data or credentials are exposed",
    Severity.WRONG_STATUS: "clients do the wrong thing after such an answer",
    Severity.REFUSED: "something that is required cannot be had",
    Severity.SHAPE: "an answer has a wrong shape or value",
    Severity.WORDING: "a name or word that no client depends on",
}


@dataclass(frozen=True, slots=True)
class Symptom:
    """One way in which a catalog can be wrong; its slug stands in run.json and in expectations.

    ``title`` is a sentence in which ``{what}`` stands for the qualifier, and ``{expected}`` and
    ``{actual}`` for the values of a finding. ``hurts`` says which clients are affected, and how.
    ``told``, if given, is what a cause shows as expected and actual, because the values themselves
    differ with the data of the check. ``family`` is the symptom under which findings are grouped,
    if it is another one; with ``qualifiers_apart`` each qualifier is a cause of its own. With
    ``answer_in_id`` the id of the cause contains what came, with ``values_in_title`` its title
    does.
    """

    name: str
    title: str
    severity: Severity
    hurts: str = NOBODY
    family: "Symptom | None" = None
    told: tuple[str, str] | None = None
    qualifiers_apart: bool = True
    answer_in_id: bool = True
    values_in_title: bool = True
    qualifier: str = ""

    @property
    def slug(self) -> str:
        """The name and the qualifier, as a report writes them."""
        return f"{self.name}:{self.qualifier}" if self.qualifier else self.name

    @property
    def grouped_as(self) -> "Symptom":
        """The symptom of the causes to which findings with this one belong."""
        if self.family is not None:
            return self.family
        return self if self.qualifiers_apart else replace(self, qualifier="")

    @property
    def meaning(self) -> str:
        """The title without the values of any finding."""
        return self._filled("one thing", "another")

    def of(self, qualifier: str) -> "Symptom":
        """Return this symptom with a qualifier; the declared one if there is one."""
        slug = f"{self.name}:{qualifier}"
        return _DECLARED.get(slug) or replace(self, qualifier=qualifier)

    def is_a(self, other: "Symptom") -> bool:
        """Return whether this is the other symptom, or that one with a qualifier."""
        return self.name == other.name and other.qualifier in {"", self.qualifier}

    def title_of(self, expected: str, actual: str) -> str:
        """Return the title of a cause with what was expected and what came."""
        filled = self._filled(expected, actual)
        told = self.told is not None or not self.values_in_title
        if told or "{expected}" in self.title or "{actual}" in self.title:
            return filled
        return f"{filled}: expected {expected}, got {actual}"

    def _filled(self, expected: str, actual: str) -> str:
        what = self.qualifier.replace("-", " ") or "something"
        said = {"expected": expected, "actual": actual, "what": what}
        # Everything is replaced in one pass: a catalog's answer may contain braces itself.
        return _PLACE.sub(lambda place: said[place[1]], self.title)


_DECLARED: dict[str, Symptom] = {}


def declare(
    slug: str,
    title: str,
    severity: Severity,
    hurts: str = NOBODY,
    *,
    family: Symptom | None = None,
    told: tuple[str, str] | None = None,
    qualifiers_apart: bool = True,
    answer_in_id: bool = True,
    values_in_title: bool = True,
) -> Symptom:
    """Declare a symptom and return it.

    A slug with a colon is a name and a qualifier that has a title or severity of its own. Raises
    ValueError when the slug is declared already.
    """
    if slug in _DECLARED:
        raise ValueError(f"the symptom {slug} is declared twice")
    if not title:
        raise ValueError(f"the symptom {slug} has no title")
    name, _, qualifier = slug.partition(":")
    symptom = Symptom(
        name,
        title,
        severity,
        hurts,
        family,
        told,
        qualifiers_apart,
        answer_in_id,
        values_in_title,
        qualifier,
    )
    _DECLARED[slug] = symptom
    return symptom


def declared() -> Mapping[str, Symptom]:
    """Return slug -> symptom of everything declared by the modules imported so far."""
    return MappingProxyType(_DECLARED)


def symptom_named(slug: str) -> Symptom | None:
    """Return the symptom with this slug, qualifier included; None if it is not declared."""
    name, _, qualifier = slug.partition(":")
    known = _DECLARED.get(slug) or _DECLARED.get(name)
    return known if known is None or known.slug == slug else known.of(qualifier)
