"""Returns the command line without secrets, for reports."""

import shlex

import click
from click.core import ParameterSource

from icecheck.cli.target_options import parameter_of
from icecheck.targets.options import TARGET_OPTIONS, Kind
from icecheck.targets.secret_names import HARMLESS_HEADERS

__all__ = ["shown_command"]

_SECRET_OPTIONS = frozenset(parameter_of(each) for each in TARGET_OPTIONS if each.secret)
_HEADERS = frozenset(parameter_of(each) for each in TARGET_OPTIONS if each.kind is Kind.HEADERS)
_HIDDEN = "<hidden>"


def shown_command(context: click.Context) -> str:
    """Return the command as it was given, its secrets hidden, quoted for a shell."""
    parts = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        option = parameter.opts[-1]
        if not isinstance(parameter, click.Option):
            parts.append(str(value))
        elif parameter.is_flag:
            parts.append(option)
        else:
            for one in value if parameter.multiple else (value,):
                parts += [option, _hidden(name, str(one))]
    return shlex.join(parts)


def _hidden(name: str, value: str) -> str:
    if name in _SECRET_OPTIONS:
        return _HIDDEN
    if name in _HEADERS and value.partition(":")[0].strip().lower() not in HARMLESS_HEADERS:
        return f"{value.partition(':')[0]}: {_HIDDEN}"
    return value
