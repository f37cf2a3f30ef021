"""Law: every symptom is declared once, with a title and a severity, beside its code."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from icecheck.findings.symptoms import Severity
from icecheck.run.known_symptoms import known_symptoms
from tests.laws.golden import expect_golden

ROOT = Path(__file__).parents[2]
KNOWN = dict(known_symptoms())
FOLDERS = ("src/icecheck", "conformance", "scenarios", "spark_tests", "reports")
LINKS = frozenset({"conformance", "mock_server", "scenarios", "spark_tests", "reports"})


def sources() -> list[Path]:
    """Return every module that may raise or read a finding; linked modules once."""
    found = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    inside = ROOT / "src/icecheck"
    return [
        path
        for path in found
        if inside not in path.parents or path.relative_to(inside).parts[0] not in LINKS
    ]


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources()}


def calls(*names: str) -> Iterator[tuple[Path, ast.Call]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in names:
                    yield path, node


def declarations() -> dict[str, str]:
    """Slug -> the name of the constant, of everything declared."""
    return {
        node.value.args[0].value if isinstance(node.value.args[0], ast.Constant) else "": (
            node.targets[0].id
        )
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "declare"
    }


def test_severities_families_titles_and_who_is_hurt_are_as_reviewed() -> None:
    rows = [
        (slug, s.severity.word, s.grouped_as.slug, s.title, s.hurts) for slug, s in KNOWN.items()
    ]
    expect_golden("symptoms.txt", [" | ".join(row) for row in sorted(rows)])


def test_every_symptom_has_a_severity_and_a_title_that_is_a_sentence() -> None:
    assert {s.severity for s in KNOWN.values()} == {*Severity}
    titles = [s.title for s in KNOWN.values()]
    assert [t for t in titles if len(t) > 120 or len(t.split()) < 3 or t.endswith(".")] == []


def test_what_a_report_tells_apart_has_titles_that_differ() -> None:
    of_title: dict[str, set[str]] = {}
    for symptom in KNOWN.values():
        of_title.setdefault(symptom.meaning, set()).add(symptom.grouped_as.slug)
    assert {title: slugs for title, slugs in of_title.items() if len(slugs) > 1} == {}


def test_a_family_is_a_symptom_that_is_declared() -> None:
    families = {s.grouped_as for s in KNOWN.values()}
    assert {f.slug for f in families if KNOWN.get(f.slug) != f} == set()


def test_every_symptom_that_is_declared_can_be_raised() -> None:
    read = {
        node.id if isinstance(node, ast.Name) else node.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        or isinstance(node, ast.alias)
    }
    qualified = {
        getattr(call.func.value, "id", ""): ast.unparse(call.args[0]) if call.args else ""
        for _, call in calls("of")
        if isinstance(call.func, ast.Attribute)
    }
    constants = declarations()
    assert constants.keys() - {""} == KNOWN.keys() - {"target", "credentials"}
    never = [
        slug
        for slug, constant in constants.items()
        if slug and constant not in read and constants.get(slug.partition(":")[0]) not in qualified
    ]
    assert never == []


def test_no_text_is_taken_for_a_symptom() -> None:
    texts = (ast.Constant, ast.JoinedStr)
    plain = [
        f"{path.name}:{call.lineno}"
        for path, call in calls("Violation", "violation", "Finding", "again")
        if call.args and isinstance(call.args[0], texts)
    ]
    plain += [
        f"{path.name}:{call.lineno}"
        for path, tree in trees().items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "symptom" and isinstance(keyword.value, texts)
    ]
    assert plain == []


def test_a_finding_about_a_status_has_the_set_of_those_that_were_due() -> None:
    """`Reply.wrong_status` makes it; with words instead of the set it could not be grouped."""
    in_words = [
        f"{path.name}:{call.lineno}"
        for path, call in calls("Violation", "violation", "Finding")
        if call.args and getattr(call.args[0], "id", "") == "STATUS" and path.name != "expect.py"
    ]
    assert in_words == []


def test_nobody_reads_statuses_out_of_words() -> None:
    """Expected and actual statuses are sets and numbers; no code parses them from English."""
    split = [
        f"{path.name}:{call.lineno}"
        for path, call in calls("split", "partition", "rsplit")
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == " or "
    ]
    taken_apart = [
        f"{path.name}:{call.lineno}"
        for path, call in calls("startswith", "endswith", "split", "isdecimal", "count", "isdigit")
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Attribute)
        and call.func.value.attr in {"expected", "actual"}
    ]
    assert split + taken_apart == []
