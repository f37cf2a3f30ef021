"""One table makes the flags, pytest's options and ini keys, and what files and environment give."""

from dataclasses import fields

import click
import pytest
from click.testing import CliRunner

from icecheck.cli import main
from icecheck.cli.target_options import parameter_of, target_facts, target_options
from icecheck.pytest.options import PREFIX, ShortNames, add_options
from icecheck.pytest.run import target_settings
from icecheck.targets.options import TARGET_OPTIONS, Kind, Stage, TargetOption
from icecheck.targets.sources import from_environment, from_toml
from icecheck.targets.target import Target

pytest_plugins = ("pytester",)

NEW = TargetOption(
    "realm",
    "Which part of the catalog is meant",
    "REALM",
    fact="realm",
    stage=Stage.RUNNING,
    key="realm",
    client_property="realm",
)
WITH_NEW = (*TARGET_OPTIONS, NEW)


def flags_of(command):
    found = main.get_command(click.Context(main), command)
    return {p.opts[-1]: p for p in found.params if isinstance(p, click.Option)}


def flag(option):
    return f"--{option.flag or option.name}"


def pytest_options(config):
    """The long names that pytest knows of the catalog, and their help."""
    groups = [group for group in config._parser._groups if group.name == "icecheck"]
    every = {name: each for group in groups for each in group.options for name in each.names()}
    return {n: each for n, each in every.items() if n.startswith(f"--{PREFIX}catalog-")}


def test_every_option_is_a_flag_of_run_with_the_words_of_the_table():
    flags = flags_of("run")
    assert [flag(o) for o in TARGET_OPTIONS if flag(o) not in flags] == []
    for option in TARGET_OPTIONS:
        found = flags[flag(option)]
        assert found.help == option.words
        assert (found.is_flag, found.multiple) == (option.kind is Kind.FLAG, option.kind.repeats)
        assert found.name == parameter_of(option)


def test_every_option_is_pytests_or_says_why_not(pytester):
    config = pytester.parseconfig()
    found = pytest_options(config)
    due = {f"--{PREFIX}catalog-{o.name}": o for o in TARGET_OPTIONS if not o.not_under_pytest}
    assert found.keys() == due.keys()
    for name, option in due.items():
        assert option.words in found[name].attrs()["help"]
        assert config.getini(f"catalog_{option.name.replace('-', '_')}") is None


def test_the_options_of_a_target_are_all_that_can_be_said_of_one():
    facts = {option.fact.partition(".")[0] for option in TARGET_OPTIONS if option.fact}
    assert facts == {field.name for field in fields(Target)}


def test_every_fact_has_a_key_in_the_file_and_none_has_two():
    keys = [(option.table, option.key) for option in TARGET_OPTIONS if option.fact]
    assert all(key for _, key in keys)
    assert len(keys) == len({*keys})


def test_what_is_secret_is_shown_in_no_command():
    from icecheck.cli.shown_command import _SECRET_OPTIONS

    others = {
        f"{whose}_{what}" for whose in ("second", "reader") for what in ("token", "credential")
    }
    assert others | {"token", "credential"} == _SECRET_OPTIONS


def test_a_row_that_is_added_is_a_flag():
    said = []

    @click.command()
    @target_options("run", WITH_NEW)
    def command(**options):
        said.append(target_facts(options, WITH_NEW))

    result = CliRunner().invoke(command, ["--realm", "north"])
    assert result.exit_code == 0, result.output
    assert said == [{"realm": "north"}]
    assert NEW.words in CliRunner().invoke(command, ["--help"]).output


@pytest.mark.parametrize("given", ["option", "ini"])
def test_a_row_that_is_added_is_an_option_of_pytest_and_a_key_of_its_file(pytester, given):
    class Config(dict):
        pluginmanager = pytester.parseconfig().pluginmanager

        def getoption(self, dest):
            return self.get(dest)

        def getini(self, key):
            return inifile.get(key)

    class Manager:
        def register(self, plugin, name):
            assert (type(plugin), name) == (ShortNames, ShortNames.NAME)

    parser = pytest.Parser(_ispytest=True)
    add_options(parser, Manager(), WITH_NEW)
    inifile = {"icecheck_catalog_realm": "north"} if given == "ini" else {}
    arguments = ["--catalog-realm", "north"] if given == "option" else []
    config = Config(vars(parser.parse(arguments)))
    assert target_settings(config, WITH_NEW) == {"realm": "north"}
    assert "icecheck_catalog_realm" in parser._inidict


def test_a_row_that_is_added_is_read_from_file_and_environment():
    assert from_toml('[target]\nrealm = "north"', "f", WITH_NEW) == {"realm": "north"}
    assert from_environment({"CATALOG_REALM": "north"}, WITH_NEW) == {"realm": "north"}
