"""The options that name and describe a catalog, and which command has which of them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from icecheck.cli.option_groups import Function, adding
from icecheck.targets.options import TARGET_OPTIONS, Kind, Stage, TargetOption

if TYPE_CHECKING:
    from icecheck.targets.target import Target

_STAGES_OF = {
    "run": (Stage.REACHING, Stage.LOOKING, Stage.RUNNING),
    "explore": (Stage.REACHING, Stage.LOOKING, Stage.RUNNING),
    "replay": (Stage.REACHING, Stage.LOOKING, Stage.RUNNING),
    "plan": (Stage.REACHING, Stage.LOOKING, Stage.RUNNING),
    "doctor": (Stage.REACHING, Stage.LOOKING),
    "clean": (Stage.REACHING,),
    "spark-matrix": (Stage.REACHING, Stage.LOOKING),
    "evidence": (Stage.REACHING,),
    "proxy": (Stage.REACHING,),
    "pipeline": (Stage.REACHING, Stage.LOOKING),
}
"""The stages whose options a command has: those that change what it does."""
_OF_OTHER_CHECKS = frozenset(
    {"disruptive", "fuzz-cases", "fuzz-seconds", "given-namespace", "given-table", "given-view",
     "race-rounds", "read-only", "reader-credential", "reader-token", "second-credential",
     "second-token", "second-warehouse", "thorough"}
)  # fmt: skip
# A proxy sends no request of its own: clients have credentials, and are asked for none.
_OF_REQUESTS = frozenset(
    {"allow-host", "claim", "credential", "header", "name-pattern", "oauth2-server-uri",
     "rate-limit", "scope", "sigv4", "timeout", "token", "warehouse"}
)  # fmt: skip
_WITHOUT: Mapping[str, Collection[str]] = {
    "explore": _OF_OTHER_CHECKS,
    "replay": _OF_OTHER_CHECKS,
    "plan": ("thorough",),  # it tries out what it tells, which is no night's work
    "evidence": ("allow-host", "claim", "config", "rate-limit"),  # Spark's own client reaches it
    "proxy": _OF_REQUESTS,
    "pipeline": {*_OF_OTHER_CHECKS, "accept-residue", "claim", "location-root", "name-pattern"},
}
"""Options of these stages that change nothing of what a command does."""

_WITHOUT_ARGUMENT = frozenset({"evidence"})
"""The commands whose argument is something else than the URL of a catalog."""

_TYPES: Mapping[Kind, Any] = {
    Kind.NUMBER: float,
    Kind.WHOLE_NUMBER: int,
    Kind.FILE: click.Path(exists=True, dir_okay=False),
}


def target_options(
    command: str, table: Sequence[TargetOption] = TARGET_OPTIONS
) -> Callable[[Function], Function]:
    """Return a decorator that adds to a command the options of a target that it uses."""
    taken = [
        option
        for stage in _STAGES_OF[command]
        for option in table
        if option.stage is stage and option.name not in _WITHOUT.get(command, ())
    ]
    argument = () if command in _WITHOUT_ARGUMENT else (click.argument("url", required=False),)
    return adding((*argument, *map(_click_option, taken)))


def _click_option(option: TargetOption) -> Callable[[Any], Any]:
    spelled = f"--{option.flag or option.name}"
    if option.kind is Kind.FLAG:
        return click.option(spelled, is_flag=True, help=option.words)
    return click.option(
        spelled,
        type=click.Choice(option.choices) if option.choices else _TYPES.get(option.kind, str),
        multiple=option.kind.repeats,
        metavar=option.metavar,
        help=option.words,
    )


def parameter_of(option: TargetOption) -> str:
    """Return the name by which a command gets an option's value."""
    return (option.flag or option.name).replace("-", "_")


def target_facts(
    options: Mapping[str, Any], table: Sequence[TargetOption] = TARGET_OPTIONS
) -> dict[str, Any]:
    """Return what the options say of a target, as keyword arguments of Target except the URL."""
    from icecheck.targets.values import facts_from

    def said(option: TargetOption) -> Any:
        value = options.get(parameter_of(option))  # a command has only some of the options
        return value or None if option.kind is Kind.FLAG or option.kind.repeats else value

    described = [option for option in table if option.fact != "url"]
    return facts_from(described, said, lambda option: f"--{option.flag or option.name}")


def target_of(options: Mapping[str, Any], *, or_else: str = "", **otherwise: Any) -> "Target":
    """Return the target that flags, environment and files describe together.

    ``otherwise`` are values for facts that none of them gives, ``or_else`` names for the error what
    a user could give instead of a URL. Raises UsageError when they name no catalog, or contradict
    themselves.
    """
    from icecheck.targets import sources
    from icecheck.targets.target import Target, UsageError

    flags = target_facts(options)
    url = read_url(options["url"], options["catalog_url"])
    if url is not None:
        flags["url"] = url
    facts = sources.described(flags, *named_sources(options), config=options["config"])
    if "url" not in facts:
        raise UsageError(
            f"name the catalog: give its URL{or_else}, CATALOG_URI, or url in [target] of "
            "icecheck.toml"
        )
    return Target(**otherwise | facts)


def named_sources(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the settings of PyIceberg and of Spark say of a target, if they are named."""
    from icecheck.targets import sources
    from icecheck.targets.target import UsageError

    named = []
    if options["pyiceberg_catalog"]:
        named.append(sources.from_pyiceberg(options["pyiceberg_catalog"]))
    if options["spark_conf"]:
        path = Path(options["spark_conf"])
        named.append(sources.from_spark_conf(path, options["spark_catalog"]))
    elif options["spark_catalog"]:
        raise UsageError(
            "--spark-catalog names one of the catalogs in --spark-conf FILE: give both"
        )
    return named


def expect_one_catalog(options: Mapping[str, Any]) -> None:
    """Raise UsageError where a URL is given beside ``--mock``, or two URLs."""
    if read_url(options["url"], options["catalog_url"]) is not None and options["mock"]:
        raise click.UsageError("name one catalog: either its URL or --mock")


def expect_what_mock_lacks(options: Mapping[str, Any]) -> None:
    """Raise UsageError where ``--mock`` is given beside what the bundled mock brings itself."""
    from icecheck.targets.target import UsageError

    if any(options.get(parameter_of(option)) for option in TARGET_OPTIONS if option.mock_brings):
        raise UsageError("--mock brings its own warehouse and credentials: leave yours out")


def read_url(url: str | None, catalog_url: str | None) -> str | None:
    """Return the URL that was given, or None.

    Raises UsageError when two differ.
    """
    if url is not None and catalog_url is not None and url != catalog_url:
        raise click.UsageError("two catalogs are named: give URL or --catalog-url, not both")
    return url if url is not None else catalog_url
