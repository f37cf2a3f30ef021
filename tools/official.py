"""Reads the official document as published (YAML), with the lines of each part of it.

PyYAML is needed here and by `tools.dating`, and nowhere else.
"""

import json
from pathlib import Path
from typing import Any

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
YAML_NODE = Any  # PyYAML has no usable types; its nodes stay inside this module


def load_official(path: Path) -> tuple[dict[str, Any], "LineIndex"]:
    """Return the official document with string keys throughout, and the lines of its parts."""
    import yaml

    text = path.read_text(encoding="utf-8")
    # libyaml's loader, where PyYAML has it, says the same in an eighth of the time.
    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    loader = yaml.SafeLoader("")
    document = _python(loader, root)
    return document, LineIndex(root, text.splitlines())


def other_document(path: Path, folder: Path) -> str:
    """Say that a document is not the one whose lines a version's folder has; "" if it is.

    A version that is only begun has no lines yet.
    """
    known = folder / "lines.json"
    if not known.is_file():
        return ""
    _official, index = load_official(path)
    for pointer, (first, last) in json.loads(known.read_text(encoding="utf-8")).items():
        here = index.lines.get(pointer)
        if here != (first, last):
            found = "it has none" if here is None else f"its own are {here[0]}-{here[1]}"
            return (
                f"{path} is not the document of {folder.name}, where {pointer} has the lines "
                f"{first}-{last}: {found}. If it is to be, run tools.importing with it"
            )
    return ""


def _python(loader: Any, node: YAML_NODE) -> Any:
    """Build plain values from YAML nodes; statuses such as 200 become the string keys of JSON."""
    if node.id == "mapping":
        return {key.value: _python(loader, value) for key, value in node.value}
    if node.id == "sequence":
        return [_python(loader, item) for item in node.value]
    return loader.construct_object(node)


class LineIndex:
    """JSON pointer to first and last line, for the parts of the document that are cited."""

    def __init__(self, root: YAML_NODE, source: list[str]) -> None:
        self._source = source
        self.lines: dict[str, tuple[int, int]] = {}
        self._paths(_member(root, "paths"))
        components = _member(root, "components")
        for section in ("parameters", "responses", "securitySchemes"):
            for key, value in _member(components, section).value:
                self._record(f"/components/{section}/{_escaped(key.value)}", key, value)
        for key, value in _member(components, "schemas").value:
            pointer = f"/components/schemas/{_escaped(key.value)}"
            self._record(pointer, key, value)
            self._properties(pointer, value)

    def _paths(self, paths: YAML_NODE) -> None:
        for path, item in paths.value:
            pointer = f"/paths/{_escaped(path.value)}"
            self._record(pointer, path, item)
            for key, value in item.value:
                if key.value == "parameters":
                    self._items(f"{pointer}/parameters", value)
                elif key.value in METHODS:
                    self._record(f"{pointer}/{key.value}", key, value)
                    self._operation(f"{pointer}/{key.value}", value)

    def _operation(self, pointer: str, operation: YAML_NODE) -> None:
        for key, value in operation.value:
            if key.value == "parameters":
                self._items(f"{pointer}/parameters", value)
            elif key.value == "requestBody":
                self._record(f"{pointer}/requestBody", key, value)
            elif key.value == "responses":
                for status, response in value.value:
                    self._record(f"{pointer}/responses/{status.value}", status, response)

    def _items(self, pointer: str, sequence: YAML_NODE) -> None:
        for index, item in enumerate(sequence.value):
            self._record(f"{pointer}/{index}", item, item)

    def _properties(self, pointer: str, schema: YAML_NODE) -> None:
        """Record the properties of a schema, also those of its nested schemas."""
        if schema.id == "sequence":
            for index, item in enumerate(schema.value):
                self._properties(f"{pointer}/{index}", item)
        elif schema.id == "mapping":
            for key, value in schema.value:
                if key.value in {"example", "examples", "default"}:
                    continue
                here = f"{pointer}/{_escaped(key.value)}"
                if key.value == "properties" and value.id == "mapping":
                    for name, member in value.value:
                        self._record(f"{here}/{_escaped(name.value)}", name, member)
                        self._properties(f"{here}/{_escaped(name.value)}", member)
                else:
                    self._properties(here, value)

    def _record(self, pointer: str, key: YAML_NODE, value: YAML_NODE) -> None:
        first = min(key.start_mark.line, value.start_mark.line)
        self.lines[pointer] = (first + 1, self._last_line(value) + 1)

    def _last_line(self, node: YAML_NODE) -> int:
        """Return the last line with content; end marks of blocks are at the next token."""
        if node.id == "scalar" or node.flow_style or not node.value:
            last = node.end_mark.line - (1 if node.end_mark.column == 0 else 0)
        elif node.id == "mapping":
            last = max(self._last_line(value) for _, value in node.value)
        else:
            last = max(self._last_line(item) for item in node.value)
        while last > node.start_mark.line and not self._source[last].strip():
            last -= 1
        return int(last)


def _member(mapping: YAML_NODE, name: str) -> YAML_NODE:
    return next(value for key, value in mapping.value if key.value == name)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
