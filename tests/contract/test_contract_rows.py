"""Laws over the rows of the register: what each may cite, at which level, under which condition."""

import inspect
import re
from pathlib import Path

import icecheck.spark_tests
from icecheck.contract import Basis, Contract, Level, Ref, RefKind
from icecheck.contract.citations import sentences
from icecheck.contract.model import Requirement
from icecheck.findings.verdict import Group
from icecheck.judging.check import Check
from icecheck.run.collect import collect
from icecheck.spark_tests.script import read_scripts
from tests.kit.contracts import by_hand, of_every_version

SCRIPTS = Path(icecheck.spark_tests.__file__).parent / "scripts"
CONDITIONS = {
    "nested-namespaces": "nest",
    "namespace-properties": "propert",
    "stage-create": "stages",
    "pagination": "paginates",
    "etag": "ETags",
    "snapshot-history": "history of snapshots",
    "branches": "refs other than main",
    "tags": "refs other than main",
    "cross-namespace-rename": "across namespaces",
    "cross-namespace-view-rename": "across namespaces",
    "format-version-1": "format version",
    "format-version-3": "format version",
}
"""The words of a condition for each capability that a check can need."""
ARRANGED = frozenset({"metadata-only-snapshots", "format-version-2"})
"""What a check needs for the objects that it makes, and not for what its row is about."""
SAYING_400 = {
    "c9860af15758-19": "an unknown update or assertion of a commit",
    "417d4f568482-48": "a plan of a snapshot and of a range of them at once",
    "6242269932ab-13": "a change of a transaction that names no table",
}
"""The sentences, by their words, that ask for 400 or call a request invalid, and of what."""
LISTS = ("listNamespaces", "listTables", "listViews")


def of_the_document(row: Requirement) -> bool:
    """Return whether a row rests on the document's words or schemas."""
    return row.basis in {Basis.PROSE, Basis.SCHEMA}


@of_every_version
def test_what_the_document_says_is_cited_by_its_sentence_not_by_a_whole_operation(
    contract: Contract,
) -> None:
    whole = {contract.where(Ref(RefKind.OPERATION, name)) for name in contract.operations}
    assert [r.id for r in by_hand(contract) if of_the_document(r) and r.lines in whole] == []


@of_every_version
def test_what_no_more_than_clients_need_is_interop(contract: Contract) -> None:
    rows = contract.requirements.values()
    needs = [r.id for r in rows if r.basis is Basis.CLIENT_NEED and r.level is not Level.INTEROP]
    assert needs == []


@of_every_version
def test_a_rule_of_lists_has_one_level_and_one_basis_for_all_lists(contract: Contract) -> None:
    rules: dict[str, set[tuple[Level, Basis]]] = {}
    for row in by_hand(contract):
        operation_id, _, rule = row.id.partition(".")
        if operation_id in LISTS:
            rules.setdefault(rule, set()).add((row.level, row.basis))
    assert {rule: found for rule, found in rules.items() if len(found) > 1} == {}


@of_every_version
def test_an_exact_400_is_a_must_only_for_a_form_or_words_that_the_document_refuses(
    contract: Contract,
) -> None:
    """A status is demanded where a body breaks its schema, or the document says 400 or invalid.

    For what a well-formed request names and the catalog does not have, no sentence chooses among
    the refusals: that it is refused is the demand.
    """
    form = {Basis.SCHEMA, Basis.RESPONSE_TABLE}
    known = sentences(contract.version)
    said = {place for words in SAYING_400 for place in known.get(words, ())}
    exact = [r for r in contract.requirements.values() if "refused with 400" in r.text]
    must = [r for r in exact if r.level is Level.MUST]
    assert must
    assert [r.id for r in must if r.basis not in form and r.lines not in said] == []


@of_every_version
def test_what_all_checks_of_a_row_need_is_its_condition(contract: Contract) -> None:
    """A check that is skipped where a capability is missing proves a row with that condition."""
    checks: dict[str, list[Check]] = {}
    for check in collect(tuple(Group), contract, disruptive=True):
        for row in check.proves:
            checks.setdefault(row, []).append(check)
    silent = {}
    for row, proving in checks.items():
        needed = set.intersection(*(set(check.needs) for check in proving)) - ARRANGED
        condition = contract.requirements[row].condition or ""
        if missing := [each for each in needed if CONDITIONS[each] not in condition]:
            silent[row] = missing
    assert silent == {}


@of_every_version
def test_a_check_that_may_end_as_not_applicable_proves_a_row_with_a_condition(
    contract: Contract,
) -> None:
    ends = re.compile(r"(?<!_)\b(offered|not_applicable|NotOffered)\(|\bcapability=")
    always: set[str] = set()
    sometimes: set[str] = set()
    for check in collect(tuple(Group), contract, disruptive=True):
        judged = inspect.getsource(inspect.unwrap(check.function))
        (sometimes if ends.search(judged) else always).update(check.proves)
    rows = sometimes - always
    assert [row for row in sorted(rows) if not contract.requirements[row].condition] == []


@of_every_version
def test_what_a_script_of_spark_may_be_refused_is_the_condition_of_its_rows(
    contract: Contract,
) -> None:
    scripts = read_scripts(SCRIPTS)
    optional = [each for each in scripts if "-- may-refuse:" in each.path.read_text("utf-8")]
    assert optional
    rows = {row for each in optional for row in each.proves}
    assert [row for row in sorted(rows) if not contract.requirements[row].condition] == []


@of_every_version
def test_a_row_of_an_operation_that_may_be_unsupported_has_a_condition(contract: Contract) -> None:
    """The document has 406 for it: another answer is demanded of those who support it."""
    optional = {id_ for id_, each in contract.operations.items() if "406" in each.responses}
    assert "renameTable" in optional
    rows = [each for each in by_hand(contract) if each.id.partition(".")[0] in optional]
    assert [each.id for each in rows if not each.condition] == []
    assert contract.requirements["renameTable.204"].condition == "the catalog supports renameTable"


@of_every_version
def test_what_a_row_says_is_one_line_without_needless_spaces(contract: Contract) -> None:
    said = {
        f"{row.id}: {name}": text
        for row in contract.requirements.values()
        for name in ("text", "condition", "hurts", "changed", "not_tested", "disputed")
        if (text := getattr(row, name)) is not None
    }
    assert [where for where, text in said.items() if text != " ".join(text.split())] == []
