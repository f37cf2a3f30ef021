"""The documents tell the truth: the README's commands, and what CI runs."""

import re
import subprocess
from pathlib import Path

from icecheck.installing import PUBLISHED

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def fences(text):
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def test_the_first_screen_holds_exactly_two_commands_of_one_line():
    first_screen = README.partition("\n## ")[0]
    commands = fences(first_screen)
    assert len(commands) == 2
    assert all(len(c.strip().splitlines()) == 1 for c in commands)
    main, tests = commands
    assert "icecheck run --mock --spark" in main
    assert "pytest" in tests


def test_ci_runs_the_second_command_verbatim():
    script = (ROOT / ".ci" / "run").read_text()
    (extraction,) = re.findall(r"command=\$\((awk .*?)\)\n", script)
    said = subprocess.run(
        ["bash", "-c", extraction], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == fences(README)[1].strip()


def test_every_linked_file_exists():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [
        (document, link)
        for document in documents
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    ]
    assert [(str(d), link) for d, link in links if not (d.parent / link).exists()] == []


def decisions():
    """Return (file, title, first line of its text) of every decision, area by area."""
    areas = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    return [
        (area.name, title, first)
        for area in areas
        if area.name != "README.md"
        for title, first in re.findall(r"^## (.+)\n\n(.+)$", area.read_text(), re.MULTILINE)
    ]


def anchor(title):
    """Return what a heading is linked by: lower case, marks left out, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def test_every_decision_is_dated():
    assert [d for d in decisions() if not re.match(r"\d{4}-\d\d-\d\d\.", d[2])] == []


def test_the_index_of_decisions_links_each_of_them_and_nothing_else():
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    linked = re.findall(r"^- \[(.+)\]\((\S+)\)$", index, re.MULTILINE)
    assert len(linked) > 100
    assert sorted(linked) == sorted((t, f"{name}#{anchor(t)}") for name, t, _ in decisions())


def test_each_promise_of_the_security_page_names_tests_that_exist():
    rows = [line for line in (ROOT / "SECURITY.md").read_text().splitlines() if "| `tests/" in line]
    assert len(rows) >= 18
    for path, _, name in re.findall(r"`(tests/[\w/]+\.py)(::(\w+))?`", "\n".join(rows)):
        text = (ROOT / path).read_text()
        assert not name or f"def {name}(" in text, f"{path}::{name}"


def test_nobody_is_told_to_install_icecheck_by_name_before_it_is_published():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    words = re.compile(r"(?:pipx?|uv|uvx|poetry) (?:\w+ )?(?:-\S+ )*['\"]?icecheck\b")
    # The words for later stand in one module; tests quote it, and decisions are about the past.
    apart = ("src/icecheck/installing.py", "tests/", "docs/decisions/")
    told = [
        name
        for name in listed.stdout.splitlines()
        if not name.startswith(apart)
        and name.endswith((".md", ".py", ".toml", ".yml", ".sh", ".html"))
        and words.search((ROOT / name).read_text(encoding="utf-8"))
    ]
    assert PUBLISHED or told == []
