"""Class archives: when they are written, published, used and thrown away."""

import itertools
import os
import stat
from pathlib import Path

import pytest

from icecheck.spark.class_archive import ARCHIVES_KEPT, ClassArchive, cache_directory, plan_archive
from icecheck.spark.java import Java


@pytest.fixture
def java(tmp_path: Path) -> Java:
    """A Java that has its own archive, so that no base needs to be dumped."""
    home = tmp_path / "java"
    server = home / "lib" / "server"
    server.mkdir(parents=True)
    (server / "libjvm.so").write_bytes(b"vm")
    (server / "classes.jsa").write_bytes(b"base")
    return Java(home, "21.0.8", 21, "JAVA_HOME")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def jar(tmp_path: Path, content: bytes = b"jar") -> Path:
    path = tmp_path / "a.jar"
    path.write_bytes(content)
    return path


def test_the_first_jvm_writes_beside_and_publishes_when_it_ended_well(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    plan = plan_archive(java, [jar(tmp_path)], "3.5.9", environment)
    assert plan.partial is not None
    assert plan.final is not None
    assert f"-XX:ArchiveClassesAtExit={plan.partial}" in plan.flags
    assert plan.partial != plan.final
    plan.partial.write_bytes(b"archive")
    plan.keep(0)
    assert plan.final.read_bytes() == b"archive"
    assert not plan.partial.exists()


def test_the_next_jvm_uses_what_was_published(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    first = plan_archive(java, [jar(tmp_path)], "3.5.9", environment)
    assert first.partial is not None
    first.partial.write_bytes(b"archive")
    first.keep(0)
    second = plan_archive(java, [tmp_path / "a.jar"], "3.5.9", environment)
    assert second.flags == ("-Xshare:auto", f"-XX:SharedArchiveFile={first.final}")
    assert second.partial is None


def test_a_jvm_that_crashed_publishes_nothing(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    plan = plan_archive(java, [jar(tmp_path)], "3.5.9", environment)
    assert plan.partial is not None
    assert plan.final is not None
    plan.partial.write_bytes(b"half")
    plan.keep(1)
    assert not plan.final.exists()
    assert not plan.partial.exists()


def test_a_jvm_that_wrote_nothing_publishes_nothing(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    plan = plan_archive(java, [jar(tmp_path)], "3.5.9", environment)
    plan.keep(0)
    assert plan.final is not None
    assert not plan.final.exists()


@pytest.mark.parametrize("change", ["jar", "salt", "java"])
def test_what_the_jvm_is_made_of_is_in_the_name(
    tmp_path: Path, java: Java, environment: dict[str, str], change: str
) -> None:
    before = plan_archive(java, [jar(tmp_path)], "3.5.9", environment).final
    if change == "jar":
        jar(tmp_path, b"a longer jar")
    if change == "java":
        (java.library / "libjvm.so").write_bytes(b"another vm")
    salt = "3.5.10" if change == "salt" else "3.5.9"
    assert plan_archive(java, [tmp_path / "a.jar"], salt, environment).final != before


def test_archives_can_be_turned_off(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    plan = plan_archive(java, [jar(tmp_path)], "x", {**environment, "ICECHECK_SPARK_CDS": "0"})
    assert plan == ClassArchive(flags=("-Xshare:auto",))
    assert not cache_directory(environment).exists()


def test_a_cache_that_cannot_be_made_is_no_error(tmp_path: Path, java: Java) -> None:
    (tmp_path / "file").write_text("in the way")
    plan = plan_archive(java, [jar(tmp_path)], "x", {"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert plan == ClassArchive(flags=("-Xshare:auto",))


def fake_dump(java: Java, script: str) -> None:
    (java.library / "classes.jsa").unlink()
    java.executable.parent.mkdir()
    java.executable.write_text(f"#!/bin/sh\n{script}\n")
    java.executable.chmod(java.executable.stat().st_mode | stat.S_IXUSR)


def test_a_java_without_its_own_archive_gets_one_outside_its_package(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    fake_dump(java, 'for a in "$@"; do case $a in *File=*) echo x > "${a#*File=}";; esac; done')
    plan = plan_archive(java, [jar(tmp_path)], "x", environment)
    (base,) = cache_directory(environment).glob("java-*.jsa")
    assert f"-XX:SharedArchiveFile={base}" in plan.flags
    assert not (java.library / "classes.jsa").exists()
    assert plan.partial is not None
    plan.partial.write_bytes(b"archive")
    plan.keep(0)
    used = plan_archive(java, [tmp_path / "a.jar"], "x", environment)
    assert used.flags[-1] == f"-XX:SharedArchiveFile={base}{os.pathsep}{plan.final}"


def test_a_java_that_cannot_make_its_archive_runs_without(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    fake_dump(java, "exit 1")
    plan = plan_archive(java, [jar(tmp_path)], "x", environment)
    assert plan == ClassArchive(flags=("-Xshare:auto",))


def test_only_the_archives_used_last_are_kept(
    tmp_path: Path, java: Java, environment: dict[str, str]
) -> None:
    directory = cache_directory(environment)
    directory.mkdir(parents=True)
    for age, kind in itertools.product(range(1, ARCHIVES_KEPT + 3), ("spark", "java")):
        old = directory / f"{kind}-{age}.jsa"
        old.write_bytes(b"old")
        os.utime(old, (1_000_000 - age, 1_000_000 - age))
    abandoned = directory / "spark-9.17.partial"
    abandoned.write_bytes(b"half")
    os.utime(abandoned, (1, 1))
    plan = plan_archive(java, [jar(tmp_path)], "x", environment)
    assert plan.partial is not None
    assert plan.final is not None
    plan.partial.write_bytes(b"new")
    plan.keep(0)
    kept = {path.name for path in directory.iterdir()}
    others = {f"spark-{age}.jsa" for age in range(1, ARCHIVES_KEPT)}
    of_java = {f"java-{age}.jsa" for age in range(1, ARCHIVES_KEPT + 1)}
    assert kept == {plan.final.name} | others | of_java
