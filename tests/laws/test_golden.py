"""The list of debts only gets shorter; golden files are compared unless they are to be written."""

from pathlib import Path

import pytest

from tests.laws.golden import DEBTS, VARIABLE, debts, expect_debts, expect_golden


@pytest.fixture(autouse=True)
def _compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / DEBTS).write_text("# owed\nfruit apple\nfruit pear\ntool saw\n")
    return tmp_path


def test_debts_are_listed_by_kind(folder: Path) -> None:
    assert debts("fruit", folder) == {"apple", "pear"}
    expect_debts("fruit", ["pear", "apple"], folder)
    expect_debts("tool", ["saw"], folder)


def test_a_new_debt_fails(folder: Path) -> None:
    with pytest.raises(AssertionError, match="plum"):
        expect_debts("fruit", ["apple", "pear", "plum"], folder)


def test_a_paid_debt_fails_until_its_line_is_gone(folder: Path) -> None:
    with pytest.raises(AssertionError, match=r"no longer owed.*pear"):
        expect_debts("fruit", ["apple"], folder)


def test_updating_strikes_out_and_adds_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(AssertionError, match="plum"):
        expect_debts("fruit", ["apple", "plum"], folder)
    assert debts("fruit", folder) == {"apple"}
    assert debts("tool", folder) == {"saw"}


def test_a_golden_file_shows_what_changed(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("one\ntwo\n")
    expect_golden("names.txt", ["one", "two"], tmp_path)
    with pytest.raises(AssertionError, match=r"-two\n\+three"):
        expect_golden("names.txt", ["one", "three"], tmp_path)


def test_updating_writes_a_golden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "1")
    expect_golden("names.txt", ["one"], tmp_path)
    assert (tmp_path / "names.txt").read_text() == "one\n"
