"""What is said about installing an extra can be typed where icecheck was installed from."""

import json
import shlex
import sys
from importlib import metadata

import pytest

from icecheck import installing
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
