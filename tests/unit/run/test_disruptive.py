"""What strains a catalog is run where the user allows it, and nowhere else."""

import pytest

from icecheck.findings.verdict import Group
from icecheck.run.collect import allowed, collect
from icecheck.targets.target import Target, UsageError
from tests.kit.contracts import CONTRACT

URL = "http://127.0.0.1:9"


def checks():
    return collect((Group.CHECKS,), CONTRACT, disruptive=True)


def test_a_standard_run_leaves_out_what_strains_the_catalog():
    left_out = set(checks()) - set(allowed(checks(), Target(URL)))
    assert {check.id for check in left_out} == {
        "listNamespaces.without-token-many",
        "listTables.without-token-many",
        "listViews.without-token-hundred",
        "loadTable.long-history",
        "updateTable.large-commit",
    }


def test_who_collects_checks_gets_what_strains_no_catalog():
    assert collect((Group.CHECKS,), CONTRACT) == allowed(checks(), Target(URL))


def test_a_disruptive_run_leaves_out_nothing():
    assert allowed(checks(), Target(URL, disruptive=True)) == checks()


def test_selecting_only_what_strains_the_catalog_is_misuse_without_leave():
    only = [check for check in checks() if check.disruptive]
    with pytest.raises(UsageError, match="--disruptive"):
        allowed(only, Target(URL))


def test_races_are_longer_where_the_catalog_may_be_strained():
    assert Target(URL).rounds < Target(URL, disruptive=True).rounds == 20
    assert Target(URL, disruptive=True, race_rounds=3).rounds == 3


def test_nobody_strains_what_may_only_be_read():
    with pytest.raises(UsageError, match="--read-only"):
        Target(URL, disruptive=True, read_only=True)
