"""Developer tool: turn an official OpenAPI document (YAML) into the files of one contract version.

`python -m tools.importing PATH [--version 1.10.0]` writes `openapi.json`, `lines.json`,
`sentences.json` and `official.sha256` beside the files that are written by hand.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.canonical import canonical_structure, sha256_of
from tools.folders import folder_of
from tools.official import METHODS, LineIndex, load_official
from tools.sentences import missing_lines, write_sentences

WRITTEN_BY_HAND = (
    "prose.json",
    "operations.json",
    "overlay.json",
    "later.json",
    "changes.toml",
    "release.tag",
)
"""The files of a version that no tool writes."""


def with_own_prose(official: dict[str, Any], prose: dict[str, Any]) -> dict[str, Any]:
    """Replace the official prose by our own, where OpenAPI demands some or where it helps.

    Raises ValueError naming everything that is missing in `prose`.
    """
    document = canonical_structure(official)
    document["info"] = {**document["info"], **prose["info"]}
    ours = _Prose(prose, [])
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                item[method] = _described(item[method], f"{method} {path}", ours)
    shared = document["components"]["responses"]
    for name, response in shared.items():
        shared[name] = {"description": ours.about("shared_responses", name), **response}
    for scheme in document["components"]["securitySchemes"].values():
        for flow in scheme.get("flows", {}).values():
            flow["scopes"] = {name: ours.about("scopes", name) for name in flow["scopes"]}
    if ours.missing:
        raise ValueError("prose.json says nothing about " + ", ".join(dict.fromkeys(ours.missing)))
    return document


@dataclass(frozen=True, slots=True)
class _Prose:
    """Our own prose by section and name; collects the names that it lacks."""

    sections: dict[str, dict[str, str]]
    missing: list[str]

    def about(self, section: str, name: str) -> str:
        """Return the prose for a name; "" for a missing one, which is noted."""
        if name not in self.sections[section]:
            self.missing.append(f"{section} {name!r}")
        return self.sections[section].get(name, "")


def _described(operation: dict[str, Any], where: str, ours: _Prose) -> dict[str, Any]:
    operation_id = operation.get("operationId")
    if operation_id is None:
        raise ValueError(f"{where} has no operationId")
    for status, response in operation["responses"].items():
        if "$ref" not in response:
            operation["responses"][status] = {
                "description": ours.about("statuses", status),
                **response,
            }
    return {"summary": ours.about("summaries", operation_id), **operation}


def write_version(path: Path, folder: Path) -> list[str]:
    """Write the generated files of a document beside those that are written by hand.

    Returns the rows' citations that do not occur in the document, as identifiers of their words.
    Raises ValueError naming what is missing, before anything is written.
    """
    lacking = [name for name in WRITTEN_BY_HAND if not (folder / name).is_file()]
    if lacking:
        told = "; begin them as copies of another version's"
        raise ValueError(f"{folder} has no {', '.join(lacking)}{told}")
    official, index = load_official(path)
    prose = json.loads((folder / "prose.json").read_text(encoding="utf-8"))
    write_structure(with_own_prose(official, prose), folder)
    return write_places(official, index, path, folder)


def write_structure(document: dict[str, Any], folder: Path) -> None:
    """Write a document with our own prose."""
    _write(folder / "openapi.json", json.dumps(document, indent=1, ensure_ascii=False))


def write_places(official: dict[str, Any], index: LineIndex, path: Path, folder: Path) -> list[str]:
    """Write the lines of a document's parts and citations, and the hash of its structure.

    Returns the rows' citations that do not occur in the document, as identifiers of their words.
    """
    rows = [f"{json.dumps(k)}: [{a}, {b}]" for k, (a, b) in index.lines.items()]
    _write(folder / "lines.json", "{\n" + ",\n".join(rows) + "\n}")
    _write(folder / "official.sha256", sha256_of(official))
    return write_sentences(path, folder)


def main(arguments: list[str] | None = None) -> int:
    """Write the generated files of one version; returns 0, and exits with 2 on bad input."""
    parser = argparse.ArgumentParser(prog="tools.importing", description=__doc__)
    parser.add_argument("path", type=Path, help="the official document, YAML")
    parser.add_argument("--version", default="1.10.0", help="specification version it belongs to")
    options = parser.parse_args(arguments)
    if not options.path.is_file():
        parser.error(f"{options.path} is no file")
    try:
        unknown = write_version(options.path, folder_of(options.version))
    except ValueError as fault:
        parser.error(str(fault))
    for line in missing_lines(unknown, options.path, options.version):
        print(line)
    return 0


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
