"""The options of the pytest plugin, and how they avoid other plugins' options of the same name.

pytest knows each option by a unique name, such as ``--icecheck-catalog-url``. The short one,
``--catalog-url``, is read as the long one unless another plugin or a conftest has an option of that
name; then it is theirs. Keys of the ini file are treated alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from icecheck.targets.options import TARGET_OPTIONS, Kind, TargetOption

PREFIX = "icecheck-"

_TEXT: dict[str, Any] = {}
_LIST: dict[str, Any] = {"action": "append"}
_FLAG: dict[str, Any] = {"action": "store_true", "default": None}

_Option = tuple[str, dict[str, Any], str, str]

_OPTIONS: tuple[_Option, ...] = (
    ("conformance-run-id", _TEXT, "ID", "token in every name of the run"),
    ("conformance-seed", _TEXT, "N", "generated data; default: 0"),
    ("conformance-expectations", _TEXT, "FILE", "known failures; default: icecheck.toml, if here"),
    ("conformance-spec", _TEXT, "RELEASE", "hold to another release: 1.9.0, auto, or several"),
    ("conformance-requirement-set", _TEXT, "ID", "judge by a frozen set of requirements"),
    ("conformance-witnessed-only", _FLAG, "", "no failure for what no other catalog has passed"),
    ("conformance-regressions", _TEXT, "DIR", "run the histories of these replay files again too"),
    ("conformance-report", _TEXT, "DIR", "write the compliance report there"),
)


class OptionTaken(pytest.PytestWarning):
    """Another plugin or a conftest has an option with the same short name as one of icecheck's."""


def add_options(
    parser: pytest.Parser,
    pluginmanager: pytest.PytestPluginManager,
    table: Sequence[TargetOption] = TARGET_OPTIONS,
) -> None:
    """Add the options of the target and of the suite, under their unique names.

    Those of the target are also keys of the ini file: ``catalog_…`` for ``--catalog-…``.
    """
    group = parser.getgroup("icecheck", "Apache Iceberg REST catalog conformance (icecheck)")
    target: list[_Option] = [
        (f"catalog-{option.name}", _settings(option), option.metavar, option.words)
        for option in table
        if not option.not_under_pytest
    ]
    kinds: dict[str, tuple[dict[str, Any], str]] = {}
    for name, settings, metavar, words in (*target, *_OPTIONS):
        shown = {"metavar": metavar} if metavar else {}
        group.addoption(
            f"--{PREFIX}{name}",
            dest=_dest(name),
            help=f"or --{name}: {words}",
            **shown,
            **settings,
        )
        kinds[name] = (settings, words)
    ini = {name: kinds[name] for name, *_ in target}
    for name, (settings, words) in ini.items():
        parser.addini(_dest(name), words, type=_ini_type(settings), default=None)
    flags = frozenset(name for name, (settings, _) in kinds.items() if settings is _FLAG)
    spellings = ShortNames(parser, frozenset(kinds), flags, ini)
    spellings.watch()
    pluginmanager.register(spellings, ShortNames.NAME)


def _settings(option: TargetOption) -> dict[str, Any]:
    # Numbers and choices are read later: a value for another plugin's option of the same name must
    # not be refused before it is known whose option it is.
    if option.kind is Kind.FLAG:
        return _FLAG
    return _LIST if option.kind.repeats else _TEXT


def option(config: pytest.Config, name: str) -> Any:
    """Return an option of the command line, or None; ``name`` is as ``conformance-seed``."""
    return config.getoption(_dest(name))


def given(config: pytest.Config, name: str) -> Any:
    """Return a target option's value from the command line, else from the ini file, or None."""
    said = option(config, f"catalog-{name}")
    if said is None:
        said = config.getini(_dest(f"catalog-{name}"))
    if said is None:
        spellings = config.pluginmanager.get_plugin(ShortNames.NAME)
        key = f"catalog-{name}"
        if spellings is not None and key in spellings.own_keys:
            said = config.getini(key.replace("-", "_"))
    return said


class ShortNames:
    """The short names: each time the command line is read, they are resolved anew.

    It is read before conftests are loaded and after it. pytest has no hook for this, and a name
    that is registered twice ends the program; so the two methods that read are wrapped.
    """

    NAME = "icecheck-spellings"

    def __init__(
        self,
        parser: pytest.Parser,
        names: frozenset[str],
        flags: frozenset[str],
        ini: dict[str, tuple[dict[str, Any], str]],
    ) -> None:
        self.own_keys: set[str] = set()
        self._parser = parser
        self._names = names
        self._flags = flags
        self._ini = ini

    def watch(self) -> None:
        """Wrap the parser's methods that read a command line."""
        for name, is_final in (("parse", True), ("parse_known_and_unknown_args", False)):
            setattr(self._parser, name, self._reading(getattr(self._parser, name), is_final))

    def taken(self) -> list[str]:
        """Return the short names that options of other plugins or conftests have."""
        theirs = {
            name
            for group in (self._parser._anonymous, *self._parser._groups)  # noqa: SLF001 - pytest has no list of options
            for each in group.options
            for name in each.names()
        }
        return sorted(name for name in self._names if f"--{name}" in theirs)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_load_initial_conftests(
        self, early_config: pytest.Config
    ) -> Generator[None, None, None]:
        """Add the short keys of the ini file, after other plugins have added theirs."""
        yield
        self._add_keys(early_config)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Warn once of short names that belong to other plugins or conftests."""
        self._add_keys(config)
        taken = self.taken()
        if not taken or hasattr(config, "workerinput"):
            return
        theirs = ", ".join(f"--{name}" for name in taken)
        ours = ", ".join(f"--{PREFIX}{name}" for name in taken)
        words = f"{theirs}: an option of another plugin or a conftest; icecheck's is {ours}"
        # Where warnings are errors, an option that the project does not use must not end it.
        with contextlib.suppress(OptionTaken):
            config.issue_config_time_warning(OptionTaken(words), 2)

    def _add_keys(self, config: pytest.Config) -> None:
        if self.own_keys:
            return
        for name, (settings, words) in self._ini.items():
            key = name.replace("-", "_")
            try:
                config.getini(key)
            except ValueError:
                self._parser.addini(key, words, type=_ini_type(settings), default=None)
                self.own_keys.add(name)

    def _reading(self, read: Callable[..., Any], is_final: bool) -> Callable[..., Any]:
        def read_ours(args: Sequence[Any], *rest: Any, **named: Any) -> Any:
            return read(self._spelled_out(args, is_final), *rest, **named)

        return read_ours

    def _spelled_out(self, args: Sequence[Any], is_final: bool) -> list[str]:
        """Return the arguments with the long names in place of the short ones.

        Before conftests are loaded, a value that is also a file stays a separate argument: the
        option may turn out to be a conftest's, without a value, and the file may decide which
        conftest is loaded.
        """
        arguments = [str(each) for each in args]
        end = arguments.index("--") if "--" in arguments else len(arguments)
        names = self._names.difference(self.taken())
        for place, argument in enumerate(arguments[:end]):
            name, equals, value = argument.removeprefix("--").partition("=")
            if not argument.startswith("--") or name not in names:
                continue
            takes_next = not equals and name not in self._flags
            following = arguments[place + 1] if takes_next and place + 1 < end else None
            if not is_final and takes_next and (following is None or _is_path(following)):
                continue
            arguments[place] = f"--{PREFIX}{name}{equals}{value}"
        return arguments


def _is_path(text: str) -> bool:
    try:
        return Path(text.partition("::")[0]).exists()
    except (OSError, ValueError):
        return False


def _dest(name: str) -> str:
    return f"{PREFIX}{name}".replace("-", "_")


def _ini_type(settings: dict[str, Any]) -> Any:
    return "linelist" if settings is _LIST else "bool" if settings is _FLAG else "string"
