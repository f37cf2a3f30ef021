"""The requirements register: the generated response rows and the sentences written by hand.

Every file of `requirements/` holds `[[requirement]]` tables, `[[response]]` tables that say more
about a generated row, and optionally one `[defaults]` table. A key, Ref, erratum, level, basis or
profile that does not exist raises when the register is loaded, naming the file and the row.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from icecheck.contract.document import line_index, lines_of, raw_document
from icecheck.contract.facts import PROFILES
from icecheck.contract.generated import NO_KNOWN_CLIENT, response_requirements
from icecheck.contract.model import (
    Basis,
    Level,
    Lines,
    Ref,
    RefKind,
    Requirement,
    UnknownRef,
)
from icecheck.contract.operations import operations
from icecheck.contract.overlay import errata
from icecheck.contract.releases import amendments, is_newer, since

__all__ = ["RegisterError", "lines_of_ref", "load_register", "requirements"]

FOLDER = Path(__file__).parent / "requirements"
REQUIREMENT_ID = re.compile(r"[A-Za-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)+")
DEFAULT_KEYS = frozenset({"level", "basis", "profile", "refs", "hurts"})
RESPONSE_KEYS = frozenset(
    {"id", "level", "text", "condition", "hurts", "profile", "errata", "changed", "not_tested"}
)
REQUIREMENT_KEYS = RESPONSE_KEYS | {"basis", "refs", "lines", "since"}

Member = TypeVar("Member", Level, Basis)


class RegisterError(ValueError):
    """A row of the register is malformed."""


@cache
def requirements(version: str) -> Mapping[str, Requirement]:
    """Return requirement id -> Requirement for one specification version."""
    register = load_register(version, FOLDER)
    amended = amendments(version, register.keys())
    return MappingProxyType(
        {
            id_: replace(
                row,
                since=amended.since.get(id_, row.since),
                changed=row.changed or amended.changed.get(id_),
            )
            for id_, row in register.items()
        }
    )


def load_register(version: str, folder: Path) -> Mapping[str, Requirement]:
    """Read the register from the `*.toml` files of a folder.

    Raises RegisterError for a malformed row and UnknownRef for a row that points at nothing.
    """
    import tomllib

    register = {
        requirement.id: requirement
        for operation in operations(version).values()
        for requirement in response_requirements(operation, lambda ref: since(version, (ref,)))
    }
    generated = frozenset(register)
    overridden: set[str] = set()
    for path in sorted(folder.glob("*.toml")):
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise RegisterError(f"{path.name}: {error}") from None
        _refuse_unknown_keys(tables, {"defaults", "requirement", "response"}, path.name)
        defaults = tables.get("defaults", {})
        _refuse_unknown_keys(defaults, DEFAULT_KEYS, f"{path.name} [defaults]")
        for row in tables.get("response", ()):
            row_id = _row_id(row, path.name)
            if row_id not in generated:
                raise UnknownRef(f"{path.name} {row_id}: no such response in {version}")
            if row_id in overridden:
                raise RegisterError(f"{path.name} {row_id}: described twice")
            overridden.add(row_id)
            where = f"{path.name} {row_id}"
            register[row_id] = _overridden(version, register[row_id], row, where)
        for row in tables.get("requirement", ()):
            row_id = _row_id(row, path.name)
            where = f"{path.name} {row_id}"
            if row_id in register:
                raise RegisterError(f"{where}: the id is taken")
            requirement = _requirement(version, {**defaults, **row}, where)
            if not is_newer(requirement.since, version):
                register[row_id] = requirement
    return MappingProxyType(register)


def _row_id(row: Mapping[str, Any], where: str) -> str:
    row_id = row.get("id")
    if not isinstance(row_id, str) or REQUIREMENT_ID.fullmatch(row_id) is None:
        raise RegisterError(f"{where}: {row_id!r} is not an id such as createTable.409")
    return row_id


def _overridden(
    version: str, generated: Requirement, row: Mapping[str, Any], where: str
) -> Requirement:
    """Say more about a generated row; an empty `not_tested` withdraws the generated reason."""
    _refuse_unknown_keys(row, RESPONSE_KEYS, where)
    return replace(
        generated,
        level=_member(Level, row.get("level", generated.level), where),
        text=_text(row, "text", where) or generated.text,
        condition=_text(row, "condition", where) or generated.condition,
        hurts=_text(row, "hurts", where) or generated.hurts,
        profile=_profile(row.get("profile", generated.profile), where),
        errata=_errata(version, row, where),
        changed=_text(row, "changed", where),
        not_tested=(
            (_text(row, "not_tested", where) or None)
            if "not_tested" in row
            else generated.not_tested
        ),
    )


def _requirement(version: str, row: Mapping[str, Any], where: str) -> Requirement:
    _refuse_unknown_keys(row, REQUIREMENT_KEYS, where)
    for key in ("level", "basis", "text", "refs"):
        if not row.get(key):
            raise RegisterError(f"{where}: {key!r} is missing")
    try:
        refs = tuple(Ref.parse(text) for text in row["refs"])
        spans = [lines_of_ref(version, ref) for ref in refs]
        lines = _lines(version, row["lines"]) if "lines" in row else spans[0]
    except UnknownRef as error:
        raise UnknownRef(f"{where}: {error}") from None
    return Requirement(
        id=row["id"],
        level=_member(Level, row["level"], where),
        basis=_member(Basis, row["basis"], where),
        text=_text(row, "text", where) or "",
        refs=refs,
        lines=lines,
        condition=_text(row, "condition", where),
        # Where nothing but a whole Ref is cited, its own first release says it all.
        since=_text(row, "since", where) or since(version, refs, None if lines in spans else lines),
        changed=_text(row, "changed", where),
        errata=_errata(version, row, where),
        hurts=_text(row, "hurts", where) or NO_KNOWN_CLIENT,
        profile=_profile(
            row.get("profile") or _derived_profile(version, row["id"], refs, where), where
        ),
        not_tested=_text(row, "not_tested", where),
    )


def lines_of_ref(version: str, ref: Ref) -> Lines:
    """Return where in the official document a Ref points; UnknownRef when it points at nothing."""
    match ref.kind:
        case RefKind.OPERATION:
            operation = operations(version).get(ref.name)
            if operation is not None:
                return operation.lines
        case RefKind.RESPONSE:
            operation_id, _, status = ref.name.partition(".")
            operation = operations(version).get(operation_id)
            if operation is not None and status in operation.responses:
                return operation.responses[status].lines
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


def _derived_profile(version: str, row_id: str, refs: tuple[Ref, ...], where: str) -> str:
    """Take the profile of the operation in the id, else of the first one referred to."""
    names = [row_id, *(r.name for r in refs if r.kind in {RefKind.OPERATION, RefKind.RESPONSE})]
    for name in names:
        operation = operations(version).get(name.partition(".")[0])
        if operation is not None:
            return operation.profile
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


def _errata(version: str, row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    found = tuple(row.get("errata", ()))
    unknown = [erratum for erratum in found if erratum not in errata(version)]
    if unknown:
        raise UnknownRef(f"{where}: the overlay of {version} has no erratum {unknown}")
    return found


def _text(row: Mapping[str, Any], key: str, where: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise RegisterError(f"{where}: {key!r} must be a string")
    return value


def _refuse_unknown_keys(row: Mapping[str, Any], known: Any, where: str) -> None:
    unknown = sorted(set(row) - set(known))
    if unknown:
        raise RegisterError(f"{where}: unknown keys {unknown}; known are {sorted(known)}")
