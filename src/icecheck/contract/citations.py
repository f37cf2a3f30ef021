"""Finds the lines of a Ref or a sentence: sentences are cited by their words.

A row of the register cites the words of the lines that it rests on, prose or structure alike: the
first 12 hex digits of the sha256 of these words and their number, such as `1f3a8c2b4d5e-27`
(`python -m tools.sentences` makes it). White space, case and Markdown do not count, so that a
sentence that was moved or wrapped anew is found again, and a changed one is not. 12 digits suffice:
about 500 sentences are looked for among about 12,000 places of a document, so that the odds of a
wrong match are 1 in 10^7 for a document; and the tool that makes the table refuses an identifier
that stands for different words.

Words that occur at several places, such as a member's name and type, are cited with the part of the
document that is meant: `1f3a8c2b4d5e-2 in schema:Namespace`, any Ref or JSON pointer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from icecheck.contract.document import line_index, lines_of, others, raw_document, version_text
from icecheck.contract.model import Lines, LostSentence, Ref, RefKind, UnknownRef
from icecheck.contract.operations import documented, lines_of_operation

_FORM = re.compile(r"(?P<words>[0-9a-f]{12}-[1-9][0-9]*)(?: in (?P<part>\S+))?")

CHANGED_WORDS = (
    'if its words changed, write the row twice: `until = "OLD"` with the old sentence,'
    ' `since = "NEW"` with the new one (`python -m tools.sentences DOCUMENT FIRST LAST`);'
    " then let `python -m tools.sentences DOCUMENT --version NEW` write sentences.json again"
)
"""What to do with a row whose sentence is not in a document."""


class MalformedCitation(ValueError):
    """A text is no citation."""


@dataclass(frozen=True, slots=True)
class Citation:
    """The words of a cited sentence, and the part of the document if they occur elsewhere too.

    ``words`` identifies the sentence by hash and number of words, ``part`` is a Ref or pointer.
    """

    words: str
    part: str | None

    @classmethod
    def parse(cls, text: str) -> "Citation":
        """Read a citation from its text form.

        Raises MalformedCitation for any other text.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise MalformedCitation(f"{text!r} is no citation: python -m tools.sentences makes one")
        return cls(match["words"], match["part"])

    def __str__(self) -> str:
        return self.words if self.part is None else f"{self.words} in {self.part}"


@cache
def sentences(version: str) -> Mapping[str, tuple[Lines, ...]]:
    """Return identifier -> lines of its words in the official document of this version."""
    rows = json.loads(version_text(version, "sentences.json")).items()
    return {words: tuple((first, last) for first, last in places) for words, places in rows}


def lines_of_citation(version: str, citation: Citation) -> Lines:
    """Return the lines of a sentence.

    Raises LostSentence where the words do not occur, or not in the named part, with their place in
    another version, and UnknownRef where they stand at several places.
    """
    places = _places(version, citation)
    if len(places) == 1:
        return places[0]
    if not places:
        lost = f"the sentence {citation} is not in the document of {version}"
        raise LostSentence(lost + _place_elsewhere(version, citation))
    raise UnknownRef(f"the sentence {citation} stands at {len(places)} places: say in which part")


def _places(version: str, citation: Citation) -> tuple[Lines, ...]:
    """Return where the words of a sentence stand; raises UnknownRef for an unknown part."""
    places = sentences(version).get(citation.words, ())
    if citation.part is None:
        return places
    start, end = (
        lines_of(version, citation.part)
        if citation.part.startswith("/")
        else lines_of_ref(version, Ref.parse(citation.part))
    )
    return tuple(place for place in places if start <= place[0] and place[1] <= end)


def _place_elsewhere(version: str, citation: Citation) -> str:
    """Return the place of a sentence in the newest other version that has it, or ""."""
    for other in others(version):
        try:
            places = _places(other, citation)
        except (UnknownRef, FileNotFoundError):  # a version that is begun has no table yet
            continue
        if places:
            first, last = places[0]
            return f"; in {other} it is L{first}" + (f"-L{last}" if last > first else "")
    return ""


def lines_of_ref(version: str, ref: Ref) -> Lines:
    """Return the lines that a Ref points at in the official document.

    Raises UnknownRef when it points at nothing.
    """
    match ref.kind:
        case RefKind.OPERATION:
            if ref.name in documented(version):
                return lines_of_operation(version, ref.name)
        case RefKind.RESPONSE:
            operation_id, _, status = ref.name.partition(".")
            responses = documented(version).get(operation_id, {})
            if status in responses:
                return responses[status]
        case RefKind.SCHEMA:
            if ref.name in raw_document(version)["components"]["schemas"]:
                return lines_of(version, f"/components/schemas/{ref.name}")
        case RefKind.LINES:
            first, _, last = ref.name.partition("-")
            if first.isdecimal() and (last or first).isdecimal():
                return _lines(version, [int(first), int(last or first)])
    raise UnknownRef(f"{ref} is nothing in {version}")


@cache
def _last_line(version: str) -> int:
    return max(last for _, last in line_index(version).values())


def _lines(version: str, pair: Any) -> Lines:
    match pair:
        case [int(first), int(last)] if 1 <= first <= last <= _last_line(version):
            return first, last
    raise UnknownRef(f"lines {pair!r} are not in the document of {version}")
