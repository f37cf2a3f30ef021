"""Reads a Spark script: SQL statements in one file, each with its expected outcome.

A script is SQL with directives in comments. Before the first statement are ``-- check: ID``,
``-- title: WORDS``, ``-- proves: REQUIREMENT, ...`` and, if needed, ``-- needs: CAPABILITY, ...``
and ``-- engine: spark >= 4.0, iceberg >= 1.11`` (or ``<``): with another Spark or Iceberg the check
ends as not applicable before anything is created. Below a statement is at most one of these:

- ``-- expect:`` and a comment line for each row, up to the first line that is no comment. Cells are
  separated by ``|``; a cell is text as Spark casts it to STRING, ``NULL``, or a JSON string in
  double quotes if the text is empty, is the word NULL, or contains a bar. ``-- expect: no rows``
  stands for an empty result.
- ``-- expect-including:`` in the same form, if other rows are allowed too.
- ``-- expect-error: CLASS``, the simple name of an exception in Java's chain of causes.
- ``-- save: NAME, ...`` stores the cells of the only row as placeholders for later statements.
- ``-- may-refuse: WORDS``, for an optional feature: the check ends as not offered if the catalog
  refuses.

Rows are compared in order if the statement sorts them at its outermost level, else as a multiset.
Placeholders in braces stand for the run's own names (see ``outcomes.PLACEHOLDERS``).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from icecheck.spark_tests.engines import Bound, read_bounds
from icecheck.spark_tests.outcomes import (
    PLACEHOLDERS,
    Directive,
    Outcome,
    Rows,
    Save,
    is_query,
    listed,
    placeholders_in,
    read_outcome,
    script_error,
)

_HEADER = ("check", "title", "proves", "needs", "engine")
_WITH_ROWS = ("expect", "expect-including")
_DIRECTIVE = re.compile(r"--\s*([a-z]+(?:-[a-z]+)*):(.*)$")
_CHECK_ID = re.compile(r"spark(\.[a-z0-9]+(?:-[a-z0-9]+)*)+")


@dataclass(frozen=True, slots=True)
class Statement:
    """One SQL statement without its semicolon, its first line number, and its expected outcome."""

    sql: str
    line: int
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """One script: its check and its statements in order."""

    path: Path
    check: str
    title: str
    proves: tuple[str, ...]
    needs: tuple[str, ...]
    statements: tuple[Statement, ...]
    engine: tuple[Bound, ...] = ()

    @property
    def slug(self) -> str:
        """The script's file name as a part of an identifier."""
        return re.sub(r"\W", "_", self.path.stem)

    def uses(self, *placeholders: str) -> bool:
        """Return whether any statement contains one of the placeholders."""
        return any(
            name in placeholders
            for statement in self.statements
            for name in placeholders_in(statement.sql)
        )


def read_scripts(folder: Path) -> tuple[Script, ...]:
    """Return every ``*.sql`` script of a folder by name; raise ScriptError for an id used twice."""
    scripts = tuple(
        parse_script(path, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.sql"))
    )
    seen: dict[str, Path] = {}
    for script in scripts:
        if script.check in seen:
            first = seen[script.check].name
            raise script_error(script.path, 1, f"check {script.check!r} is already {first}")
        seen[script.check] = script.path
    return scripts


def parse_script(path: Path, text: str) -> Script:
    """Return the script in a text; a ScriptError names the file, the line and the error."""
    header: dict[str, str] = {}
    engine: tuple[Bound, ...] = ()
    statements: list[Statement] = []
    known = set(PLACEHOLDERS)
    for piece in _pieces(path, text.splitlines()):
        if isinstance(piece, Statement):
            _require_known(path, piece.line, piece.sql, known)
            statements.append(piece)
        elif piece.name in _HEADER:
            _add_header(header, piece, bool(statements))
            if piece.name == "engine":
                engine = _read_engine(piece)
        else:
            statement = _last_statement(piece, statements)
            outcome = read_outcome(piece, statement.sql)
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
        proves=listed(header["proves"]),
        needs=listed(header.get("needs", "")),
        statements=tuple(statements),
        engine=engine,
    )


def _pieces(path: Path, lines: list[str]) -> Iterator[Statement | Directive]:
    at = 0
    while at < len(lines):
        line, first = lines[at].strip(), at + 1
        if line and not line.startswith("--"):
            sql, at = _statement_text(path, lines, at)
            yield Statement(sql, first)
            continue
        at += 1
        found = _DIRECTIVE.match(line)
        if found is None:
            continue
        name, text = found[1], found[2].strip()
        rows: list[tuple[int, str]] = []
        while name in _WITH_ROWS and at < len(lines) and lines[at].strip().startswith("--"):
            rows.append((at + 1, lines[at].strip()[2:].strip()))
            at += 1
        yield Directive(path, first, name, text, tuple(rows))


def _statement_text(path: Path, lines: list[str], start: int) -> tuple[str, int]:
    """Return the statement that starts at a line, and the index of the line after it."""
    quote = ""
    for at in range(start, len(lines)):
        line = lines[at]
        if not quote and line.strip().startswith("--"):
            break
        quote, end = _scan_line(line, quote)
        if end is not None:
            if line[end + 1 :].strip():
                raise script_error(path, at + 1, "one statement a line: text follows the ';'")
            return "\n".join([*lines[start:at], line[:end]]).strip(), at + 1
    raise script_error(path, start + 1, "the statement that starts here is not ended by ';'")


def _scan_line(line: str, quote: str) -> tuple[str, int | None]:
    """Return the quote still open at the end of a line, and the index of a ';' outside quotes."""
    skip = False
    for index, character in enumerate(line):
        if skip:
            skip = False
        elif quote:
            skip = character == "\\" and quote != "`"
            quote = "" if character == quote else quote
        elif character in "'\"`":
            quote = character
        elif character == ";":
            return "", index
    return quote, None


def _add_header(header: dict[str, str], piece: Directive, late: bool) -> None:
    if late:
        raise piece.error(f"'{piece.name}:' belongs above the SQL")
    if piece.name in header or not piece.text:
        raise piece.error(f"'{piece.name}:' must be given once, and not empty")
    header[piece.name] = piece.text


def _read_engine(piece: Directive) -> tuple[Bound, ...]:
    try:
        return read_bounds(piece.text)
    except ValueError as error:
        raise piece.error(str(error)) from None


def _last_statement(piece: Directive, statements: list[Statement]) -> Statement:
    if not statements:
        raise piece.error(f"'{piece.name}:' is no line of the header, and no statement is above it")
    if statements[-1].outcome is not None:
        raise piece.error("the statement above has a directive already")
    return statements[-1]


def _require_known(path: Path, line: int, text: str, known: set[str]) -> None:
    for name in placeholders_in(text):
        if name not in known:
            there_are = ", ".join(sorted(known))
            raise script_error(
                path, line, f"nothing is called {{{name}}} here; there are {there_are}"
            )


def _require_header(path: Path, header: dict[str, str]) -> None:
    for name in ("check", "title", "proves"):
        if name not in header:
            raise script_error(path, 1, f"the script has no line '-- {name}: ...'")
    if _CHECK_ID.fullmatch(header["check"]) is None:
        raise script_error(path, 1, f"check {header['check']!r} is not an id such as spark.merge")


def _require_expectations(path: Path, statements: list[Statement]) -> None:
    for statement in statements:
        if statement.outcome is None and is_query(statement.sql):
            raise script_error(path, statement.line, "a query without 'expect:' proves nothing")
    if not any(isinstance(statement.outcome, Rows) for statement in statements):
        raise script_error(path, 1, "the script has no 'expect:', so nothing in it can be wrong")
