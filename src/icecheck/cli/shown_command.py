"""Returns the command line without secrets, for reports and advice."""

import shlex
from collections.abc import Callable, Iterable, Iterator

import click
from click.core import ParameterSource

from icecheck.cli.target_options import parameter_of
from icecheck.targets.options import TARGET_OPTIONS, Kind
from icecheck.targets.secret_names import HARMLESS_HEADERS

_SECRET_OPTIONS = frozenset(parameter_of(each) for each in TARGET_OPTIONS if each.secret)
_HEADERS = frozenset(parameter_of(each) for each in TARGET_OPTIONS if each.kind is Kind.HEADERS)
_HIDDEN = "<hidden>"


def shown_command(context: click.Context) -> str:
    """Return the command as it was given, its secrets hidden, quoted for a shell."""
    return shlex.join([*context.command_path.split(), *_given(context, lambda _: _HIDDEN)])


def words_given(context: click.Context, wanted: Callable[[str], bool]) -> Iterator[str]:
    """Yield the words of the command line that give the ``wanted`` parameters, secrets too."""
    return _given(context, None, wanted)


def command_to_run(context: click.Context, further: Iterable[str], *, command: str = "run") -> str:
    """Return the ``run`` of the target that was given, with further options, for a shell.

    Secrets are taken from variables that are named like the options: ``"$CATALOG_TOKEN"``.
    """
    variable = "$CATALOG_{}".format
    parts = [*_given(context, variable), *further]
    quoted = [f'"{p}"' if "$CATALOG_" in p else shlex.quote(p) for p in parts]
    return " ".join([f"icecheck {command}", *quoted])


def _given(
    context: click.Context,
    hidden: Callable[[str], str] | None,
    wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[str]:
    """Yield the words of the command line after the command, of the ``wanted`` parameters.

    ``hidden`` stands for secrets; without it they are yielded as they are.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if not wanted(name):
            continue
        value = context.params[name]
        option = parameter.opts[-1]
        if not isinstance(parameter, click.Option):
            yield from _words_of(value, hidden)
        elif parameter.is_flag:
            yield option
        else:
            for one in value if parameter.multiple else (value,):
                yield option
                text = str(one)
                yield _without_secrets(name, text, hidden(name.upper())) if hidden else text


def _words_of(value: object, hidden: Callable[[str], str] | None) -> Iterator[str]:
    """Yield an argument; of a command of the user's own only what it is called."""
    if not isinstance(value, tuple):
        yield str(value)
    elif value and hidden is None:
        yield from ("--", *map(str, value))
    elif value:
        yield from ("--", str(value[0]), *([_HIDDEN] if len(value) > 1 else ()))


def _without_secrets(name: str, value: str, hidden: str) -> str:
    if name in _SECRET_OPTIONS:
        return hidden
    if name in _HEADERS and value.partition(":")[0].strip().lower() not in HARMLESS_HEADERS:
        return f"{value.partition(':')[0]}: {hidden}"
    return value
