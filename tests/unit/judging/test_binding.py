"""Checks are bound to the version that a run is about, when it opens."""

import subprocess
import sys

import pytest

from icecheck import contract
from icecheck.contract import contract_for, load
from icecheck.contract.register import Register
from icecheck.findings.verdict import Group
from icecheck.judging.check import Unbound, check, declaration_of
from icecheck.run import collect as collecting
from icecheck.run.collect import collect
from icecheck.run.runner import RunOptions
from icecheck.targets.target import Target
from tests.kit.contracts import CONTRACT

IMPORTS_ALL_CHECKS = """
import importlib, pkgutil
import icecheck.conformance, icecheck.scenarios
for package in (icecheck.conformance, icecheck.scenarios):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(found.name)
from icecheck.contract.register import register_of
print(register_of.cache_info().currsize)
"""


def declared(id_, *proves):
    def test_something(catalog):
        """Something holds."""

    return declaration_of(check(id_, proves=proves, group=Group.CHECKS)(test_something))


def test_importing_the_checks_reads_no_register():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS_ALL_CHECKS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"


def test_every_check_that_does_not_fit_the_register_is_told_at_once(monkeypatch):
    made = (
        declared("a.typo", "loadTabel.200"),
        declared("a.mix", "createNamespace.409", "createNamespace.401"),
        declared("a.good", "loadTable.200"),
        declared("a.nothing"),
    )
    monkeypatch.setattr(collecting, "declarations", lambda _groups: iter(made))
    with pytest.raises(Unbound) as told:
        collect((Group.CHECKS,), CONTRACT)
    listed = str(told.value).splitlines()
    assert len(listed) == 3
    for named in ("a.typo", "a.mix", "a.nothing"):
        assert any(named in line for line in listed)


def test_a_check_about_other_versions_is_left_out(monkeypatch):
    made = (declared("a.newer", "loadTable.200", "made.up"), declared("a.good", "loadTable.200"))
    monkeypatch.setattr(collecting, "declarations", lambda _groups: iter(made))
    register = Register(CONTRACT.requirements, {"made.up": "since 1.11.0"})
    monkeypatch.setattr("icecheck.contract.register.register_of", lambda _version: register)
    assert [bound.id for bound in collect((Group.CHECKS,), CONTRACT)] == ["a.good"]


@pytest.mark.parametrize(
    ("release", "version"),
    [("1.6.0", "1.10.0"), ("1.10.0", "1.10.0"), ("1.10.5", "1.11.0"), ("1.11.0", "1.11.0")],
)
def test_a_release_is_told_by_the_oldest_version_that_covers_it(monkeypatch, release, version):
    monkeypatch.setattr(contract, "SPEC_VERSIONS", ("1.11.0", "1.10.0"))
    assert contract_for(release).version == version


def test_a_release_that_no_version_covers_is_told():
    with pytest.raises(ValueError, match="2\\.0\\.0"):
        contract_for("2.0.0")


def test_the_options_of_a_run_name_one_version():
    options = RunOptions(Target("http://h"), "r1", spec="1.8.0")
    assert options.contract == load("1.10.0")
    assert not hasattr(options, "release")
