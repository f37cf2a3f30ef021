"""Round trips of names, namespaces and views, and name reuse: no lawful catalog is at fault."""

import re
from functools import cache

import pytest

from icecheck.client.catalog import Catalog
from icecheck.conformance.names.odd_names import FAMILIES, PLAIN, apart
from icecheck.findings.verdict import Outcome, Verdict
from icecheck.judging.judge import judge
from icecheck.mock_server.core.context import Call, Registries
from icecheck.mock_server.core.context import Outcome as Result
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.requests import sent_json
from icecheck.mock_server.defects.kit.rewriting import Faithful, wrap
from icecheck.mock_server.protocol import problem
from tests.kill.killing import ISOLATIONS, checks_of, mock_session, words
from tests.kill.refusing import refuse_if
from tests.kit.shares import some
from tests.lawful.lawful import LAWFUL, Install, lawful_session
from tests.lawful.lawful_tables import LAWFUL_TABLES
from tests.lawful.lawful_views import LAWFUL_VIEWS

CHECKS = checks_of(
    "test_roundtrip_names",
    "test_roundtrip_namespaces",
    "test_roundtrip_views",
    "test_roundtrip_view_schemas",
    "test_name_reuse",
    "test_name_reuse_of_views",
)
REQUESTS_MAX = 70
WRITERS = (
    "createNamespace", "updateProperties", "createTable", "createView", "replaceView",
    "renameTable", "renameView", "registerTable",
)  # fmt: skip


def _is_odd(text: str) -> bool:
    return not text.isascii() or text != text.strip() or not text or "{" in text


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [t for pair in value.items() for each in pair for t in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


def _refuses_the_odd(registries: Registries) -> None:
    """Refuse texts that are empty, or have braces, outer blanks or letters beyond ASCII."""

    def odd(call: Call) -> bool:
        return any(map(_is_odd, _texts(sent_json(call))))

    for operation_id in WRITERS:
        refuse_if(registries, operation_id, odd, 400)


def _plain_paths_only(registries: Registries) -> None:
    """Refuse paths with anything but letters, digits and underscores, as a proxy may."""

    def around(faithful: Faithful, state: WarehouseState, call: Call) -> Result:
        levels = "".join((*call.namespace, call.name))
        if levels and not re.fullmatch("[A-Za-z0-9_]+", levels):
            raise problem.bad_request("Ambiguous path")
        return faithful(state, call)

    for operation_id in [*registries.operations]:
        wrap(registries, operation_id, around)


LAWFUL_HERE: dict[str, Install] = {
    **{
        name: LAWFUL[name]
        for name in (
            "one-level-namespaces", "no-namespace-properties", "no-pagination", "own-properties",
            "narrow-names", "lower-case-names", "no-head", "read-only", "no-endpoints-listed",
        )
    },
    **{name: LAWFUL_TABLES[name] for name in ("one-table-a-location", "no-rename", "no-move")},
    **LAWFUL_VIEWS,
    "refuses-the-odd": _refuses_the_odd,
    "plain-paths-only": _plain_paths_only,
}  # fmt: skip


@cache
def verdicts_on(name: str) -> tuple[list[Verdict], list[str]]:
    """Return the verdicts of the checks on a lawful catalog, and its residue."""
    with lawful_session(LAWFUL_HERE[name]) as session:
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    return verdicts, session.residue


@pytest.mark.parametrize("name", some(LAWFUL_HERE, 8))
def test_no_check_fails_on_a_lawful_catalog(name: str) -> None:
    verdicts, residue = verdicts_on(name)
    wrong = [v for v in verdicts if v.outcome not in {Outcome.PASS, Outcome.SKIP}]
    assert words(wrong) == []
    assert residue == []


def test_a_refused_value_does_not_hide_the_others() -> None:
    verdicts, _ = verdicts_on("refuses-the-odd")
    passed = {v.check for v in verdicts if v.outcome is Outcome.PASS}
    assert {
        "roundtrip.namespace-properties.created",
        "roundtrip.namespace-properties.updated",
        "roundtrip.view-properties.created",
        "roundtrip.view-schema.created",
        "roundtrip.table-names.address",
        "second-life.table",
    } <= passed


@pytest.mark.parametrize("isolation", some(ISOLATIONS, 3))
def test_every_check_passes_within_its_budget(isolation: str) -> None:
    with mock_session(isolation=isolation) as (_, session):
        verdicts = [judge(check, Catalog(session, check.id)) for check in CHECKS]
    assert words(verdicts) == []
    assert session.residue == []
    assert [v.check for v in verdicts if v.requests > REQUESTS_MAX] == []


def test_a_mangled_name_comes_before_what_it_is_mangled_into() -> None:
    endings = {
        family: [odd.ending for (odd,) in apart(names) if not odd.beginning]
        for family, names in FAMILIES.items()
    }
    assert (
        len({e for every in endings.values() for e in every}) == sum(map(len, endings.values())) - 1
    )
    for every in endings.values():
        assert every[-1] == PLAIN.ending
    address, store = endings["address"], endings["store"]
    assert address.index("a%20b") < address.index("a b") > address.index("a+b")
    assert store.index("e\u0301") < store.index("\u00e9")
