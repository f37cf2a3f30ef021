"""What a bundle holds gives every verdict of its run again, on catalogs of many designs."""

import os
import subprocess
import sys
from dataclasses import replace

import httpx
import pytest

from tests.bundles.recorded import (
    GLOBS,
    changed_exchanges,
    lines_of,
    open_catalog,
    packed,
    recorded_run,
    secured_catalog,
    verification_of,
)
from tests.kit.shares import some
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.serving import design_transport

PLANTED = (
    "status-updateTable.400-is-500",
    "view-rename-forgotten",
    "text-dropNamespace.404",
    "other-code-loadTable.404",
    "mistypes-replaceView-metadata",
)
SHOW_PLANTED = ("assertion.*", "dropNamespace.*", "loadTable.*", "renameView.*", "view-update.*")
UNLIKE_OURS = tuple({*GLOBS} - {"planTableScan.e*", "scenario.namespaces-and-tables"})
SECRETS_IN = ("auth.*", "error.*", "getToken.*", "loadCredentials.*", "race.drop")
LENT = (
    "assertion.*",
    "update.set-properties.not-a-string",
    "error.type-of-missing-namespace",
)
OF_THREADS = ("createNamespace.*", "listTables.*", "renameView.*", "updateTable.*", "replaceView.*")


def test_a_run_on_a_faithful_catalog_is_derived_again(tmp_path):
    with open_catalog() as transport:
        run = recorded_run(tmp_path, transport, globs=GLOBS)
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    active = [v for v in run.verdicts if not v.passive]
    only_read = [check for checks in shown.only_read.values() for check in checks]
    assert only_read == ["race.drop"]
    assert (shown.replayed, shown.passive) == (len(active) - 1, len(run.verdicts) - len(active))
    assert shown.compared > 100
    assert shown.disagreements == 0


def test_findings_are_derived_again_with_their_evidence(tmp_path):
    with open_catalog(*PLANTED) as transport:
        run = recorded_run(tmp_path, transport, globs=SHOW_PLANTED)
    assert len(run.causes) == len(PLANTED)
    assert lines_of(verification_of(tmp_path)) == []


def test_a_run_with_secrets_is_derived_again_from_their_digests(tmp_path):
    with secured_catalog() as (transport, target):
        recorded_run(tmp_path, transport, target=target, globs=SECRETS_IN)
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    assert sorted(check for checks in shown.only_read.values() for check in checks) == [
        "getToken.lifetime",
        "race.drop",
    ]


@pytest.mark.complete("the usual command derives other runs again")
def test_checks_that_came_in_the_order_of_threads_are_derived_again(tmp_path):
    with open_catalog(*PLANTED[:2]) as transport:
        recorded_run(tmp_path, transport, globs=OF_THREADS, workers=3)
    assert lines_of(verification_of(tmp_path)) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_a_check_that_names_no_shared_table_is_shown_the_one_that_it_was_lent(tmp_path, workers):
    with open_catalog("table-makes-its-namespace", "status-updateTable.400-is-500") as transport:
        recorded_run(tmp_path, transport, globs=LENT, workers=workers)
    assert lines_of(verification_of(tmp_path)) == []


LACKING = ("/properties", "/register", "/tables/rename")


def test_a_check_that_was_judged_again_is_shown_each_table_that_it_was_lent(tmp_path):
    with open_catalog() as transport:
        inner = Without(transport, LACKING)
        run = recorded_run(tmp_path, inner, globs=("error.several-faults",))
    verdict = next(v for v in run.verdicts if v.check == "error.several-faults")
    assert len(verdict.without) == len(LACKING)
    assert lines_of(verification_of(tmp_path)) == []


@pytest.mark.parametrize("name", some(["hadoop-veteran", "azure-lake"], 2))
def test_a_run_on_a_catalog_unlike_ours_is_derived_again(tmp_path, name):
    freedoms = [FREEDOMS[each] for each in DESIGNS[name].freedoms]
    with design_transport(freedoms) as transport:
        recorded_run(tmp_path, transport, globs=UNLIKE_OURS)
    assert lines_of(verification_of(tmp_path)) == []


def test_a_run_that_ended_at_its_first_failure_is_derived_again(tmp_path):
    with open_catalog("status-updateTable.400-is-500") as transport:
        run = recorded_run(tmp_path, transport, globs=("assertion.*", "race.drop"), fail_fast=True)
    assert any(v.skip for v in run.verdicts)
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    assert not shown.only_read  # the race was not run


@pytest.mark.complete("a whole run is derived again in the usual command")
def test_a_run_that_was_interrupted_is_derived_again(tmp_path):
    with open_catalog() as transport:
        recorded_run(tmp_path, Interrupted(transport, after=60), globs=("createTable.*",))
    assert lines_of(verification_of(tmp_path)) == []


@pytest.mark.complete("a whole run is derived again in the usual command")
def test_a_run_whose_catalog_fell_silent_is_derived_again(tmp_path, monkeypatch):
    monkeypatch.setattr("icecheck.judging.breaker._PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr("icecheck.wire.retry._FIRST_WAIT_AFTER_LOSS_SECONDS", 0.001)
    with open_catalog() as transport:
        run = recorded_run(tmp_path, Silent(transport, after=60), globs=("createTable.*",))
    assert run.exit_code == 4
    assert lines_of(verification_of(tmp_path)) == []


def of_workers(exchanges):
    for each in exchanges:
        check = each.check
        yield replace(each, check=f"{check}gw0" if check == "probe.deletion" else check)


def test_a_run_of_several_processes_is_judged_from_its_exchanges(tmp_path):
    with open_catalog() as transport:
        run = recorded_run(tmp_path, transport, globs=("createNamespace.*",))
    changed_exchanges(tmp_path, of_workers)
    shown = verification_of(tmp_path)
    assert lines_of(shown) == []
    [(why, checks)] = shown.only_read.items()
    assert why == "several processes have judged the checks"
    assert len(checks) == len([v for v in run.verdicts if not v.passive])
    assert shown.replayed == 0


def test_a_whole_run_of_several_processes_without_some_answers_is_judged_from_the_rest(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("icecheck.wire.retry._FIRST_WAIT_AFTER_LOSS_SECONDS", 0.001)
    globs = ("createNamespace.*", "listTables.all", "listTables.list-present")
    with open_catalog() as transport:
        run = recorded_run(tmp_path, WithoutLists(transport), globs=globs)
    assert (run.complete, run.exit_reason) == (True, "target-unusable")
    changed_exchanges(tmp_path, of_workers)
    assert lines_of(verification_of(tmp_path)) == []


class Without(httpx.BaseTransport):
    """Answers 501 to requests whose path ends in one of these ways."""

    def __init__(self, inner, endings):
        self._inner, self._endings = inner, endings

    def handle_request(self, request):
        if request.method == "POST" and request.url.path.endswith(self._endings):
            return httpx.Response(501)
        return self._inner.handle_request(request)


class WithoutLists(httpx.BaseTransport):
    """Answers everything but lists of tables."""

    def __init__(self, inner):
        self._inner = inner

    def handle_request(self, request):
        if request.method == "GET" and request.url.path.endswith("/tables"):
            raise httpx.ConnectError("refused")
        return self._inner.handle_request(request)


class Interrupted(httpx.BaseTransport):
    """Is interrupted by the user after so many requests."""

    def __init__(self, inner, after):
        self._inner, self._left = inner, after

    def handle_request(self, request):
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
        return self._inner.handle_request(request)


class Silent(httpx.BaseTransport):
    """Answers nothing any more after so many requests."""

    def __init__(self, inner, after):
        self._inner, self._left = inner, after

    def handle_request(self, request):
        self._left -= 1
        if self._left <= 0:
            raise httpx.ConnectError("refused")
        return self._inner.handle_request(request)


@pytest.mark.complete("starts two processes; test_determinism compares requests of two runs")
def test_the_same_requests_are_sent_whatever_the_hashes_of_words_are(tmp_path):
    # The defect lets effects be looked for whose requests once followed the order of a set.
    with open_catalog("status-updateTable.400-is-500") as transport:
        recorded_run(tmp_path, transport, globs=("assertion.assert-ref-*", "commit.unknown-*"))
    bundle = packed(tmp_path)
    for seed in ("1", "2"):
        ended = subprocess.run(
            [sys.executable, "-m", "icecheck", "verify", str(bundle)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout
