"""The examples in the documents are files that can be used."""

import re
from pathlib import Path

import pytest

from icecheck.run.expectations import expectations_from
from tests.kit.contracts import CONTRACT

ROOT = Path(__file__).parents[3]


def examples():
    for name in ("README.md", "docs/expectations.md"):
        for number, text in enumerate(
            re.findall(r"```toml\n(.*?)```", (ROOT / name).read_text(), re.DOTALL), 1
        ):
            if "[[expectation]]" in text:
                yield pytest.param(text, id=f"{name} {number}")


@pytest.mark.parametrize("text", list(examples()))
def test_an_example_is_read_and_names_checks_that_exist(text):
    file = expectations_from(text, Path("icecheck.toml"), CONTRACT)
    assert len(file.entries) == text.count("[[expectation]]")


def test_there_are_examples():
    assert len(list(examples())) >= 2
