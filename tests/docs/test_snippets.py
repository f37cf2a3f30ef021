"""What the documents tell a reader to type works, as it is written."""

import configparser
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from icecheck.cli import main
from tests.docs.rules import BLOCKS, COMMANDS, EXCLUDED, Rule, rule_of
from tests.docs.running import run
from tests.docs.snippets import DOCUMENTS, ROOT, commands, fenced
from tests.kit.shares import some

SNIPPETS = [*fenced(), *commands()]
RULED = [(s, rule_of(s.document, s.start, s.language)) for s in SNIPPETS]
# A command that stands in several sentences is run once.
RUN = list({(s.text, r): (s, r) for s, r in RULED if isinstance(r, Rule)}.values())


def test_every_snippet_is_run_or_excluded_for_a_reason():
    assert [f"{s}: {s.start}" for s, rule in RULED if rule is None] == []


def test_every_rule_is_about_a_snippet_that_there_is():
    found = [(s.document, s.start) for s in SNIPPETS]
    listed = {**EXCLUDED, **BLOCKS}
    unused = [
        (where, begins)
        for where, begins in listed
        if not any(d.startswith(where) and start.startswith(begins) for d, start in found)
    ]
    assert unused == []
    written = {start for _, start in found}
    assert [text for text in COMMANDS if text not in written] == []


QUICK = [(s, r) for s, r in RUN if not r.slow]
FIRST = [pair for pair in QUICK if pair[0].document == "README.md"]


@pytest.mark.parametrize(
    ("snippet", "rule"),
    [*FIRST, *some([pair for pair in QUICK if pair not in FIRST], 2)],
    ids=lambda value: str(value)[:60],
)
def test_a_snippet_works_as_it_is_written(snippet, rule, tmp_path):
    run(snippet, rule, tmp_path, Path(sys.executable).parent)


def test_every_option_that_a_document_names_is_one_of_a_command():
    known = {"--conformance-expectations", "--conformance-regressions"}
    known |= {"--help", "--pyargs", "--record"}  # of other programs
    commands = [main]
    while commands:
        command = commands.pop()
        known |= {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
        if isinstance(command, click.Group):
            context = click.Context(command)
            commands += [command.get_command(context, n) for n in command.list_commands(context)]
    unknown = []
    for document in DOCUMENTS:
        if document.startswith(("docs/decisions/", "docs/history/")):
            continue
        text = (ROOT / document).read_text()
        own = re.findall(r"`(--[a-z][a-z0-9-]*)", text)
        own += re.findall(r"icecheck [a-z-]+[^`\n]*? (--[a-z][a-z0-9-]*)", text)
        unknown += [(document, o) for o in own if o not in known and "catalog-" not in o]
    assert unknown == []


def test_every_tox_environment_and_module_that_a_document_names_is_there():
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini")
    text = "".join((ROOT / document).read_text() for document in DOCUMENTS)
    for named in re.findall(r"tox -e ([a-z0-9-]+(?:\.[a-z0-9-]+)*)", text):
        assert f"testenv:{named}" in tox or re.fullmatch(r"py3\d+", named), named
    for module in re.findall(r"python -m ([a-z_.]+)", text):
        assert module == "venv" or find_spec(module) is not None, module
