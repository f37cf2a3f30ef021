"""Developer tool: cite lines of the official document by their words, and find them again.

`python -m tools.sentences DOCUMENT FIRST LAST` prints the member `sentence` that cites these lines
in a row of the register. `python -m tools.sentences DOCUMENT [--version 1.10.0]` writes
`sentences.json`, the lines of everything that the register cites in this document, and prints the
citations without lines and the rows that cite them. The words themselves are the document's, and
are written nowhere.
"""

import argparse
import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from icecheck.contract import Lines
from icecheck.contract.citations import CHANGED_WORDS, Citation
from icecheck.contract.releases import is_newer
from tools.folders import REQUIREMENTS, folder_of
from tools.official import load_official, other_document

DIGITS = 12
_MARKS = str.maketrans("", "", "`*\"'")
_EDGES = "_#>|"


class Ambiguous(ValueError):
    """Raised for lines that cannot be cited, or for one identifier of different words."""


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, without white space, case, quotes and Markdown.

    A lone dash is the mark of a list; numbers keep their sign.
    """
    stripped = (word.translate(_MARKS).strip(_EDGES) for word in text.casefold().split())
    return tuple(word for word in stripped if word not in {"", "-"})


def _identifier(words: tuple[str, ...]) -> str:
    digest = hashlib.sha256(" ".join(words).encode("utf-8")).hexdigest()
    return f"{digest[:DIGITS]}-{len(words)}"


class Document:
    """A document's words with their lines, and the lines of its named parts."""

    def __init__(self, path: Path) -> None:
        self._source = path.read_text(encoding="utf-8").splitlines()
        official, index = load_official(path)
        self._parts = dict(_named(official, index.lines))
        placed = [(w, n) for n, line in enumerate(self._source, 1) for w in words_of(line)]
        self._words = tuple(word for word, _ in placed)
        self._lines = tuple(line for _, line in placed)

    def cite(self, first: int, last: int) -> str:
        """Return the citation of these lines for a row, with their part where it is needed.

        Raises Ambiguous for lines without words, and words that one part has twice.
        """
        words = words_of("\n".join(self._source[first - 1 : last]))
        if not words:
            raise Ambiguous(f"lines {first} to {last} have no words")
        identifier = _identifier(words)
        places = self.places([identifier])[identifier]
        if len(places) == 1:
            return identifier
        parts = sorted(
            (name.startswith("/"), end - start, name)
            for name, (start, end) in self._parts.items()
            if [(first, last)] == [p for p in places if start <= p[0] and p[1] <= end]
        )
        if not parts:
            raise Ambiguous(
                f"lines {first} to {last} stand at {len(places)} places: cite more of them"
            )
        return f"{identifier} in {parts[0][-1]}"

    def places(self, identifiers: Iterable[str]) -> dict[str, tuple[Lines, ...]]:
        """Return identifier -> first and last line of each occurrence of its words.

        Raises Ambiguous where one identifier stands for different words of the document.
        """
        found: dict[str, list[Lines]] = {identifier: [] for identifier in identifiers}
        meant: dict[str, bytes] = {}
        text = " ".join(self._words).encode("utf-8")
        lengths = (len(word.encode("utf-8")) + 1 for word in self._words)
        starts = [*itertools.accumulate(lengths, initial=0)]
        for many in {int(identifier.partition("-")[2]) for identifier in found}:
            for start in range(len(self._words) - many + 1):
                words = text[starts[start] : starts[start + many] - 1]
                identifier = f"{hashlib.sha256(words).hexdigest()[:DIGITS]}-{many}"
                if identifier not in found:
                    continue
                if meant.setdefault(identifier, words) != words:
                    raise Ambiguous(f"{identifier} stands for different words")
                found[identifier].append((self._lines[start], self._lines[start + many - 1]))
        return {identifier: tuple(places) for identifier, places in found.items()}


def _named(official: Mapping[str, Any], lines: Mapping[str, Lines]) -> Iterator[tuple[str, Lines]]:
    """Yield the parts of a document that a citation can name: Refs, else JSON pointers."""
    for pointer, span in lines.items():
        match pointer.split("/"):
            case ["", "paths", path, method]:
                yield f"operation:{_operation_id(official, path, method)}", span
            case ["", "paths", path, method, "responses", status]:
                yield f"response:{_operation_id(official, path, method)}.{status}", span
            case ["", "components", "schemas", name]:
                yield f"schema:{name}", span
            case _:
                yield pointer, span


def _operation_id(official: Mapping[str, Any], path: str, method: str) -> str:
    return str(official["paths"][path.replace("~1", "/").replace("~0", "~")][method]["operationId"])


def citing(folder: Path = REQUIREMENTS, version: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the identifiers that the rows of a folder cite, each with the ids of these rows.

    A row of some versions only has its `since` and `until` behind its id. With a ``version``, they
    are those of the rows that are about it.
    """
    found: dict[str, dict[str, None]] = {}
    for path in sorted(folder.glob("*.toml")):
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        defaults = {"id": f"[defaults] of {path.name}", **tables.get("defaults", {})}
        for row in (defaults, *tables.get("requirement", ())):
            if version is not None and not is_about(row, version):
                continue
            texts = [row["sentence"]] if "sentence" in row else []
            texts += [
                ref.removeprefix("sentence:")
                for ref in row.get("refs", ())
                if ref.startswith("sentence:")
            ]
            limits = ", ".join(f"{key} {row[key]}" for key in ("since", "until") if key in row)
            for text in texts:
                rows = found.setdefault(Citation.parse(text).words, {})
                rows[f"{row['id']} ({limits})" if limits else row["id"]] = None
    return {words: tuple(rows) for words, rows in found.items()}


def is_about(row: Mapping[str, Any], version: str) -> bool:
    """Return whether `since` and `until` leave a row to a version."""
    older, newer = row.get("since", version), row.get("until", version)
    return not is_newer(older, version) and not is_newer(version, newer)


def cited(folder: Path = REQUIREMENTS) -> frozenset[str]:
    """Return the identifiers that the rows of a folder cite."""
    return frozenset(citing(folder))


def missing_lines(missing: Iterable[str], document: Path, version: str) -> Iterator[str]:
    """Yield a line for each citation that a version's document lacks, with the rows that cite it.

    Rows that are about other versions are right as they are. The last line says what to do with
    these.
    """
    rows = citing(version=version)
    lacked = [words for words in missing if words in rows]
    for words in lacked:
        yield f"{words} stands nowhere in {document}: {', '.join(rows[words])}"
    if lacked:
        yield CHANGED_WORDS


def rendered(places: Mapping[str, tuple[Lines, ...]]) -> str:
    """Return the text of sentences.json: in the order of the document, one sentence to a line."""
    found = sorted((spans, words) for words, spans in places.items() if spans)
    rows = [f"{json.dumps(words)}: {json.dumps([*map(list, spans)])}" for spans, words in found]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def write_sentences(document: Path, folder: Path, rows: Path = REQUIREMENTS) -> list[str]:
    """Write `sentences.json` into a version's folder; return the missing citations, sorted."""
    places = Document(document).places(cited(rows))
    (folder / "sentences.json").write_text(rendered(places), encoding="utf-8")
    return sorted(words for words, spans in places.items() if not spans)


def main(arguments: list[str] | None = None) -> int:
    """Cite lines, or write the table of one version; returns 0, and exits with 2 on bad input."""
    parser = argparse.ArgumentParser(prog="tools.sentences", description=__doc__)
    parser.add_argument("document", type=Path, help="the official document, YAML")
    parser.add_argument("lines", type=int, nargs="*", help="first and last line to cite")
    parser.add_argument("--version", default="1.10.0", help="specification version")
    options = parser.parse_args(arguments)
    match options.lines:
        case []:
            folder = folder_of(options.version)
            if told := other_document(options.document, folder):
                parser.error(told)
            missing = write_sentences(options.document, folder)
            for line in missing_lines(missing, options.document, options.version):
                print(line)
        case [first, last]:
            print(f'sentence = "{Document(options.document).cite(first, last)}"')
        case _:
            parser.error("give the first and the last line, or none")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
