"""Reads a Spark script: SQL statements in one file, each with what must come of it.

A script is SQL whose comments carry directives. Before the first statement: ``-- check: ID``,
``-- title: WORDS`` and ``-- proves: REQUIREMENT, ...``. After a statement, at most one of

- ``-- expect:`` and a comment line for each row, up to the first line that is no comment, cells
  divided by ``|``; a cell is text as Spark casts it to STRING, ``NULL``, or a JSON string in double quotes where the text is empty, is the
  word NULL, or holds a bar; ``-- expect: no rows`` for none;
- ``-- expect-error: CLASS``, the simple name of an exception in Java's chain of causes;
- ``-- save: NAME, ...``, which keeps the cells of the only row for later placeholders;
- ``-- may-refuse: WORDS``, for what a catalog may decline to offer: the check ends there as not
  offered if the catalog answers with a refusal.

Rows are compared in order where the statement sorts them at its outermost level, else as a
multiset.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "PLACEHOLDERS",
    "MayRefuse",
    "Refusal",
    "Rows",
    "Save",
    "Script",
    "ScriptError",
    "Statement",
    "parse_script",
    "read_scripts",
]

PLACEHOLDERS = ("catalog", "namespace", "namespace2", "table", "table2", "name", "name2")

Cell = str | None
Row = tuple[Cell, ...]

_HEADER = ("check", "title", "proves", "needs")
_DIRECTIVE = re.compile(r"--\s*([a-z]+(?:-[a-z]+)*):(.*)$")
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_QUERY = re.compile(r"\s*(select|with|show|describe|desc|values|table)\b", re.IGNORECASE)
_ORDER_BY = re.compile(r"\border\s+by\b", re.IGNORECASE)
_CHECK_ID = re.compile(r"spark(\.[a-z0-9]+(?:-[a-z0-9]+)*)+")


class ScriptError(ValueError):
    """A script is malformed; the message begins with file:line."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that must come, in this order if ``ordered``."""

    rows: tuple[Row, ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """The statement must fail; ``exception`` is the simple name of a Java or PySpark class."""

    exception: str


@dataclass(frozen=True, slots=True)
class Save:
    """The cells of the only row become placeholders with these names."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MayRefuse:
    """A catalog may decline this; ``reason`` says what it then does not offer."""

    reason: str


Outcome = Rows | Refusal | Save | MayRefuse | None


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement without its semicolon, the line it starts on, and what must come of it."""

    sql: str
    line: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Script:
    """One script: the check that it is, and its statements in order."""

    path: Path
    check: str
    title: str
    proves: tuple[str, ...]
    needs: tuple[str, ...]
    statements: tuple[Statement, ...]

    @property
    def slug(self) -> str:
        """The script's file name as part of an identifier."""
        return re.sub(r"\W", "_", self.path.stem)

    def uses(self, *placeholders: str) -> bool:
        """Whether any statement or expected row mentions one of the placeholders."""
        return any(
            name in placeholders
            for statement in self.statements
            for name in _mentioned(statement.sql, statement.outcome)
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A statement or a directive, before they are put together."""

    line: int
    directive: str
    text: str
    rows: tuple[tuple[int, str], ...] = ()


def read_scripts(folder: Path) -> tuple[Script, ...]:
    """Read every ``*.sql`` of a folder, in order of name; an id used twice is a ScriptError."""
    scripts = tuple(
        parse_script(path, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.sql"))
    )
    seen: dict[str, Path] = {}
    for script in scripts:
        if script.check in seen:
            raise ScriptError(
                f"{script.path.name}:1: check {script.check!r} is also {seen[script.check].name}"
            )
        seen[script.check] = script.path
    return scripts


def parse_script(path: Path, text: str) -> Script:
    """Read one script; a ScriptError names the file, the line and what is wrong."""
    header: dict[str, str] = {}
    statements: list[Statement] = []
    known = set(PLACEHOLDERS)
    for piece in _pieces(path, text.splitlines()):
        if piece.directive in _HEADER:
            if statements:
                raise _error(path, piece.line, f"'{piece.directive}:' belongs above the SQL")
            if piece.directive in header or not piece.text:
                raise _error(path, piece.line, f"'{piece.directive}:' must be given once, not empty")
            header[piece.directive] = piece.text
        elif not piece.directive:
            statements.append(Statement(piece.text, piece.line, None))
            _require_known(path, piece.line, piece.text, known)
        else:
            statement = _last_statement(path, piece, statements)
            outcome = _outcome(path, piece, statement.sql)
            for line, row in piece.rows:
                _require_known(path, line, row, known)
            if isinstance(outcome, Save):
                known.update(outcome.names)
            statements[-1] = Statement(statement.sql, statement.line, outcome)
    _require_header(path, header)
    _require_expectations(path, statements)
    return Script(
        path=path,
        check=header["check"],
        title=header["title"],
        proves=_listed(header["proves"]),
        needs=_listed(header.get("needs", "")),
        statements=tuple(statements),
    )


def _pieces(path: Path, lines: list[str]) -> Iterator[_Piece]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        first = at + 1
        if not line:
            at += 1
        elif line.startswith("--"):
            at += 1
            found = _DIRECTIVE.match(line)
            if found is None:
                continue
            name, rest = found.group(1), found.group(2).strip()
            rows: list[tuple[int, str]] = []
            while name == "expect" and at < len(lines) and lines[at].strip().startswith("--"):
                rows.append((at + 1, lines[at].strip()[2:].strip()))
                at += 1
            yield _Piece(first, name, rest, tuple(rows))
        else:
            sql, at = _statement_text(path, lines, at)
            yield _Piece(first, "", sql)


def _statement_text(path: Path, lines: list[str], start: int) -> tuple[str, int]:
    """Return the statement that starts on a line, and the index of the line after it."""
    quote = ""
    for at in range(start, len(lines)):
        line = lines[at]
        if not quote and line.strip().startswith("--"):
            break
        quote, end = _scan_line(line, quote)
        if end is not None:
            if line[end + 1 :].strip():
                raise _error(path, at + 1, "one statement a line: text follows the ';'")
            return "\n".join([*lines[start:at], line[:end]]).strip(), at + 1
    raise _error(path, start + 1, "the statement that starts here is not ended by ';'")


def _scan_line(line: str, quote: str) -> tuple[str, int | None]:
    """Return the quotation still open at the end of a line, and where a ';' stands outside one."""
    skip = False
    for index, character in enumerate(line):
        if skip:
            skip = False
        elif quote:
            if character == "\\" and quote != "`":
                skip = True
            elif character == quote:
                quote = ""
        elif character in "'\"`":
            quote = character
        elif character == ";":
            return "", index
    return quote, None


def _last_statement(path: Path, piece: _Piece, statements: list[Statement]) -> Statement:
    if not statements:
        raise _error(path, piece.line, f"'{piece.directive}:' stands before any statement")
    if statements[-1].outcome is not None:
        raise _error(path, piece.line, "the statement above has a directive already")
    return statements[-1]


def _outcome(path: Path, piece: _Piece, sql: str) -> Outcome:
    match piece.directive:
        case "expect":
            return Rows(_rows(path, piece), _is_ordered(sql))
        case "expect-error" if re.fullmatch(r"[A-Z]\w+", piece.text):
            return Refusal(piece.text)
        case "expect-error":
            raise _error(path, piece.line, "'expect-error:' takes the simple name of a class")
        case "save":
            names = _listed(piece.text)
            if not names or not all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names):
                raise _error(path, piece.line, "'save:' takes names such as first_snapshot")
            taken = [name for name in names if name in PLACEHOLDERS]
            if taken:
                raise _error(path, piece.line, f"'save:' may not replace {{{taken[0]}}}")
            return Save(names)
        case "may-refuse" if _QUERY.match(sql):
            raise _error(path, piece.line, "'may-refuse:' is for statements that change something")
        case "may-refuse" if piece.text:
            return MayRefuse(piece.text)
        case "may-refuse":
            raise _error(path, piece.line, "'may-refuse:' says what is then not offered")
        case unknown:
            raise _error(path, piece.line, f"there is no directive '{unknown}:'")


def _rows(path: Path, piece: _Piece) -> tuple[Row, ...]:
    if piece.text not in {"", "no rows"}:
        raise _error(path, piece.line, "rows stand below 'expect:', each in a comment of its own")
    if bool(piece.rows) == bool(piece.text):
        raise _error(path, piece.line, "'expect:' needs rows, or the words 'no rows' and none")
    rows = tuple(_cells(path, line, text) for line, text in piece.rows)
    for (line, _), row in zip(piece.rows, rows, strict=True):
        if len(row) != len(rows[0]):
            raise _error(path, line, f"{len(row)} cells, but the first row has {len(rows[0])}")
    return rows


def _cells(path: Path, line: int, text: str) -> Row:
    cells, quoted, skip = [""], False, False
    for character in text:
        if character == "|" and not quoted:
            cells.append("")
            continue
        cells[-1] += character
        if skip:
            skip = False
        elif character == "\\" and quoted:
            skip = True
        elif character == '"':
            quoted = not quoted
    if quoted:
        raise _error(path, line, f"a double quote is not closed in {text!r}")
    return tuple(_cell(path, line, cell.strip()) for cell in cells)


def _cell(path: Path, line: int, cell: str) -> Cell:
    if cell == "NULL":
        return None
    if cell.startswith('"'):
        try:
            return str(json.loads(cell))
        except ValueError:
            raise _error(path, line, f"{cell} is not a JSON string") from None
    if not cell:
        raise _error(path, line, 'an empty cell: write "" for empty text and NULL for none')
    return cell


def _is_ordered(sql: str) -> bool:
    """Whether the outermost query sorts: ORDER BY outside quotations and parentheses."""
    outside, depth = [], 0
    for part in re.findall(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|.", sql, re.DOTALL):
        depth += (part == "(") - (part == ")")
        outside.append(part if depth == 0 and part[0] not in "'\"`" else " ")
    return _ORDER_BY.search("".join(outside)) is not None


def _mentioned(sql: str, outcome: Outcome) -> Iterable[str]:
    yield from _PLACEHOLDER.findall(sql)
    if isinstance(outcome, Rows):
        for row in outcome.rows:
            for cell in row:
                yield from _PLACEHOLDER.findall(cell or "")


def _require_known(path: Path, line: int, text: str, known: set[str]) -> None:
    for name in _PLACEHOLDER.findall(text):
        if name not in known:
            listed = ", ".join(sorted(known))
            raise _error(path, line, f"nothing is called {{{name}}} here; there are {listed}")


def _require_header(path: Path, header: dict[str, str]) -> None:
    for name in ("check", "title", "proves"):
        if name not in header:
            raise _error(path, 1, f"the script has no line '-- {name}: ...'")
    if _CHECK_ID.fullmatch(header["check"]) is None:
        raise _error(path, 1, f"check {header['check']!r} is not an id such as spark.merge")


def _require_expectations(path: Path, statements: list[Statement]) -> None:
    for statement in statements:
        if statement.outcome is None and _QUERY.match(statement.sql):
            raise _error(path, statement.line, "a query without 'expect:' proves nothing")
    if not any(isinstance(statement.outcome, Rows) for statement in statements):
        raise _error(path, 1, "the script has no 'expect:', so it cannot show what is wrong")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _error(path: Path, line: int, message: str) -> ScriptError:
    return ScriptError(f"{path.name}:{line}: {message}")
