"""The requirements register: the generated response rows and the requirements written by hand.

Every file of `requirements/` holds `[[requirement]]` tables, `[[response]]` tables that add to a
generated row, and optionally one `[defaults]` table. The rows are those of all versions: `since`
and `until` name the first and the last release whose document a row is about, and rows of other
releases are left out: two rows of one id say what two versions say in other words. A row cites its
sentence by its words (citations.py). A row of an operation that a catalog may answer with 406 has
the condition that the catalog supports it, unless it says another one.

A malformed row (an unknown key, level, basis or profile) raises RegisterError, naming the file and
the row. Rows that are well-formed and point at nothing in a version are collected: one
UnresolvedRows lists them all.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from icecheck.contract.citations import (
    CHANGED_WORDS,
    Citation,
    MalformedCitation,
    lines_of_citation,
    lines_of_ref,
)
from icecheck.contract.document import FOLDERS, operation_rows, others
from icecheck.contract.facts import PROFILES, IncompleteFacts
from icecheck.contract.faults import ContractError
from icecheck.contract.generated import NO_KNOWN_CLIENT, STATUS_ROWS, response_requirement
from icecheck.contract.model import (
    Basis,
    Level,
    Lines,
    LostSentence,
    Ref,
    RefKind,
    Requirement,
    Undated,
    UnknownRef,
    UnresolvedRows,
)
from icecheck.contract.operations import documented, operations, undated
from icecheck.contract.overlay import errata_among, unknown_errata
from icecheck.contract.releases import amendments, is_newer, may_have_changed, since

FOLDER = Path(__file__).parent / "requirements"
REQUIREMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)+")
RELEASE = re.compile(r"\d+\.\d+\.\d+")
DEFAULT_KEYS = frozenset({"level", "basis", "profile", "refs", "hurts"})
RESPONSE_KEYS = frozenset(
    {
        "id", "level", "text", "condition", "hurts", "profile", "errata", "changed", "not_tested",
        "disputed",
        "since", "until",
    }
)  # fmt: skip
REQUIREMENT_KEYS = RESPONSE_KEYS | {"basis", "refs", "sentence"}
_SENTENCE = "sentence:"

Member = TypeVar("Member", Level, Basis)


class RegisterError(ContractError, ValueError):
    """A row of the register is malformed."""


@dataclass(frozen=True, slots=True)
class Register:
    """The rows of one version by id, and the ids of other versions' rows with the reason."""

    rows: Mapping[str, Requirement]
    elsewhere: Mapping[str, str]


@dataclass(slots=True)
class _Reading:
    """The state of reading: ``faults`` are rows that point at nothing, ``ids`` all ids so far.

    ``generated`` are the ids of the documented responses, with or without a row. ``lost`` is set by
    the first row whose sentence is not found.
    """

    version: str
    rows: dict[str, Requirement] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    generated: frozenset[str] = frozenset()
    lost: bool = False

    def refuse(self, faults: Iterable[str]) -> None:
        """Raise UnresolvedRows if there are faults; it tells what to do about lost sentences."""
        listed = tuple(faults)
        tool = f"`python -m tools.sentences DOCUMENT --version {self.version}`"
        old = f"if DOCUMENT has these sentences, sentences.json is old: {tool} writes it"
        advice = f"{old}\n{CHANGED_WORDS}"
        if listed:
            raise UnresolvedRows(self.version, listed, advice if self.lost else "")


@cache
def register_of(version: str) -> Register:
    """Return the register of one specification version, with the additions of `changes.toml`."""
    reading = _read(version, FOLDER)
    amended = amendments(version, reading.ids)
    reading.refuse([*reading.faults, *amended.faults])
    rows = {
        id_: replace(
            row,
            since=amended.since.get(id_, row.since),
            changed=row.changed or amended.changed.get(id_),
        )
        for id_, row in reading.rows.items()
    }
    return Register(MappingProxyType(rows), MappingProxyType(reading.elsewhere))


def load_register(version: str, folder: Path) -> Register:
    """Return the register from the `*.toml` files of a folder.

    Raises RegisterError for a malformed row and UnresolvedRows for those that point at nothing.
    """
    reading = _read(version, folder)
    reading.refuse(reading.faults)
    return Register(MappingProxyType(reading.rows), MappingProxyType(reading.elsewhere))


def _read(version: str, folder: Path) -> _Reading:
    import tomllib

    reading = _Reading(version)
    _generate(reading)
    for path in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise RegisterError(f"{path.name}: {error}") from None
        _refuse_unknown_keys(tables, {"defaults", "requirement", "response"}, path.name)
        defaults = tables.get("defaults", {})
        _refuse_unknown_keys(defaults, DEFAULT_KEYS, f"{path.name} [defaults]")
        described: set[str] = set()
        for row in tables.get("response", ()):
            _take_response(reading, row, path.name, described)
        for row in tables.get("requirement", ()):
            _take_requirement(reading, {**defaults, **row}, path.name)
    known = _of_other_documents(version) | reading.elsewhere
    reading.elsewhere = {id_: why for id_, why in known.items() if id_ not in reading.rows}
    return reading


def _of_other_documents(version: str) -> dict[str, str]:
    """Return the ids of the responses that other versions document, each with the reason."""
    found: dict[str, str] = {}
    for other in others(version):
        key = "since" if is_newer(other, version) else "until"
        try:
            responses = documented(other)
        except FileNotFoundError:  # a version that is begun has no document yet
            continue
        for operation_id, statuses in responses.items():
            found |= {f"{operation_id}.{status}": f"{key} {other}" for status in statuses}
    return found


def _generate(reading: _Reading) -> None:
    """Add a row for each documented response, unless facts or dates are missing."""
    version = reading.version
    try:
        known = operations(version)
        reading.faults += undated(version)
    except IncompleteFacts as told:
        known = {}
        reading.faults += told.faults
    for operation_id, responses in documented(version).items():
        for status in responses:
            id_ = f"{operation_id}.{status}"
            reading.ids.add(id_)
            if status not in STATUS_ROWS:
                reading.faults.append(f"{id_}: no text for {status} in generated.py")
            elif not reading.faults:
                operation = known[operation_id]
                date = since(version, (Ref(RefKind.RESPONSE, id_),))
                response = operation.responses[status]
                reading.rows[id_] = response_requirement(operation, response, date)
    reading.generated = frozenset(reading.ids)


def _take_response(
    reading: _Reading, row: Mapping[str, Any], file: str, described: set[str]
) -> None:
    row_id = _row_id(row, file)
    where = f"{file} {row_id}"
    _refuse_unknown_keys(row, RESPONSE_KEYS, where)
    if _is_of_another_version(reading, row, where):
        return
    if row_id in described:
        raise RegisterError(f"{where}: described twice")
    described.add(row_id)
    if row_id not in reading.generated:
        reading.faults.append(f"{where}: no such response")
        return
    reading.faults += (f"{where}: {fault}" for fault in unknown_errata(row.get("errata", ())))
    generated = reading.rows.get(row_id)
    if generated is not None:
        reading.rows[row_id] = _overridden(reading.version, generated, row, where)


def _take_requirement(reading: _Reading, row: Mapping[str, Any], file: str) -> None:
    row_id = _row_id(row, file)
    where = f"{file} {row_id}"
    _refuse_unknown_keys(row, REQUIREMENT_KEYS, where)
    if _is_of_another_version(reading, row, where):
        return
    if row_id in reading.ids:
        raise RegisterError(f"{where}: the id is taken")
    reading.ids.add(row_id)
    try:
        reading.rows[row_id] = _requirement(reading.version, row, where)
    except Undated:  # one fault for all rows tells it
        return
    except UnknownRef as error:
        reading.lost |= isinstance(error, LostSentence)
        reading.faults.append(f"{where}: {error}")


def _is_of_another_version(reading: _Reading, row: Mapping[str, Any], where: str) -> bool:
    """Return whether `since` and `until` leave a row out; if so, record the reason."""
    for key in ("since", "until"):
        release = _text(row, key, where)
        if release is None:
            continue
        if RELEASE.fullmatch(release) is None:
            raise RegisterError(f"{where}: {key!r} must be a release such as 1.10.0")
        newer, older = (release, reading.version) if key == "since" else (reading.version, release)
        # A row of several documents ends at one that is later than the one that is read.
        may_be_later = is_newer(release, reading.version) and (key == "since" or release in FOLDERS)
        if not may_be_later and not may_have_changed(reading.version, release):
            reading.faults.append(f"{where}: no document changed with {key} {release}")
        if is_newer(newer, older):
            reading.elsewhere[row["id"]] = f"{key} {release}"
            return True
    return False


def _row_id(row: Mapping[str, Any], where: str) -> str:
    row_id = row.get("id")
    if not isinstance(row_id, str) or REQUIREMENT_ID.fullmatch(row_id) is None:
        raise RegisterError(f"{where}: {row_id!r} is not an id such as createTable.409")
    return row_id


def _overridden(
    version: str, generated: Requirement, row: Mapping[str, Any], where: str
) -> Requirement:
    """Return a generated row with additions; an empty `not_tested` removes the generated reason."""
    return replace(
        generated,
        level=_member(Level, row.get("level", generated.level), where),
        text=_text(row, "text", where) or generated.text,
        condition=_text(row, "condition", where)
        or generated.condition
        or _condition_of(version, generated.id),
        hurts=_text(row, "hurts", where) or generated.hurts,
        profile=_profile(row.get("profile", generated.profile), where),
        errata=errata_among(version, row.get("errata", ())),
        changed=_text(row, "changed", where),
        disputed=_text(row, "disputed", where),
        not_tested=(_text(row, "not_tested", where) or None)
        if "not_tested" in row
        else generated.not_tested,
    )


def _requirement(version: str, row: Mapping[str, Any], where: str) -> Requirement:
    for key in ("level", "basis", "text", "refs"):
        if not row.get(key):
            raise RegisterError(f"{where}: {key!r} is missing")
    basis = _member(Basis, row["basis"], where)
    level = _member(Level, row["level"], where)
    text = _text(row, "text", where) or ""
    refs, spans, lines = _cited(version, row, where)
    return Requirement(
        id=row["id"],
        level=level,
        basis=basis,
        text=text,
        refs=refs,
        lines=lines,
        condition=_text(row, "condition", where) or _condition_of(version, row["id"]),
        # A row that cites a whole Ref and no sentence has the date of its Refs.
        since=_text(row, "since", where) or since(version, refs, None if lines in spans else lines),
        changed=_text(row, "changed", where),
        errata=errata_among(version, row.get("errata", ())),
        hurts=_text(row, "hurts", where) or NO_KNOWN_CLIENT,
        profile=_profile(
            row.get("profile") or _derived_profile(version, row["id"], refs, where), where
        ),
        not_tested=_text(row, "not_tested", where),
        disputed=_text(row, "disputed", where),
    )


def _condition_of(version: str, row_id: str) -> str | None:
    """Return the condition of every row of an operation that a catalog may answer with 406."""
    operation_id = row_id.partition(".")[0]
    supported = "406" in documented(version).get(operation_id, {})
    return f"the catalog supports {operation_id}" if supported else None


def _cited(
    version: str, row: Mapping[str, Any], where: str
) -> tuple[tuple[Ref, ...], tuple[Lines, ...], Lines]:
    """Return a row's Refs, the lines of each, and the lines that the row cites.

    A sentence among the Refs becomes its lines. Without `sentence` the first Ref is cited. Raises
    UnknownRef, which lists all faults, and is a LostSentence if one of them is.
    """
    refs: list[Ref] = []
    spans: list[Lines] = []
    faults: list[str] = []
    kind = UnknownRef
    sentence = [_SENTENCE + row["sentence"]] if "sentence" in row else []
    for text in (*row["refs"], *sentence):
        try:
            ref = _ref(version, text, where)
            spans.append(lines_of_ref(version, ref))
            refs.append(ref)
        except UnknownRef as error:
            faults.append(str(error))
            kind = LostSentence if isinstance(error, LostSentence) else kind
    faults += unknown_errata(row.get("errata", ()))
    if faults:
        raise kind("; ".join(dict.fromkeys(faults)))
    cited = spans.pop() if sentence else spans[0]
    return tuple(refs[: len(spans)]), tuple(spans), cited


def _ref(version: str, text: str, where: str) -> Ref:
    """Read a Ref.

    Raises RegisterError for line numbers: they differ per version, so sentences are cited by their
    words.
    """
    if text.startswith(f"{RefKind.LINES}:"):
        raise RegisterError(f"{where}: {text!r} cites by number: python -m tools.sentences")
    if not text.startswith(_SENTENCE):
        return Ref.parse(text)
    try:
        citation = Citation.parse(text.removeprefix(_SENTENCE))
    except MalformedCitation as error:
        raise RegisterError(f"{where}: {error}") from None
    first, last = lines_of_citation(version, citation)
    return Ref(RefKind.LINES, f"{first}-{last}")


def _derived_profile(version: str, row_id: str, refs: tuple[Ref, ...], where: str) -> str:
    """Return the profile of the operation in the id, else of the first one referred to."""
    names = [row_id, *(r.name for r in refs if r.kind in {RefKind.OPERATION, RefKind.RESPONSE})]
    for name in names:
        operation_id = name.partition(".")[0]
        if operation_id in documented(version):
            # An operation without facts has no profile; the missing facts are reported elsewhere.
            return str(operation_rows(version).get(operation_id, {}).get("profile", PROFILES[0]))
    raise RegisterError(f"{where}: no operation to take the profile from; name a profile")


def _profile(name: Any, where: str) -> str:
    if name not in PROFILES:
        raise RegisterError(f"{where}: {name!r} is not a profile; profiles are {list(PROFILES)}")
    return str(name)


def _member(kind: type[Member], name: Any, where: str) -> Member:
    try:
        return kind(name)
    except ValueError:
        known = [str(member) for member in kind]
        raise RegisterError(f"{where}: {name!r} is not one of {known}") from None


def _text(row: Mapping[str, Any], key: str, where: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise RegisterError(f"{where}: {key!r} must be a string")
    return value


def _refuse_unknown_keys(row: Mapping[str, Any], known: Any, where: str) -> None:
    unknown = sorted(set(row) - set(known))
    if unknown:
        raise RegisterError(f"{where}: unknown keys {unknown}; known are {sorted(known)}")
