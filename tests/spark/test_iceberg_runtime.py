"""Which Iceberg runtime is chosen, and which jars are refused."""

import hashlib
import os
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from icecheck.spark import runtime
from icecheck.spark.runtime import PySpark, choose_runtime
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import default_for

SPARK_35 = PySpark("3.5.9", Path("/spark"))
SPARK_40 = PySpark("4.0.5", Path("/spark"))


def fake_jar(path: Path, classes: Iterable[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in classes:
            archive.writestr(f"{name}.class", b"\xca\xfe\xba\xbe")
    return path


def whole_jar(path: Path) -> Path:
    return fake_jar(path, runtime.REQUIRED_CLASSES.values())


def test_a_jar_without_its_shaded_libraries_is_refused_by_name(tmp_path: Path) -> None:
    jar = fake_jar(tmp_path / "thin.jar", ["org/apache/iceberg/spark/SparkCatalog"])
    with pytest.raises(SparkUnavailable) as caught:
        choose_runtime(SPARK_35, str(jar), {})
    assert str(caught.value) == (
        f"--iceberg-jar names {jar}, which lacks shaded Jackson and shaded HttpClient5: "
        "give the whole iceberg-spark-runtime jar"
    )


def test_a_whole_jar_given_by_path_is_taken_whatever_its_sum(tmp_path: Path) -> None:
    jar = whole_jar(tmp_path / "whole.jar")
    found = choose_runtime(SPARK_35, None, {"ICECHECK_ICEBERG_JAR": str(jar)})
    assert found.jars == (jar,)
    assert found.packages == ""
    assert found.fingerprint == hashlib.sha256(jar.read_bytes()).hexdigest()


def test_several_jars_are_checked_together(tmp_path: Path) -> None:
    jackson, client, catalog = runtime.REQUIRED_CLASSES.values()
    first = fake_jar(tmp_path / "a.jar", [jackson, catalog])
    second = fake_jar(tmp_path / "b.jar", [client])
    found = choose_runtime(SPARK_35, f"{first}{os.pathsep}{second}", {})
    assert found.jars == (first, second)


def test_the_path_given_wins_over_the_environment(tmp_path: Path) -> None:
    mine, other = whole_jar(tmp_path / "mine.jar"), whole_jar(tmp_path / "other.jar")
    found = choose_runtime(SPARK_35, str(mine), {"ICECHECK_ICEBERG_JAR": str(other)})
    assert found.jars == (mine,)


@pytest.mark.parametrize("content", [None, b"this is no jar"])
def test_a_path_without_a_jar_is_refused(tmp_path: Path, content: bytes | None) -> None:
    jar = tmp_path / "x.jar"
    if content is not None:
        jar.write_bytes(content)
    with pytest.raises(SparkUnavailable, match=r"x\.jar"):
        choose_runtime(SPARK_35, str(jar), {})


def test_coordinates_of_the_environment_win_over_the_wheel(tmp_path: Path) -> None:
    packages = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.11.0, a.b:c-bundle:1.0"
    found = choose_runtime(
        SPARK_35,
        None,
        {"ICECHECK_ICEBERG_PACKAGES": packages},
        lambda: whole_jar(tmp_path / "wheel.jar"),
    )
    assert found.packages == (
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.11.0,a.b:c-bundle:1.0"
    )
    assert found.jars == ()


def test_what_the_user_names_wins_over_the_environment(tmp_path: Path) -> None:
    jar = whole_jar(tmp_path / "env.jar")
    packages = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.11.0"
    environment = {"ICECHECK_ICEBERG_JAR": str(jar)}
    assert choose_runtime(SPARK_35, None, environment, packages=packages).packages == packages
    assert choose_runtime(SPARK_35, str(jar), environment, packages=packages).jars == (jar,)


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        ("iceberg-spark-runtime", "group:artifact:version"),
        ("org.apache.iceberg:iceberg-aws-bundle:1.10.2", "names no iceberg-spark-runtime"),
    ],
)
def test_useless_coordinates_are_refused(packages: str, said: str) -> None:
    with pytest.raises(SparkUnavailable, match=said):
        choose_runtime(SPARK_35, None, {"ICECHECK_ICEBERG_PACKAGES": packages})


def test_the_wheels_jar_is_taken_when_its_sum_is_apaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = whole_jar(tmp_path / runtime.WHEEL_JAR)
    monkeypatch.setattr(runtime, "WHEEL_JAR_SHA256", hashlib.sha256(jar.read_bytes()).hexdigest())
    assert choose_runtime(SPARK_35, None, {}, lambda: jar).jars == (jar,)


def test_a_wheel_with_another_sum_is_refused(tmp_path: Path) -> None:
    jar = whole_jar(tmp_path / runtime.WHEEL_JAR)
    with pytest.raises(SparkUnavailable, match="not Apache's c562d482dcd1") as caught:
        choose_runtime(SPARK_35, None, {}, lambda: jar)
    assert "pip install 'snowpark-connect-deps-iceberg==1.0.2'" in str(caught.value)


def test_a_stripped_wheel_is_refused_and_the_three_ways_are_named(tmp_path: Path) -> None:
    jar = fake_jar(tmp_path / runtime.WHEEL_JAR, ["org/apache/iceberg/spark/SparkCatalog"])
    with pytest.raises(SparkUnavailable) as caught:
        choose_runtime(SPARK_35, None, {}, lambda: jar)
    message = str(caught.value)
    assert "was stripped of shaded Jackson and shaded HttpClient5" in message
    for way in ("pip install", "ICECHECK_ICEBERG_JAR", "ICECHECK_ICEBERG_PACKAGES"):
        assert way in message


def test_without_a_wheel_the_coordinates_of_the_installed_spark_are_used() -> None:
    found = choose_runtime(SPARK_35, None, {}, lambda: None)
    assert found.packages == "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2"


def test_the_wheel_serves_spark_35_only(tmp_path: Path) -> None:
    jar = whole_jar(tmp_path / runtime.WHEEL_JAR)
    found = choose_runtime(PySpark("4.0.5", Path("/spark")), None, {}, lambda: jar)
    assert found.packages == "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0"


def test_an_unknown_spark_without_a_runtime_names_the_three_ways() -> None:
    with pytest.raises(SparkUnavailable) as caught:
        choose_runtime(PySpark("9.9.1", Path("/spark")), None, {}, lambda: None)
    assert "PySpark 9.9.1" in str(caught.value)
    assert "ICECHECK_ICEBERG_PACKAGES" in str(caught.value)


def fetched(home: Path, place: str) -> Path:
    """Put a jar where Ivy or Maven keeps it."""
    jar = home / place
    jar.parent.mkdir(parents=True)
    return whole_jar(jar)


NAME = "iceberg-spark-runtime-4.0_2.13"


@pytest.mark.parametrize(
    "place",
    [
        f".m2/repository/org/apache/iceberg/{NAME}/1.11.0/{NAME}-1.11.0.jar",
        f".ivy2.5.2/jars/org.apache.iceberg_{NAME}-1.11.0.jar",
        f".ivy2/cache/org.apache.iceberg/{NAME}/jars/{NAME}-1.11.0.jar",
    ],
)
def test_a_jar_that_was_fetched_before_is_taken_in_place_of_its_coordinates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    jar = fetched(tmp_path, place)
    whole = replace(default_for("4.0"), sha256=hashlib.sha256(jar.read_bytes()).hexdigest())
    monkeypatch.setattr(runtime, "with_coordinates", lambda _: whole)
    found = choose_runtime(SPARK_40, None, {"HOME": str(tmp_path)}, lambda: None)
    assert (found.jars, found.packages, found.iceberg) == ((jar,), "", "1.11.0")
    assert found.fingerprint == whole.sha256


def test_a_fetched_jar_with_another_sum_is_left_alone(tmp_path: Path) -> None:
    fetched(tmp_path, f".ivy2.5.2/jars/org.apache.iceberg_{NAME}-1.11.0.jar")
    found = choose_runtime(SPARK_40, None, {"HOME": str(tmp_path)}, lambda: None)
    assert (found.jars, found.packages) == ((), default_for("4.0").coordinates)


def test_coordinates_of_several_artifacts_are_left_to_ivy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = fetched(tmp_path, f".ivy2.5.2/jars/org.apache.iceberg_{NAME}-1.11.0.jar")
    known = replace(default_for("4.0"), sha256=hashlib.sha256(jar.read_bytes()).hexdigest())
    monkeypatch.setattr(runtime, "with_coordinates", lambda _: known)
    both = f"{known.coordinates},org.apache.iceberg:iceberg-aws-bundle:1.11.0"
    found = choose_runtime(SPARK_40, None, {"HOME": str(tmp_path)}, packages=both)
    assert (found.jars, found.packages, found.iceberg) == ((), both, "1.11.0")


FAKE_MAVEN = """#!/bin/sh
echo "$@" > "$HOME/asked"
mkdir -p "$HOME/.m2/repository/{folder}"
cp "$HOME/whole.jar" "$HOME/.m2/repository/{folder}/{jar}"
"""


@pytest.mark.parametrize("fetches", [True, False])
def test_maven_fetches_a_known_runtime_and_what_it_cannot_fetch_is_left_to_ivy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetches: bool
) -> None:
    jar = whole_jar(tmp_path / "whole.jar")
    known = default_for("4.0")
    assert known is not None
    known = replace(known, sha256=hashlib.sha256(jar.read_bytes()).hexdigest())
    monkeypatch.setattr(
        runtime, "with_coordinates", lambda each: known if each == known.coordinates else None
    )
    maven = tmp_path / "mvn"
    folder = f"org/apache/iceberg/{NAME}/1.11.0"
    text = FAKE_MAVEN.format(folder=folder, jar=f"{NAME}-1.11.0.jar")
    maven.write_text(text if fetches else "#!/bin/sh\nexit 1\n")
    maven.chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    chosen = choose_runtime(SPARK_40, None, environment, lambda: None)
    found = runtime.fetched_by_maven(chosen, environment)
    if not fetches:
        assert found == chosen
        return
    assert f"-Dartifact={known.coordinates}" in (tmp_path / "asked").read_text()
    assert found.jars == (tmp_path / ".m2" / "repository" / folder / f"{NAME}-1.11.0.jar",)
    assert (found.packages, found.iceberg) == ("", "1.11.0")
    others = replace(chosen, packages=f"{known.coordinates},a.b:c:1")
    assert runtime.fetched_by_maven(others, environment) == others


def test_the_release_of_a_given_jar_is_read_from_it(tmp_path: Path) -> None:
    jar = whole_jar(tmp_path / "mine.jar")
    assert choose_runtime(SPARK_35, str(jar), {}).iceberg == ""
    with zipfile.ZipFile(jar, "a") as archive:
        archive.writestr("iceberg-build.properties", "git.branch=x\ngit.build.version=1.11.0\n")
    assert choose_runtime(SPARK_35, str(jar), {}).iceberg == "1.11.0"
