"""The reverse of law 1: a catalog that breaks no rule is not at fault, however unlike the mock."""

from collections.abc import Iterable

import pytest
from tests.contracts import CONTRACT
from tests.kill.killing import words
from tests.kill.lawful import LAWFUL, lawful_session
from tests.kill.lawful_tables import LAWFUL_TABLES
from tests.shares import share

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import Group, Outcome, Verdict
from icecheck.judging.check import Check
from icecheck.judging.judge import judge
from icecheck.judging.passive import observe, passive_verdicts
from icecheck.mock_server.core.context import Registries
from icecheck.run.collect import collect

EVERY = {**LAWFUL, **LAWFUL_TABLES}
GROUPS = (Group.CHECKS, Group.GENERATED, Group.SCENARIOS)

# Each uses several freedoms at once; tests/kill tests them one by one, family by family.
CATALOGS = {
    "answers-in-its-own-way": (
        "vending-credentials", "busy-metadata", "other-spelling", "unsorted-order-too",
        "weak-etags", "lower-case-names", "own-properties", "nothing-empty", "plain-text-400",
        "hidden-from-strangers", "counting-tokens",
    ),
    "offers-the-least": (
        "one-level-namespaces", "no-namespace-properties", "no-pagination", "no-etags",
        "current-snapshot-only", "no-rename", "own-locations", "no-overwrite", "no-purge",
        "no-staging", "main-only", "version-2-only", "narrow-names", "no-head",
    ),
    "keeps-what-is-sent": (
        "nulls", "client-ids", "no-move", "one-table-a-location", "version-3-by-default",
        "no-endpoints-listed", "open-reading", "later-members",
    ),
    "reads-only": ("no-etags", "read-only"),
}  # fmt: skip


def install(names: tuple[str, ...], registries: Registries) -> None:
    for name in names:
        EVERY[name](registries)


def verdicts_on(names: tuple[str, ...], checks: Iterable[Check]) -> tuple[list[Verdict], list[str]]:
    """Return the verdicts on such a catalog, and its residue."""
    with lawful_session(lambda registries: install(names, registries)) as session:
        session.exchanges.clear()
        verdicts = [judge(check, Catalog(session, check.id)) for check in checks]
        verdicts += passive_verdicts(observe(session.exchanges, session.schemas), CONTRACT)
    return verdicts, session.residue


@pytest.mark.parametrize("catalog", CATALOGS)
def test_a_lawful_catalog_is_not_blamed(catalog: str) -> None:
    # Three of the catalogs serve nearly everything: there each generated check has its turn once.
    checks = share(collect(GROUPS, CONTRACT), [*CATALOGS].index(catalog), 3)
    verdicts, residue = verdicts_on(CATALOGS[catalog], checks)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []
    assert residue == []
    assert sum(v.outcome is Outcome.PASS for v in verdicts) > 3


def test_every_freedom_is_used_by_some_catalog_or_is_a_missing_operation() -> None:
    used = {name for names in CATALOGS.values() for name in names}
    rest = {name for name in EVERY if name not in used and not name.startswith("without-")}
    # A catalog has one default format version only.
    assert rest == {"version-1-by-default"}
