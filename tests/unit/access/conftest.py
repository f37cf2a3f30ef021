"""The command line in this process, in a directory of its own."""

import pytest
from click.testing import CliRunner

from icecheck.cli import main


@pytest.fixture
def icecheck(tmp_path, monkeypatch):
    """Run the command line: ``icecheck(*arguments)`` returns its result."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, [str(a) for a in arguments])
