"""What is said about installing an extra can be typed where icecheck was installed from."""

import json
import shlex
import sys
from importlib import metadata

import pytest

from icecheck import installing
from icecheck.cli import extras
from icecheck.installing import how_to_have, install_command


class Installed:
    """The record that an installer leaves of icecheck."""

    def __init__(self, direct_url, installer="pip"):
        self.files = {"direct_url.json": direct_url, "INSTALLER": f"{installer}\n"}

    def read_text(self, name):
        return self.files[name]


@pytest.fixture
def installed(monkeypatch):
    """Let this icecheck have been installed so: ``installed(record, installer)``."""

    def say(record, installer="pip"):
        text = record if record is None or isinstance(record, str) else json.dumps(record)
        monkeypatch.setattr(metadata, "distribution", lambda _: Installed(text, installer))

    return say


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "with space" / "icecheck-1-py3-none-any.whl"
    path.parent.mkdir()
    path.touch()
    return path


def test_a_wheel_is_named_by_its_path(installed, wheel):
    installed({"url": wheel.as_uri(), "archive_info": {}})
    assert shlex.split(install_command("suite")) == ["pip", "install", f"{wheel}[suite]"]
    installed({"url": wheel.as_uri(), "archive_info": {}}, "uv")
    assert shlex.split(install_command("suite")) == ["uv", "pip", "install", f"{wheel}[suite]"]


def test_an_editable_clone_stays_editable(installed, tmp_path):
    installed({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    assert shlex.split(install_command("spark")) == ["pip", "install", "-e", f"{tmp_path}[spark]"]
    installed({"url": tmp_path.as_uri(), "dir_info": {}})
    assert shlex.split(install_command("spark")) == ["pip", "install", f"{tmp_path}[spark]"]


def test_under_uvx_the_command_is_run_in_another_environment(installed, wheel, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/QsIMtCR2wGduou7h")
    installed({"url": wheel.as_uri(), "archive_info": {}}, "uv")
    said = install_command("suite", "icecheck run URL")
    assert shlex.split(said) == ["uvx", "--from", f"{wheel}[suite]", "icecheck", "run", "URL"]


@pytest.fixture
def under_uvx(installed, wheel, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/QsIMtCR2wGduou7h")
    monkeypatch.setattr(installing, "which", lambda _: "/usr/bin/uvx")
    monkeypatch.setattr(sys, "argv", ["icecheck", "run", "http://c.test", "--token", "hush"])
    installed({"url": wheel.as_uri(), "archive_info": {}}, "uv")
    return [f"{wheel}[suite]", "icecheck", "run", "http://c.test", "--token", "hush"]


def ran(monkeypatch):
    """What the process is replaced by where the suite is missing: program, arguments, variables."""
    found = []
    monkeypatch.setattr(extras.os, "execvpe", lambda *told: found.append(told))
    extras._go_on_under_uvx("suite")
    return found


def test_under_uvx_a_command_goes_on_with_what_it_lacks(under_uvx, monkeypatch, capsys):
    ((program, arguments, variables),) = ran(monkeypatch)
    assert (program, arguments) == ("uvx", ["uvx", "--from", *under_uvx])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("icecheck: goes on with uvx --from ")
    assert "hush" not in line
    monkeypatch.setattr(extras.os, "environ", variables)
    assert ran(monkeypatch) == []  # not a second time


def test_without_uvx_or_its_environment_nothing_goes_on(under_uvx, monkeypatch, capsys):
    monkeypatch.setattr(installing, "which", lambda _: None)
    assert ran(monkeypatch) == []
    monkeypatch.setattr(installing, "which", lambda _: "/usr/bin/uvx")
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert ran(monkeypatch) == []
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "record",
    [
        None,
        "no JSON",
        "[]",
        {"url": "file:///not/there/icecheck-1-py3-none-any.whl"},
        {"url": "https://example.com/icecheck-1-py3-none-any.whl"},
        {},
    ],
)
def test_where_the_source_is_not_known_both_ways_are_named(installed, record, monkeypatch):
    installed(record)
    said = install_command("suite")
    assert "pip install '.[suite]' in a clone" in said
    assert "WHEEL[suite]" in said
    monkeypatch.setattr(installing, "PUBLISHED", True)
    assert install_command("suite") == "pip install 'icecheck[suite]'"


def test_an_icecheck_that_nobody_installed_is_told_the_same(monkeypatch):
    def none(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", none)
    assert "in a clone" in install_command("suite")


def test_a_report_names_the_extra_and_no_path(monkeypatch):
    assert how_to_have("clients") == "install icecheck with its extra [clients]"
    monkeypatch.setattr(installing, "PUBLISHED", True)
    assert how_to_have("clients") == "run pip install 'icecheck[clients]'"
