"""`icecheck self-test`: what is caught, what is not, and what it comes to."""

import pytest

from icecheck.mock_server import defects as planted
from icecheck.mock_server.defects import Defect, defects


@pytest.fixture
def plant(monkeypatch):
    """Let the mock have these defects and no others."""
    return lambda *found: monkeypatch.setattr(
        planted, "defects", lambda: {d.name: d for d in found}
    )


def test_every_defect_of_a_glob_is_caught(icecheck):
    result = icecheck("self-test", "--defect", "namespace-drop-*")
    *lines, last = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) == sum(name.startswith("namespace-drop-") for name in defects())
    assert "caught  namespace-drop-cascades: dropNamespace.holds-table" in result.stdout
    assert f"{len(lines)} defects, all caught; the faithful mock passes all of the " in last


def test_quiet_says_only_what_it_comes_to(icecheck):
    result = icecheck("self-test", "--quiet", "--defect", "namespace-drop-cascades")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1


def test_a_defect_that_nobody_notices_is_missed(icecheck, plant):
    plant(Defect("harmless", "Does nothing", "dropNamespace.409", "Nobody.", lambda _: None))
    result = icecheck("self-test")
    assert result.exit_code == 1
    assert (
        "MISSED  harmless: no check of the broken requirement fails: dropNamespace.409"
        in result.stdout
    )
    assert "1 defect, 0 caught, 1 not; " in result.stdout


def test_a_defect_that_shows_at_another_level_is_missed(icecheck, plant):
    cascades = defects()["namespace-drop-cascades"]
    lesser = "dropNamespace.holds-namespace"
    plant(Defect("lesser", "Too much", lesser, "All.", cascades.install))
    result = icecheck("self-test")
    assert result.exit_code == 1
    assert "MISSED  lesser" in result.stdout


def test_an_unknown_defect_is_one_line(icecheck):
    result = icecheck("self-test", "--defect", "namespace-drop-cascade")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "did you mean namespace-drop-cascades" in result.stderr
