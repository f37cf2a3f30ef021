"""The reviewed differences: what decides each of them, and the shortest sequence that shows it."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tests.interop.oracle.difference import Difference
from tests.interop.oracle.step import Step

FILE = Path(__file__).parent / "differences.toml"
WILDCARD = "*"
MATCHED = ("operation", "change", "what", "reference", "ours")
_LINES = re.compile(r"L\d{3,4}(-L\d{3,4})?: \S.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A class of differences: it matches those that equal it in the five members of MATCHED.

    One of the five, at most, is a wildcard. `says` is a part of the refusal: the reference's if it
    refuses and we do not, else ours. Either `decides` gives lines of the document and what they
    say, in our words, or `silent` says on what the document is silent and `client` who depends
    on our answer. `sequence` is JSON: the steps whose last one makes the difference.
    """

    id: str
    operation: str
    change: str
    what: str
    reference: str
    ours: str
    sequence: str
    says: str = ""
    decides: str = ""
    silent: str = ""
    client: str = ""

    def matches(self, found: Difference) -> bool:
        """Whether a difference is of this class."""
        said = found.says if found.ours == "200" else found.we_say
        return self.says in said and all(
            getattr(self, name) in (WILDCARD, getattr(found, name)) for name in MATCHED
        )

    @property
    def steps(self) -> list[Step]:
        """The sequence that shows it."""
        return [
            Step(kind == "create", body)
            for step in json.loads(self.sequence)
            for kind, body in step.items()
        ]

    def flaws(self) -> list[str]:
        """What is wrong with the entry itself."""
        found = []
        if sum(getattr(self, name) == WILDCARD for name in MATCHED) > 1:
            found.append(f"{self.id}: a wildcard in more than one member")
        if self.decides and not _LINES.fullmatch(self.decides):
            found.append(f"{self.id}: `decides` begins with lines, as in `L1009: ...`")
        if bool(self.decides) == bool(self.silent) or bool(self.silent) != bool(self.client):
            found.append(f"{self.id}: give `decides`, or `silent` and `client`")
        return found


def read(path: Path = FILE) -> list[Listed]:
    """The reviewed differences, in the order of the file; TypeError for an unknown member."""
    entries: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["difference"]
    return [Listed(**entry) for entry in entries]


def unlisted(found: Iterable[Difference], listed: Sequence[Listed]) -> list[Difference]:
    """The differences that no class matches."""
    return [each for each in found if not any(entry.matches(each) for entry in listed)]


def proposal(found: Difference, steps: Sequence[Step]) -> str:
    """The entry that a difference would need, for whoever has to judge it."""
    members = {each.name: getattr(found, each.name) for each in fields(found)}
    if members.pop("ours") == "200":
        said = members.pop("says")
        members.pop("we_say")
    else:
        said = members.pop("we_say")
        members.pop("says")
    lines = ["[[difference]]", 'id = ""']
    lines += [f"{name} = {json.dumps(value)}" for name, value in members.items()]
    lines += [f"ours = {json.dumps(found.ours)}", f"says = {json.dumps(said)}", 'decides = "L: "']
    sequence = ",\n ".join(json.dumps(step.json) for step in steps)
    return "\n".join([*lines, f"sequence = '''\n[{sequence}]\n'''"])
