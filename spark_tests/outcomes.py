"""The expected outcome of a statement of a script, read from the directive below it."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# {catalog} is Spark's name for the catalog. {namespace} and {namespace2} do not contain it;
# {parent}, {table} and {table2} do. {name} and {name2} are the bare names of the two tables. {view}
# and {view2} are views, {view_name} and {view_name2} their bare names. Nothing exists under
# {namespace2} or the names of tables and views before the script creates it.
PLACEHOLDERS = (
    "catalog",
    "parent",
    "namespace",
    "namespace2",
    "table",
    "table2",
    "name",
    "name2",
    "view",
    "view2",
    "view_name",
    "view_name2",
)

Row = tuple[str | None, ...]

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_QUERY = re.compile(r"\s*(select|with|show|describe|desc|values|table)\b", re.IGNORECASE)
_ORDER_BY = re.compile(r"\border\s+by\b", re.IGNORECASE)
_QUOTED_OR_ONE = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|.",
    re.DOTALL,
)


class ScriptError(ValueError):
    """A script is malformed; the message begins with file:line."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The expected rows, in this order if ``ordered``; others may be there if ``partial``."""

    rows: tuple[Row, ...]
    ordered: bool
    partial: bool = False


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
    """A catalog may refuse this; ``reason`` says what it then does not offer."""

    reason: str


Outcome = Rows | Refusal | Save | MayRefuse


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive in a script: its line, name and text, and the comment lines of its rows."""

    path: Path
    line: int
    name: str
    text: str
    rows: tuple[tuple[int, str], ...] = ()

    def error(self, message: str) -> ScriptError:
        """Return the error that this directive is wrong."""
        return script_error(self.path, self.line, message)


def script_error(path: Path, line: int, message: str) -> ScriptError:
    """Return an error that names file and line."""
    return ScriptError(f"{path.name}:{line}: {message}")


def read_outcome(directive: Directive, sql: str) -> Outcome:
    """Return the expected outcome of ``sql``; raise ScriptError if the directive is wrong."""
    reader = _READERS.get(directive.name)
    if reader is None:
        raise directive.error(f"there is no directive '{directive.name}:'")
    return reader(directive, sql)


def is_query(sql: str) -> bool:
    """Return whether a statement only reads, so that it proves nothing without expected rows."""
    return _QUERY.match(sql) is not None


def placeholders_in(text: str) -> tuple[str, ...]:
    """Return the names in braces in a text."""
    return tuple(_PLACEHOLDER.findall(text))


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a comma-separated list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _expect(directive: Directive, sql: str) -> Outcome:
    if directive.text not in {"", "no rows"}:
        raise directive.error("rows stand below the directive, a comment line each")
    if bool(directive.rows) == bool(directive.text):
        raise directive.error("rows are missing below; 'expect: no rows' says none")
    return Rows(_rows(directive), _is_ordered(sql))


def _expect_including(directive: Directive, sql: str) -> Outcome:
    del sql
    if directive.text or not directive.rows:
        raise directive.error("'expect-including:' needs rows below it, a comment line each")
    return Rows(_rows(directive), ordered=False, partial=True)


def _expect_error(directive: Directive, sql: str) -> Outcome:
    del sql
    if re.fullmatch(r"[A-Z]\w+", directive.text) is None:
        raise directive.error("'expect-error:' takes the simple name of a class")
    return Refusal(directive.text)


def _save(directive: Directive, sql: str) -> Outcome:
    del sql
    names = listed(directive.text)
    if not names or not all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names):
        raise directive.error("'save:' takes names such as first_snapshot")
    taken = [name for name in names if name in PLACEHOLDERS]
    if taken:
        raise directive.error(f"'save:' may not replace {{{taken[0]}}}")
    return Save(names)


def _may_refuse(directive: Directive, sql: str) -> Outcome:
    if is_query(sql):
        raise directive.error("'may-refuse:' is for statements that change something")
    if not directive.text:
        raise directive.error("'may-refuse:' says what is then not offered")
    return MayRefuse(directive.text)


_READERS: dict[str, Callable[[Directive, str], Outcome]] = {
    "expect": _expect,
    "expect-including": _expect_including,
    "expect-error": _expect_error,
    "save": _save,
    "may-refuse": _may_refuse,
}


def _rows(directive: Directive) -> tuple[Row, ...]:
    rows: list[Row] = []
    for line, text in directive.rows:
        row = _cells(Directive(directive.path, line, directive.name, text))
        if rows and len(row) != len(rows[0]):
            counts = f"{len(row)} cells, but the first row has {len(rows[0])}"
            raise script_error(directive.path, line, counts)
        rows.append(row)
    return tuple(rows)


def _cells(row: Directive) -> Row:
    cells, quoted, skip = [""], False, False
    for character in row.text:
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
        raise row.error(f"a double quote is not closed in {row.text!r}")
    return tuple(_cell(row, cell.strip()) for cell in cells)


def _cell(row: Directive, cell: str) -> str | None:
    if cell == "NULL":
        return None
    if cell.startswith('"'):
        try:
            return str(json.loads(cell))
        except ValueError:
            raise row.error(f"{cell} is not a JSON string") from None
    if not cell:
        raise row.error('an empty cell: write "" for empty text and NULL for none')
    return cell


def _is_ordered(sql: str) -> bool:
    """Return whether the outermost query sorts: ORDER BY outside quotes and parentheses."""
    outside, depth = [], 0
    for part in _QUOTED_OR_ONE.findall(sql):
        depth += (part == "(") - (part == ")")
        outside.append(part if depth == 0 and part[0] not in "'\"`" else " ")
    return _ORDER_BY.search("".join(outside)) is not None
