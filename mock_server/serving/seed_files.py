"""Reads seeds from files, and names the line of a mistake in one."""

import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from icecheck.mock_server.protocol.json_place import json_error
from icecheck.mock_server.serving.seeding import Place, Seed, SeedUnusable, read_seed


class SeedFile:
    """A file with a seed: its content, and what that says; SeedUnusable if it says none."""

    __slots__ = ("_content", "path", "seed")

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._content = path.read_bytes()
        except OSError as error:
            raise SeedUnusable(f"{path} cannot be read: {error.strerror}") from None
        value = self._value()
        try:
            self.seed: Seed = read_seed(value)
        except SeedUnusable as error:
            raise self.named(error) from None

    def named(self, error: SeedUnusable) -> SeedUnusable:
        """Return an error with the file and the line of its place."""
        line = _line(self._content, error.place)
        return SeedUnusable(f"{self.path}{line}: {error}")

    def _value(self) -> Any:
        if self.path.suffix == ".json":
            try:
                return json.loads(self._content, object_pairs_hook=self._members)
            except SeedUnusable:
                raise
            except (ValueError, RecursionError) as error:
                said = json_error(self._content) or str(error)
                raise SeedUnusable(f"{self.path} is no JSON: {said}") from None
        if self.path.suffix not in (".yaml", ".yml"):
            raise SeedUnusable(f"{self.path}: a seed is a .yaml or a .json file")
        yaml = _yaml()
        if yaml is None:
            install = "pip install pyyaml"
            raise SeedUnusable(f"{self.path}: a seed in YAML needs PyYAML: {install}")
        try:
            _expect_each_once(yaml, yaml.compose(self._content, yaml.SafeLoader))
            return yaml.safe_load(self._content)
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            said = " ".join(str(error).split())
            raise SeedUnusable(f"{self.path} is no YAML: {said}") from None

    def _members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise SeedUnusable(f"{self.path}: {twice!r} stands twice in one object")
        return members


def _yaml() -> ModuleType | None:
    try:
        return import_module("yaml")
    except ModuleNotFoundError:
        return None


def _expect_each_once(yaml: ModuleType, node: Any) -> None:
    """Raise YAML's own error for a mapping that has a name twice: the first would be lost."""
    waiting, done = [node], set()
    while waiting:
        each = waiting.pop()
        if id(each) in done:
            continue
        done.add(id(each))
        if isinstance(each, yaml.SequenceNode):
            waiting += each.value
        elif isinstance(each, yaml.MappingNode):
            seen = set()
            for name, value in each.value:
                waiting.append(value)
                if not isinstance(name, yaml.ScalarNode):
                    continue
                if name.value in seen:
                    said = f"{name.value!r} stands there twice"
                    raise yaml.constructor.ConstructorError(None, None, said, name.start_mark)
                seen.add(name.value)


def _line(content: bytes, place: Place) -> str:
    """Return where a place is in a file, as words; "" if that cannot be said.

    JSON is read as YAML for this, which it is but for rare exceptions.
    """
    yaml = _yaml()
    if yaml is None or not place:
        return ""
    try:
        node = yaml.compose(content, yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return ""
    for step in place:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
        elif isinstance(node, yaml.MappingNode):
            found = [value for name, value in node.value if name.value == step]
            if not found:
                break
            node = found[0]
        else:
            break
    return f", line {node.start_mark.line + 1}"
