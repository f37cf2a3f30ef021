"""No lawful meaning of idempotency keys is blamed, and none that is not announced is judged."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.deletion_probe import require_deletion
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.contract import load
from icecheck.findings.verdict import Group, Outcome, SkipKind, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.rewriting import alter_body
from icecheck.mock_server.protocol.served_contract import keyed_operations
from icecheck.run.collect import collect
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, TOKEN, WAREHOUSE
from tests.kit.shares import some
from tests.lawful.designs import DESIGNS, FREEDOMS
from tests.lawful.freedom import Freedom
from tests.lawful.lawful_1_11_idempotency import LAWFUL_KEYS
from tests.lawful.serving import design_transport

SPEC = "1.11.0"
SERVED = Freedom("the document that is served", server={"spec": SPEC})
UNANNOUNCED = ("has-no-keys", "says-nothing-of-keys")
NO_KEYS = {"announces-later-members"}
"""What tells of keys that it has not: a catalog of 1.10.0, where they had no meaning yet."""


def checks() -> tuple[Check, ...]:
    every = collect((Group.CHECKS, Group.GENERATED), load(SPEC))
    return tuple(each for each in every if each.profile == "idempotency")


ARRANGING = {"createNamespace", "createTable", "createView", "updateTable"}
"""Operations with which other checks arrange what they judge."""


@contextmanager
def session_with(freedoms: Iterable[Freedom], **options: Any) -> Iterator[Session]:
    with design_transport((*freedoms, SERVED)) as transport:
        target = Target(ADDRESS, warehouse=WAREHOUSE, token=TOKEN, **options)
        session = open_session(target, run_id="lawful", spec=SPEC, transport=transport)
        try:
            yield session
        finally:
            session.close()


def judged(*freedoms: Freedom, passively: bool = False) -> list[Verdict]:
    """Return the verdicts of the checks of keys, and if asked those on their answers."""
    with session_with(freedoms) as session:
        require_deletion(session)
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks()]
        if passively:
            observed = observe(session.exchanges, session.schemas)
            verdicts += passive_verdicts(observed, session.contract)
    assert session.residue == []
    return verdicts


def blames(verdicts: Iterable[Verdict]) -> list[str]:
    wrong = {Outcome.FAIL, Outcome.ERROR, Outcome.BLOCKED}
    return [f"{v.check}: {v.outcome} {v.summary}" for v in verdicts if v.outcome in wrong]


@pytest.mark.parametrize("name", some([n for n in LAWFUL_KEYS if n not in UNANNOUNCED], 12))
def test_a_lawful_meaning_of_keys_is_not_blamed(name: str) -> None:
    assert blames(judged(LAWFUL_KEYS[name], passively=True)) == []


def test_most_of_it_is_judged_where_keys_are_announced() -> None:
    verdicts = judged(LAWFUL_KEYS["shows-the-current-state"])
    left = [verdict.check for verdict in verdicts if verdict.outcome is not Outcome.PASS]
    assert left == ["idempotency.of-somebody-else"]  # there is no second principal


@pytest.mark.parametrize("name", UNANNOUNCED)
def test_keys_that_are_not_announced_are_not_judged(name: str) -> None:
    verdicts = judged(LAWFUL_KEYS[name])
    assert [v.skip and v.skip.kind for v in verdicts] == [SkipKind.NOT_DECLARED] * len(verdicts)


def judged_with_residue(freedom: Freedom) -> list[Verdict]:
    """Return the verdicts of the checks of keys on a catalog that may keep what a run made."""
    with session_with([freedom], accept_residue=True) as session:
        return [judge(check, Catalog(session, check.id)) for check in checks()]


@pytest.mark.parametrize("operation_id", some(sorted(keyed_operations(SPEC)), 12))
def test_a_catalog_without_one_operation_is_not_blamed(operation_id: str) -> None:
    verdicts = judged_with_residue(Freedom("optional", server={"hidden": (operation_id,)}))
    assert blames(verdicts) == []
    if operation_id not in ARRANGING:
        others = [v.check for v in verdicts if v.outcome is not Outcome.PASS]
        assert len(others) <= 3, others


def deletes_nothing(registries: Registries) -> None:
    """Serve no deletion, and say so nowhere: a path that is not served is answered 404."""

    def unsaid(config: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in config.items() if name != "endpoints"}

    alter_body(registries, "getConfig", unsaid)
    drops = ("dropTable", "dropView", "dropNamespace")
    refuse_where(registries, drops, lambda _, __: True, 404, "NotFoundException")


def test_a_catalog_that_deletes_nothing_is_not_blamed() -> None:
    assert blames(judged_with_residue(Freedom("L2142: no list", deletes_nothing))) == []


@pytest.mark.complete("every design that the other checks are tried on")
@pytest.mark.parametrize("name", [n for n, d in DESIGNS.items() if NO_KEYS.isdisjoint(d.freedoms)])
def test_no_design_is_blamed(name: str) -> None:
    verdicts = judged(*(FREEDOMS[each] for each in DESIGNS[name].freedoms))
    assert blames(verdicts) == []
