"""Frozen sets: that of this release is what it demands, and those of others never change."""

import json
from dataclasses import replace

import pytest

import icecheck
from icecheck.contract import Level, load
from icecheck.contract.frozen import (
    FOLDER,
    UnknownSet,
    as_json,
    frozen_ids,
    frozen_set,
    requirement_set,
    set_id,
)
from icecheck.findings.conclusion import as_frozen
from icecheck.findings.verdict import Group, Outcome
from icecheck.reports import run_json
from icecheck.run.facts import requirement_set_of
from icecheck.run.releases.demands import set_to_judge_by
from icecheck.targets.target import UsageError
from tests.kit.contracts import CONTRACT
from tests.kit.findings import a_finding
from tests.kit.finished_runs import finished, verdict
from tests.laws.golden import expect_golden

NOW = requirement_set_of(CONTRACT)
CURRENT = set_id(CONTRACT.version, icecheck.__version__)


def is_of_this_release(id_: str) -> bool:
    return id_.rpartition("@")[2] == icecheck.__version__


OF_THIS_RELEASE = sorted({CURRENT, *filter(is_of_this_release, frozen_ids())})
"""The set of the default document, and those of others that were the default before it."""


@pytest.mark.parametrize("id_", OF_THIS_RELEASE)
def test_a_set_of_this_release_is_what_it_demands(id_: str) -> None:
    """Once a release is published its files stay, and the next one has its own."""
    document = id_.rpartition("/")[2].partition("@")[0]
    demanded = requirement_set_of(load(document))
    assert demanded.id == id_
    expect_golden(f"{id_.replace('/', '-')}.json", as_json(demanded).splitlines(), FOLDER)


def test_the_sets_of_published_releases_are_as_they_were() -> None:
    published = [id_ for id_ in frozen_ids() if not is_of_this_release(id_)]
    expect_golden("frozen_sets.txt", [f"{id_} {frozen_set(id_).sha256}" for id_ in published])


def test_a_set_that_was_changed_by_hand_is_refused(tmp_path, monkeypatch) -> None:
    from icecheck.contract import frozen

    document = json.loads(as_json(NOW))
    document["requirements"]["createNamespace.409"][0] = "should"
    (tmp_path / "changed.json").write_text(json.dumps(document))
    monkeypatch.setattr(frozen, "FOLDER", tmp_path)
    frozen._frozen.cache_clear()
    try:
        with pytest.raises(UnknownSet, match="changed by hand"):
            frozen_set(CURRENT)
    finally:
        frozen._frozen.cache_clear()


def changed(**rows):
    """The set of this release with some rows replaced, or left out if None."""
    requirements = {id_: rows.get(id_, row) for id_, row in NOW.requirements.items()}
    kept = {id_: row for id_, row in requirements.items() if row is not None}
    return replace(NOW, id="iceberg-rest/1.10.0@0.0.1", requirements=kept)


def test_one_changed_level_gives_another_hash() -> None:
    row = NOW.requirements["createNamespace.409"]
    assert changed().sha256 == NOW.sha256
    assert changed(**{"createNamespace.409": replace(row, level=Level.SHOULD)}).sha256 != NOW.sha256


FAILED = verdict(
    "createNamespace.already-exists",
    Outcome.FAIL,
    summary="expected 409, got 200",
    findings=(a_finding("status", "409", "200"),),
    requirements=("createNamespace.409",),
)


def test_a_check_of_the_set_keeps_its_verdict() -> None:
    assert as_frozen(FAILED, changed(), CONTRACT) == FAILED


def test_a_check_is_judged_at_the_level_that_the_set_has() -> None:
    row = NOW.requirements["createNamespace.409"]
    older = changed(**{"createNamespace.409": replace(row, level=Level.SHOULD)})
    assert as_frozen(FAILED, older, CONTRACT) == replace(FAILED, level=Level.SHOULD)


def test_a_check_that_the_set_does_not_have_is_shown_and_not_scored() -> None:
    row = NOW.requirements["createNamespace.409"]
    for older in (
        changed(**{"createNamespace.409": None}),
        changed(**{"createNamespace.409": replace(row, checks=())}),
    ):
        shown = as_frozen(FAILED, older, CONTRACT)
        assert (shown.level, shown.gating, shown.scored) == (Level.INTEROP, False, False)
        good = verdict("createNamespace.created", requirements=("createNamespace.200",))
        core = verdict("getConfig.a", requirements=("getConfig.200",), profile="core")
        read = verdict("listNamespaces.a", requirements=("listNamespaces.200",), profile="read")
        run = finished(good, core, read, shown)
        assert (run.status, run.exit_code) == ("conformant", 0)
        assert [c.level for c in run.causes] == [Level.INTEROP]
        (write,) = [p for p in run.profiles if p.id == "write"]
        assert sum(write.counts["interop"].values()) == 0


def test_what_spark_and_clients_show_is_in_no_set() -> None:
    spark = replace(FAILED, group=Group.SPARK, level=Level.INTEROP)
    assert as_frozen(spark, changed(**{"createNamespace.409": None}), CONTRACT) == spark


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=f"--requirement-set: no set.*there are.*{CURRENT}"):
        set_to_judge_by("iceberg-rest/1.10.0@9.9.9", CONTRACT)


def test_a_set_of_which_a_check_is_gone_is_refused(monkeypatch) -> None:
    row = NOW.requirements["createNamespace.409"]
    older = changed(**{"createNamespace.409": replace(row, checks=(*row.checks, "old.check"))})
    monkeypatch.setattr("icecheck.run.releases.demands.frozen_set", lambda _: older)
    with pytest.raises(
        UsageError, match=r"no longer has 1 of its checks, such as old.check.*0\.0\.1"
    ):
        set_to_judge_by(older.id, CONTRACT)


def test_a_set_about_another_document_is_refused(monkeypatch) -> None:
    other = replace(changed(), document="1.9.0")
    monkeypatch.setattr("icecheck.run.releases.demands.frozen_set", lambda _: other)
    with pytest.raises(UsageError, match=r"about the document 1\.9\.0"):
        set_to_judge_by(other.id, CONTRACT)


def test_a_requirement_that_is_worded_otherwise_is_drift() -> None:
    row = CONTRACT.requirements["createNamespace.409"]
    proving = {row.id: ["createNamespace.already-exists"]}
    old, new = (
        requirement_set("x", "1.10.0", [each], proving)
        for each in (replace(row, text="Something else."), row)
    )
    assert old.drift_from(new) == (row.id,)
    assert replace(new, id="y").drift_from(new) == ()
    level = requirement_set("x", "1.10.0", [replace(row, level=Level.SHOULD)], proving)
    assert level.drift_from(new) == ()


def test_what_is_disputed_runs_is_shown_and_never_gates(monkeypatch) -> None:
    row = CONTRACT.requirements["createNamespace.409"]
    disputed = replace(row, disputed="https://example.com/issues/1: 409 is an example only")
    register = {**CONTRACT.requirements, row.id: disputed}
    monkeypatch.setattr(type(CONTRACT), "requirements", property(lambda _: register))
    good = verdict("createNamespace.created", requirements=("createNamespace.200",))
    core = verdict("getConfig.a", requirements=("getConfig.200",), profile="core")
    read = verdict("listNamespaces.a", requirements=("listNamespaces.200",), profile="read")
    run = finished(good, core, read, FAILED)
    assert (run.status, run.exit_code) == ("conformant", 0)
    assert [c.level for c in run.causes] == [Level.INTEROP]
    (shown,) = [v for v in run.verdicts if v.outcome is Outcome.FAIL]
    assert (shown.scored, shown.gating) == (False, False)
    document = json.loads(run_json.render(run))
    statuses = {r["id"]: r["status"] for r in document["requirements"]}
    assert statuses[row.id] == "disputed"
    assert run_json.problems_of(json.dumps(document)) == []
