"""A Spark for a job over much data: which masters it takes, and what it says when it fails."""

import socket
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from icecheck.cli.ending import ExitOnError
from icecheck.spark import SparkWorkbench
from icecheck.spark.failures import told_at_once
from icecheck.spark.unavailable import SparkFailed, SparkUnavailable
from icecheck.spark.working import expect_master, working_spark
from icecheck.targets.target import UsageError
from tests.kit.one_spark import OneSpark
from tests.kit.spark_cluster import own_address

pytestmark = pytest.mark.spark


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("master", ["local", "local[1]", "local[12]", "local[*]", "local[2,3]"])
def test_a_master_on_this_machine_is_taken(master: str) -> None:
    assert expect_master(master) == "127.0.0.1"


@pytest.mark.parametrize("host", ["127.0.0.1", own_address()])
def test_a_driver_listens_at_its_address_in_the_network_of_the_master(host: str) -> None:
    with socket.create_server((host, 0)) as server:
        assert expect_master(f"spark://{host}:{server.getsockname()[1]}") == host


def test_a_master_of_several_is_taken_if_one_of_them_answers(listening: str) -> None:
    expect_master(f"spark://{listening}")
    expect_master(f"spark://127.0.0.1:9,{listening}")
    with pytest.raises(UsageError, match="no Spark master answers"):
        expect_master("spark://127.0.0.1:9,127.0.0.1:10")


@pytest.mark.parametrize(
    "master",
    [
        "", "local[]", "local[0]", "local[-1]", "local[a]", "local[2,0]", "local[2] ", "local\n",
        "yarn", "k8s://https://127.0.0.1:9", "mesos://x:1", "spark://", "spark://x", "spark://x:y",
        "spark://127.0.0.1:9,", "spark://127.0.0.1:9,x", "local-cluster[1,1,1024]",
    ],
)  # fmt: skip
def test_what_cannot_be_a_master_is_refused(master: str) -> None:
    with pytest.raises(UsageError, match="--master"):
        expect_master(master)


def test_an_error_of_spark_is_told_in_words_that_need_no_spark_any_more(
    workbench: SparkWorkbench,
) -> None:
    spark = workbench.catalog_session("x", {"type": "hadoop", "warehouse": "/nowhere"})
    said = []
    for statement in (
        lambda: spark.sql("SELECT * FROM nowhere").collect(),
        lambda: spark.sparkContext.parallelize([1]).map(lambda x: x / 0).collect(),
        lambda: spark.sparkContext._jvm.java.lang.Integer.parseInt("no number"),
    ):
        with pytest.raises(SparkFailed) as caught, told_at_once():
            statement()
        said.append(str(caught.value))
        assert "str() failed" not in "".join(traceback.format_exception(caught.value))
    assert "TABLE_OR_VIEW_NOT_FOUND" in said[0]
    assert said[1].startswith("ZeroDivisionError")
    assert "no number" in said[2]


@pytest.mark.complete("starts a Spark that fails, and one that a failure ends")
def test_a_failure_can_be_read_when_spark_has_stopped(one_spark: OneSpark) -> None:
    one_spark.stop()
    with pytest.raises(SparkUnavailable, match="0 threads") as refused:
        SparkWorkbench.start({"spark.master": "local[0]"})
    assert "\n" not in str(refused.value)
    with pytest.raises(SparkFailed) as failed:
        _fail_in_spark()
    told = "".join(traceback.format_exception(failed.value))
    assert "nowhere" in str(failed.value)
    assert "_fail_in_spark" in told
    assert "str() failed" not in told


def _fail_in_spark() -> None:
    with working_spark("local[1]", "test", "") as workbench:
        catalog = {"type": "hadoop", "warehouse": "/nowhere"}
        workbench.catalog_session("x", catalog).sql("SELECT * FROM nowhere").collect()


class _Mute(Exception):
    def __str__(self) -> str:
        raise ConnectionRefusedError("who could say is gone")


def test_an_error_that_cannot_say_what_it_is_is_still_told_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, ExitOnError(tmp_path):
        raise _Mute
    assert ended.value.code == 3
    assert "_Mute" in capsys.readouterr().err
    assert "_Mute" in (tmp_path / "error.txt").read_text()
