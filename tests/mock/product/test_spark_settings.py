"""What Spark is told of a mock catalog: where it is, who asks, and the Iceberg runtime."""

import os
from pathlib import Path

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.clients import connections as clients
from icecheck.mock_server.clients.connections import iceberg_runtime


def test_the_spark_settings_name_catalog_warehouse_and_token() -> None:
    with MockCatalog(token="secret") as mock:
        settings = mock.spark_conf("cat", warehouse="wh")
        assert settings["spark.sql.catalog.cat"] == "org.apache.iceberg.spark.SparkCatalog"
        assert settings["spark.sql.catalog.cat.uri"] == mock.uri
        assert settings["spark.sql.catalog.cat.warehouse"] == "wh"
        assert settings["spark.sql.catalog.cat.token"] == "secret"
    with MockCatalog() as mock:
        assert not any(key.endswith("token") for key in mock.spark_conf("cat"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"ICECHECK_ICEBERG_JAR": os.pathsep.join(("/a.jar", "/b.jar"))},
            {"spark.jars": "/a.jar,/b.jar"},
        ),
        ({"ICECHECK_ICEBERG_PACKAGES": "g:a:1"}, {"spark.jars.packages": "g:a:1"}),
    ],
)
def test_the_iceberg_runtime_that_the_user_names_is_in_the_settings(
    environment: dict[str, str], expected: dict[str, str]
) -> None:
    assert iceberg_runtime(environment) == expected


def test_the_installed_iceberg_runtime_is_in_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "snowpark_connect_deps_iceberg"
    jar = package / "jars" / "iceberg-spark-runtime-3.5_2.12-1.10.2.jar"
    jar.parent.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(clients, "version", lambda _: "3.5.9")
    assert iceberg_runtime({}) == {}
    jar.touch()
    assert iceberg_runtime({}) == {"spark.jars": str(jar)}
    monkeypatch.setattr(clients, "version", lambda _: "4.0.5")
    assert iceberg_runtime({}) == {}
