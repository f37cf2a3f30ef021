"""Symptoms are declared once, and statuses are sets."""

import msgspec
import pytest

from icecheck.findings.shared_symptoms import DEFAULTS_MISSING, EFFECT_MISSING, LEAK, SCHEMA, VALUE
from icecheck.findings.statuses import (
    ANY_4XX,
    ANY_REFUSAL,
    ANY_SUCCESS,
    ANY_SUCCESS_OR_4XX,
    Statuses,
    what_is_wrong,
    wrong_status_severity,
)
from icecheck.findings.symptoms import Severity, declare, declared, symptom_named
from icecheck.findings.verdict import CauseKey, Finding
from tests.kit.findings import a_finding, statuses


def test_a_slug_that_is_declared_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="status"):
        declare("status", "Another title", Severity.SHAPE)


def test_a_symptom_without_a_title_is_an_error() -> None:
    with pytest.raises(ValueError, match="no-title-at-all"):
        declare("no-title-at-all", "", Severity.SHAPE)
    assert "no-title-at-all" not in declared()


def test_a_symptom_of_something_in_particular_has_it_in_slug_and_title() -> None:
    properties = EFFECT_MISSING.of("table-properties")
    assert properties.slug == "effect-missing:table-properties"
    assert properties.meaning.endswith("table properties")
    assert properties.is_a(EFFECT_MISSING)
    assert not EFFECT_MISSING.is_a(properties)
    assert symptom_named(properties.slug) == properties


def test_what_is_declared_for_one_qualifier_is_found_by_it() -> None:
    assert EFFECT_MISSING.of("initial-default").grouped_as == DEFAULTS_MISSING
    assert EFFECT_MISSING.of("initial-default").is_a(EFFECT_MISSING)
    assert LEAK.of("altered-success").title != LEAK.title


def test_a_slug_that_nobody_declares_is_no_symptom() -> None:
    assert symptom_named("never-heard-of") is None
    assert symptom_named("never-heard-of:x") is None


def test_a_title_is_not_filled_from_what_a_catalog_says() -> None:
    said = EFFECT_MISSING.of("{actual}").title_of("{what}", "secret")
    assert "secret" not in said
    assert SCHEMA.of("type").title_of("a", "b") == "Answers do not have the documented shape (type)"


def test_a_finding_survives_the_way_between_processes() -> None:
    for finding in (a_finding("status", "404 or 4xx", "200"), a_finding("value:a-b", "1", "2")):
        sent = msgspec.json.encode(finding)
        assert msgspec.convert(msgspec.json.decode(sent), Finding) == finding


def test_a_value_is_a_cause_of_its_check() -> None:
    one, other = (Finding(VALUE.of(check), "1", "2") for check in "ab")
    assert one.key != other.key
    assert one.key == CauseKey(VALUE.of("a"), "1", "2")


@pytest.mark.parametrize(
    ("due", "words"),
    [
        (Statuses.of(409, 404), "404 or 409"),
        (ANY_4XX, "4xx"),
        (ANY_SUCCESS, "2xx"),
        (ANY_SUCCESS_OR_4XX, "2xx or 4xx"),
        (ANY_REFUSAL, "a refusal"),
        (Statuses.of(404) | ANY_4XX, "404 or 4xx"),
        (ANY_SUCCESS | Statuses.of(400), "2xx or 400"),
    ],
)
def test_a_set_of_statuses_is_told_as_its_alternatives(due: Statuses, words: str) -> None:
    assert str(due) == words
    assert statuses(words) == due


@pytest.mark.parametrize(
    ("due", "success", "any_success", "refusal", "any_refusal"),
    [
        (Statuses(), False, False, False, False),
        (Statuses.of(200, 204), True, True, False, False),
        (Statuses.of(200, 404), False, True, False, False),
        (Statuses.of(404, 409), False, False, True, False),
        (Statuses.of(400, 404), False, False, True, True),
        (Statuses.of(200, 400), False, True, False, False),
        (ANY_4XX, False, False, True, True),
        (ANY_REFUSAL, False, False, False, True),
        (ANY_SUCCESS_OR_4XX, False, True, False, True),
        (ANY_SUCCESS, True, True, False, False),
    ],
)
def test_a_set_of_statuses_knows_what_is_in_it(
    due: Statuses, success: bool, any_success: bool, refusal: bool, any_refusal: bool
) -> None:
    assert (due.all_success, due.any_success) == (success, any_success)
    assert (due.all_refusal, due.any_refusal) == (refusal, any_refusal)


@pytest.mark.parametrize(
    ("due", "answered", "wrong", "came"),
    [
        ("400 or 404", 500, "4xx", "500"),
        ("200 or 204", 503, "2xx", "503"),
        ("404", 500, "404", "500"),
        ("404 or 409", 204, "404 or 409", "2xx"),
        ("a refusal", 200, "4xx", "2xx"),
        ("200", 404, "2xx", "4xx"),
        ("204", 200, "204", "200"),
        ("404", 410, "404", "410"),
        ("200 or 404", 200, "200 or 404", "2xx"),
    ],
)
def test_a_wrong_status_is_told_as_what_is_wrong_with_it(
    due: str, answered: int, wrong: str, came: str
) -> None:
    assert tuple(map(str, what_is_wrong(statuses(due), answered))) == (wrong, came)


@pytest.mark.parametrize(
    ("due", "answered", "severity"),
    [
        ("409", 200, Severity.FALSE_OR_LOST),
        ("404", 200, Severity.WRONG_STATUS),
        ("4xx", 204, Severity.WRONG_STATUS),
        ("200", 404, Severity.REFUSED),
        ("200 or 404", 400, Severity.REFUSED),
        ("404", 500, Severity.WRONG_STATUS),
        ("200", 500, Severity.WRONG_STATUS),
        ("200", 204, Severity.WRONG_STATUS),
    ],
)
def test_how_grave_a_wrong_status_is_depends_on_what_was_due(
    due: str, answered: int, severity: Severity
) -> None:
    assert wrong_status_severity(statuses(due), answered) is severity
    finding = a_finding("status", due, str(answered))
    assert finding.severity is severity


@pytest.mark.parametrize(
    "slug",
    [
        "another-table-came-back", "changed-beside:another-table", "committed-twice",
        "requirement-ignored", "stale-read-after-commit", "uuid-used-twice", "pages-incomplete",
        "planned-files", "planned-deletes", "residual-forgets-rows", "spark-rows",
        "wrong-table-answered", "snapshots-left-out", "view-history-lost",
        "something-of-the-first-life", "rename-changed-the-table", "rename-changed-the-view",
        "metadata-altered", "effect-on-another:drop-table", "anomaly:lost-update",
    ],
)  # fmt: skip
def test_lost_or_foreign_data_are_worse_than_any_status(slug: str) -> None:
    finding = a_finding(slug, "a", "b")
    assert finding.severity is Severity.FALSE_OR_LOST
    assert finding.severity < Severity.WRONG_STATUS
