"""Merging is one pass: each rule looks at the groups as they were found, and order is nothing."""

import random
from dataclasses import replace

import pytest

from icecheck.contract import Level
from icecheck.findings.causes import causes_of
from icecheck.findings.merging.groups import Group, Join, Rule, Seen, merged
from icecheck.findings.merging.rules import (
    NEVER_REFUSES_GROUPS_MIN,
    RULES,
    SAME_ANSWER_OPERATIONS_MIN,
    SAME_ANSWER_SHARE_MIN,
)
from icecheck.findings.merging.updates import IGNORED_UPDATES_MIN
from icecheck.findings.verdict import CauseKey, Outcome, Verdict
from tests.kit.contracts import CONTRACT
from tests.unit.findings import test_merged_causes as of_merged
from tests.unit.findings import test_merged_loads as of_loads
from tests.unit.findings import test_merged_registrations as of_registrations
from tests.unit.findings.test_merged_causes import ALIKE, HALF, LOST, evidence, failing, missed
from tests.unit.findings.test_recorded_causes import NAMES
from tests.unit.findings.test_recorded_causes import verdicts as recorded

RACES = (
    failing("raced", "anomaly:duplicate-success", "one success", "several successes"),
    failing("again", expected="409", actual="200"),
    failing("again-else", expected="409", actual="400", operations=("again",)),
    failing("lost", "anomaly:lost-update", "what was acknowledged", "its loss"),
    failing("back", "anomaly:resurrected", "it stays dropped", "it is there again"),
)
STATI = (
    missed("c", "404", "410"),
    missed("a", "404 or 406 or 409", "410"),
    missed("b", "200 or 204 or 404", "410"),
    missed("d", "404 or 409", "410"),
    missed("e", "400 or 409", "410"),
    missed("f", "404", "500"),
    replace(missed("g", "404", "410"), check="g2", level=Level.SHOULD),
)
VALUES = (
    failing("kept", "effect-missing:registered", "2", "0"),
    failing("told", "answer-differs-from-load", "2", "0"),
    failing("lost-too", "effect-missing:schema", "2", "0"),
)
BLOCKED = (
    failing("b1", outcome=Outcome.BLOCKED, findings=(), blocked_by=("c.404",)),
    failing("b2", outcome=Outcome.BLOCKED, findings=(), blocked_by=("never.200",)),
    failing("b3", outcome=Outcome.BLOCKED, findings=(), blocked_by=("target",)),
)
PASSED = (failing("good", outcome=Outcome.PASS, findings=(), evidence=()),)
STAGES = evidence("createTable")
STAGES = replace(STAGES, request_body='{"name":"t","stage-create":true}')
AT_ONCE = failing("at-once", "staged-at-once", "404", "200")
COMPLETES = failing(
    "ends", expected="200", actual="409", evidence=(STAGES, evidence("updateTable", status=409))
)


def about_a_name(check: str, symptom: str, odd: str, level: Level = Level.MUST) -> Verdict:
    made = failing(check, symptom, "the object", "another", level=level)
    return replace(made, findings=(replace(made.findings[0], detail=f"(a name with {odd})"),))


PERCENT = tuple(
    about_a_name(f"n{at}", symptom, "a percent sign")
    for at, symptom in enumerate(("name-not-found", "another-object"))
)


def malformed(check: str, actual: str, expected: str = "400") -> Verdict:
    """A check of a malformed request, answered otherwise than it should be."""
    return failing(check, "status", expected, actual, requirements=(f"{check}.400",))


UNREAD = [malformed(f"o{at}", "200") for at in range(3)]
NOT_READ_EITHER = (
    replace(malformed("o0", "500"), check="broken"),
    replace(malformed("o1", "404"), check="missing"),
)

RUNS = {
    "unread": (*UNREAD, *NOT_READ_EITHER),
    "everything": (*RACES, *STATI, *VALUES, LOST, HALF, *BLOCKED, *PASSED),
    "nothing-refused": (*(failing(f"r{s}", expected=s) for s in ("400", "404", "409")), *RACES[:2]),
    "updates-ignored": tuple(
        failing(f"u{kind}", f"effect-missing:{kind}", operations=("updateTable",))
        for kind in ("schema", "refs", "statistics")
    ),
    "odd-names": PERCENT,
    "missing-namespaces": (of_merged.MADE_IN_MISSING, of_merged.COME_BACK),
    "staged-at-once": (AT_ONCE, COMPLETES),
    "stale-loads": (of_loads.STALE, of_loads.DROPPED, of_loads.LOST),
    "endpoints": (
        failing("format", "endpoint-format", "a verb", "v1"),
        failing("spelt", "endpoint-spelling", "/v1", "v1", level=Level.SHOULD),
    ),
    "lists": (
        failing(
            "leaf",
            "listing",
            "a list of what is there",
            "another list",
            operations=("listNamespaces",),
            requirements=("listNamespaces.no-children",),
        ),
        failing("missing", operations=("listNamespaces",)),
    ),
    "error-pages": (
        failing("breaks", expected="400", actual="500"),
        failing("page", "server-error-body", requirements=("updateTable.500",), passive=True),
        failing("body", "schema:type", requirements=("updateTable.200",), passive=True),
    ),
    "requirements": of_merged.UNHEEDED,
    "emptied": of_merged.EMPTIED,
    "identities": of_registrations.IDENTITIES,
    "paged": of_merged.PAGED,
    "version-3": (
        failing("kept", "effect-missing:initial-default"),
        failing("lacks", "schema:required", "a", '"next-row-id" is required', level=Level.SHOULD),
    ),
    "broken-refusals": (malformed("bad", "500"), failing("taken", expected="409", actual="500")),
    "one-answer": (*ALIKE, replace(BLOCKED[2], evidence=(evidence("b3"),))),
    **{name: tuple(recorded(name)) for name in NAMES},
}


def told(verdicts: list[Verdict], rules: list[Rule]) -> set[tuple[object, ...]]:
    """The causes, but for the order in which they name their checks and who is hurt."""
    return {
        (c.id, c.title, c.level, c.symptom, c.expected, c.actual, c.severity,
         frozenset(c.members), frozenset(c.lesser), frozenset(c.blocked),
         frozenset(c.requirements), frozenset(c.hurts))
        for c in causes_of(verdicts, CONTRACT, rules)
    }  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_no_check_is_listed_under_a_cause_of_a_higher_level(name: str) -> None:
    ranks = {verdict.check: [*Level].index(verdict.level) for verdict in RUNS[name]}
    for cause in causes_of(RUNS[name], CONTRACT):
        rank = [*Level].index(cause.level)
        assert {ranks[check] for check in cause.members} <= {rank}
        assert all(ranks[check] > rank for check in cause.lesser)


@pytest.mark.parametrize("name", RUNS)
def test_the_order_of_verdicts_groups_and_rules_makes_no_difference(name: str) -> None:
    verdicts, rules = list(RUNS[name]), list(RULES)
    due = told(verdicts, rules)
    for seed in range(12):
        # The groups are in the order of the verdicts.
        random.Random(seed).shuffle(verdicts)  # noqa: S311
        random.Random(seed + 1).shuffle(rules)  # noqa: S311
        assert told(verdicts, rules) == due, seed


def test_every_rule_says_why_and_leaves_the_groups_as_they_are() -> None:
    applied = set()
    for name, verdicts in RUNS.items():
        seen = Seen(tuple(_groups(verdicts)), tuple(verdicts), CONTRACT.before_config)
        before = repr(seen)
        for rule in RULES:
            joins = [*rule.joins(seen)]
            assert all(join.why and join.keys <= {g.key for g in seen.groups} for join in joins)
            applied |= {rule.name} if joins else set()
        assert repr(seen) == before, name
    assert applied == {rule.name for rule in RULES}


def test_no_two_rules_share_a_name_or_a_precedence() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert len({rule.precedence for rule in RULES}) == len(RULES)


def test_the_rule_that_explains_most_names_what_several_connect() -> None:
    one, other, third = (_groups(STATI[i : i + 1])[0] for i in (0, 4, 5))
    names = {"great": 1, "small": 2}
    rules = [
        Rule(
            name,
            precedence,
            lambda _, keys=keys: [Join(frozenset(keys), "why")],
            lambda _, groups, name=name: replace(groups[0].key, expected=name),
        )
        for (name, precedence), keys in zip(
            names.items(), [(other.key, third.key), (one.key, other.key)], strict=True
        )
    ]
    for order in (rules, rules[::-1]):
        (only,) = merged(Seen((one, other, third), STATI, CONTRACT.before_config), order)
        assert only.key.expected == "great"
        assert [v.check for v in only.members] == ["c", "e", "f"]


def _groups(verdicts: tuple[Verdict, ...]) -> list[Group]:
    found: dict[CauseKey, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.findings:
            found.setdefault(verdict.findings[0].key, []).append(verdict)
    return [Group(key, tuple(v.findings[0] for v in vs), tuple(vs)) for key, vs in found.items()]


# ---- each constant at its edge


@pytest.mark.parametrize("operations", [SAME_ANSWER_OPERATIONS_MIN - 1, SAME_ANSWER_OPERATIONS_MIN])
def test_one_answer_needs_this_many_operations(operations: int) -> None:
    symptoms = {c.symptom for c in causes_of(ALIKE[:operations], CONTRACT)}
    assert (symptoms == {"same-answer"}) == (operations == SAME_ANSWER_OPERATIONS_MIN)


@pytest.mark.parametrize("others", [2, 3])
def test_one_answer_needs_this_share_of_all(others: int) -> None:
    """Two of a hundred answers may be another one's, three may not."""
    many = [failing(f"n{i}", f"s{i}", evidence=(evidence(f"o{i % 9}"),)) for i in range(100)]
    for at in range(others):
        many[at] = replace(many[at], evidence=(evidence("x", body=f"{at}"),))
    share = (100 - others) / 100
    found = causes_of(many, CONTRACT)
    assert (len(found) == 1) == (share >= SAME_ANSWER_SHARE_MIN)


@pytest.mark.parametrize("groups", [NEVER_REFUSES_GROUPS_MIN - 1, NEVER_REFUSES_GROUPS_MIN])
def test_refusing_nothing_needs_this_many_kinds_of_refusal(groups: int) -> None:
    accepting = [failing(f"r{s}", expected=s) for s in ("400", "404", "409")[:groups]]
    symptoms = {c.symptom for c in causes_of(accepting, CONTRACT)}
    assert (symptoms == {"never-refuses"}) == (groups == NEVER_REFUSES_GROUPS_MIN)


@pytest.mark.parametrize("kinds", [IGNORED_UPDATES_MIN - 1, IGNORED_UPDATES_MIN])
def test_ignored_updates_are_one_cause_from_this_many_kinds_on(kinds: int) -> None:
    lost = [
        failing(f"u{kind}", f"effect-missing:{kind}", operations=("updateTable",))
        for kind in ("schema", "refs", "statistics")[:kinds]
    ]
    created = failing("created", "effect-missing:sort-orders", operations=("createTable",))
    beside = failing("space", "effect-missing:properties", operations=("createNamespace",))
    symptoms = {c.symptom for c in causes_of([*lost, created, beside], CONTRACT)}
    assert ("ignores-updates" in symptoms) == (kinds == IGNORED_UPDATES_MIN)
    assert ("effect-missing:sort-orders" in symptoms) == (kinds < IGNORED_UPDATES_MIN)
    assert "effect-missing:properties" in symptoms


def members_of(*verdicts: Verdict) -> dict[str, tuple[str, ...]]:
    return {c.id: c.members for c in causes_of(verdicts, CONTRACT)}


def test_names_of_one_oddity_are_one_cause_and_what_clients_only_need_another() -> None:
    wanted = [
        about_a_name("slash", "name-not-found", "a slash", Level.INTEROP),
        about_a_name("plus", "plus-is-no-space", "a space", Level.INTEROP),
    ]
    assert len(members_of(*PERCENT)) == 1
    assert len(members_of(*PERCENT, about_a_name("blank", "names-run-together", "a blank"))) > 1
    # A slash and a plus have two roots: the cause is not told as the one of either.
    assert members_of(*wanted) == {"paths-read-otherwise": ("slash", "plus")}
    twice = replace(wanted[0], check="twice", level=Level.INTEROP)
    other = about_a_name("other", "another-object", "a slash", Level.INTEROP)
    assert members_of(*wanted[:1], twice, other) == {
        "another-object-another": ("other", "slash", "twice")
    }


def test_what_follows_from_a_table_made_at_once_is_told_with_it() -> None:
    other = failing("other", expected="200", actual="422", evidence=(evidence("updateTable"),))
    assert members_of(AT_ONCE, COMPLETES)["staged-at-once"] == ("at-once", "ends")
    assert "other" not in members_of(AT_ONCE, other)["staged-at-once"]


@pytest.mark.parametrize("operations", [2, 3])
def test_requests_that_nothing_reads_are_one_cause_from_three_operations_on(operations) -> None:
    taken, others = UNREAD[:operations], NOT_READ_EITHER
    assert (len(members_of(*taken, *others)) == 1) == (operations == 3)


@pytest.mark.parametrize("broken", [1, 2])
def test_malformed_requests_that_break_something_count_as_those_that_are_taken(broken) -> None:
    breaks = [malformed(f"b{at}", "500") for at in range(broken)]
    assert (len(members_of(UNREAD[0], *breaks)) == 1) == (broken == 2)
    semantic = [
        failing(f"s{at}", expected="400", actual="500", requirements=("a.column",))
        for at in range(3)
    ]
    assert len(members_of(UNREAD[0], *semantic)) == 2
    assert len(members_of(*breaks, malformed("b9", "500"))) == 1


def test_a_malformed_request_that_is_refused_otherwise_was_read() -> None:
    assert len(members_of(*UNREAD, malformed("o9", "422", "400 or 409"))) == 2


def test_refusals_that_end_as_server_errors_are_one_cause_whichever_was_due() -> None:
    taken = failing("taken", expected="409", actual="500")
    (cause,) = causes_of([malformed("bad", "500"), taken], CONTRACT)
    assert (cause.expected, cause.actual) == ("4xx", "500")
    assert cause.members == ("bad", "taken")
    (alone,) = causes_of([taken, replace(taken, check="raced")], CONTRACT)
    assert alone.expected == "409"
    gateway = failing("late", expected="404", actual="502")
    assert len(members_of(taken, gateway)) == 2
    success = failing("works", expected="200", actual="500")
    assert len(members_of(taken, success)) == 2
    assert len(members_of(malformed("bad", "500"), failing("again", expected="409"))) == 2


def test_an_answer_that_hides_a_loss_is_one_cause_with_it() -> None:
    lost = failing("lost", "effect-missing:sort-orders", "asc", "desc")
    told = failing("told", "answer-differs-from-load", "as a load shows it", "another one")
    shown = [
        replace(told, findings=(replace(told.findings[0], pointer=f"/metadata/{place}"),))
        for place in ("sort-orders/1/fields/0/direction", "schemas/0/fields/0/doc")
    ]
    assert members_of(lost, shown[0]) == {"effect-missing:sort-orders": ("lost", "told")}
    assert len(members_of(lost, shown[1])) == 2
    of_file = failing("file", "effect-missing:registered-metadata", "2", "0")
    registered = replace(shown[1], operations=("registerTable",))
    assert len(members_of(of_file, registered)) == 1
    assert len(members_of(of_file, shown[1])) == 2


def test_what_commits_leave_wrong_beside_ignored_updates_is_one_cause_with_them() -> None:
    lost = [
        failing(f"u{kind}", f"effect-missing:{kind}", operations=("updateTable",))
        for kind in ("schema", "refs", "statistics")
    ]
    beside = failing("beside", "changed-beside:snapshot", operations=("updateTable", "loadTable"))
    races = failing("raced", "anomaly:lost-update", operations=("updateTable",))
    namespace = failing("ns", "effect-missing:properties", operations=("loadNamespaceMetadata",))
    of_table = failing("set", "effect-missing:properties", operations=("updateTable",))
    causes = members_of(*lost, beside, races, namespace, of_table)
    assert "beside" in causes["ignores-updates"]
    assert len(causes) == 3


def test_wrong_entries_of_the_list_of_endpoints_are_one_cause() -> None:
    (cause,) = causes_of(RUNS["endpoints"], CONTRACT)
    assert (cause.level, cause.members, cause.lesser) == (Level.MUST, ("format",), ("spelt",))


def test_lists_that_do_not_look_at_the_namespace_are_one_cause() -> None:
    leaf, missing = RUNS["lists"]
    (cause,) = causes_of([leaf, missing], CONTRACT)
    assert (cause.symptom, cause.members) == ("listing", ("leaf", "missing"))
    top = replace(leaf, requirements=("listNamespaces.top-level",))
    assert len(causes_of([top, missing], CONTRACT)) == 2
    table = failing("no-table", operations=("loadTable",))
    assert len(causes_of([leaf, missing, table], CONTRACT)) == 2
    # Tables are not listed by ``parent``: theirs is an unknown namespace that is taken for empty.
    tables = failing("no-tables", "status", "404", "200", operations=("listTables",))
    found = causes_of([leaf, missing, tables], CONTRACT)
    assert {cause.members for cause in found} == {("leaf",), ("missing", "no-tables")}


@pytest.mark.parametrize(("member", "together"), [("next-row-id", True), ("schema-id", False)])
def test_what_tables_of_version_3_lack_is_one_cause(member: str, together: bool) -> None:
    actual = f'"{member}" is a required property'
    lacking = failing("lacks", "schema:required", "every member", actual, level=Level.SHOULD)
    found = causes_of([failing("kept", "effect-missing:initial-default"), lacking], CONTRACT)
    assert [c.symptom for c in found][:1] == ["effect-missing:defaults-of-columns"]
    assert (len(found) == 1) is together


def test_the_body_of_a_server_error_that_was_not_due_is_one_cause_with_it() -> None:
    causes = causes_of(RUNS["error-pages"], CONTRACT)
    assert {(c.symptom, c.members) for c in causes} == {
        ("status", ("breaks", "page")),
        ("schema:type", ("body",)),
    }


def test_what_commits_leave_wrong_elsewhere_is_another_cause_where_some_have_their_effect() -> None:
    places = {"schema": "/metadata/schemas/1", "refs": "/metadata/refs/a", "statistics": ""}
    lost = [
        pointed(failing(f"u{kind}", f"effect-missing:{kind}", operations=("updateTable",)), place)
        for kind, place in places.items()
    ]
    of_commits = ("updateTable", "loadTable")
    refs = failing("refs", "snapshot-above-the-last", operations=of_commits)
    log = pointed(failing("log", "log-lost", operations=of_commits), "/metadata/metadata-log")
    works = failing(
        "works", outcome=Outcome.PASS, findings=(), requirements=("update.set-properties.effect",)
    )
    causes = members_of(*lost, refs, log, works)
    assert causes["ignores-updates"] == ("uschema", "urefs", "ustatistics", "refs")
    assert len(causes) == 2


def pointed(verdict: Verdict, pointer: str) -> Verdict:
    return replace(verdict, findings=(replace(verdict.findings[0], pointer=pointer),))
