"""The same target from flags, environment, icecheck.toml, PyIceberg's and Spark's settings."""

import json

import pytest

from icecheck.mock_server import MockCatalog
from icecheck.targets.sources import from_environment, from_spark_conf, from_toml, merged
from icecheck.targets.target import UsageError

FEW = ("--only", "checks", "--check", "getConfig.*", "--run-id", "same1")


@pytest.fixture
def mock():
    with MockCatalog(token="tok", warehouses=["other", "wh"]) as catalog:
        yield catalog


def flags(mock, tmp_path, monkeypatch):
    return ("--catalog-url", mock.uri, "--warehouse", "wh", "--token", "tok")


def environment(mock, tmp_path, monkeypatch):
    for name, value in {"URI": mock.uri, "WAREHOUSE": "wh", "TOKEN": "tok"}.items():
        monkeypatch.setenv(f"CATALOG_{name}", value)
    return ()


def toml(mock, tmp_path, monkeypatch):
    text = f'[target]\nurl = "{mock.uri}"\nwarehouse = "wh"\ntoken = "tok"\n'
    (tmp_path / "icecheck.toml").write_text(text)
    return ()


def pyiceberg(mock, tmp_path, monkeypatch):
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    text = f"catalog:\n  mine:\n    type: rest\n    uri: {mock.uri}\n    warehouse: wh\n"
    (tmp_path / ".pyiceberg.yaml").write_text(f"{text}    token: tok\n")
    return ("--pyiceberg-catalog", "mine")


def spark(mock, tmp_path, monkeypatch):
    lines = ["# mine", "spark.sql.catalog.c org.apache.iceberg.spark.SparkCatalog"]
    settings = {"type": "rest", "uri": mock.uri, "warehouse": "wh", "token": "tok"}
    lines += [f"spark.sql.catalog.c.{name}  {value}" for name, value in settings.items()]
    (tmp_path / "spark.conf").write_text("\n".join(lines))
    return ("--spark-conf", "spark.conf")


@pytest.mark.parametrize("source", [flags, environment, toml, pyiceberg, spark])
def test_the_same_target_from_every_source(icecheck, mock, tmp_path, monkeypatch, source):
    given = source(mock, tmp_path, monkeypatch)
    result = icecheck("run", *given, *FEW, "--output", "out")
    assert result.exit_code == 0, result.output
    facts = json.loads((tmp_path / "out" / "run.json").read_text())["target"]
    assert (facts["url"], facts["warehouse"]) == (mock.uri, "wh")


def test_a_flag_comes_before_the_environment_and_that_before_a_file():
    flag = {"url": None, "warehouse": "flag"}
    environment = {"url": "http://a", "warehouse": "environment", "scope": "environment"}
    file = {"url": "http://a/", "warehouse": "file", "scope": "file", "prefix": "file"}
    assert merged(flag, environment, file) == {
        "url": "http://a",
        "warehouse": "flag",
        "scope": "environment",
        "prefix": "file",
    }


def test_credentials_of_another_catalog_are_never_sent():
    environment = {"url": "http://theirs", "token": "secret", "headers": {"x": "y"}}
    assert merged({"url": "http://ours"}, environment) == {"url": "http://ours"}


def test_a_token_that_is_for_no_catalog_in_particular_is_for_this_one():
    assert merged({"url": "http://ours"}, {"token": "t"}) == {"url": "http://ours", "token": "t"}


def test_the_first_way_to_authenticate_wins():
    found = merged({"url": "http://a", "credential": "id:s"}, {"token": "t"})
    assert found == {"url": "http://a", "credential": "id:s"}


def test_the_environment_is_read_as_the_compatibility_kit_reads_it():
    given = {
        "CATALOG_URI": "http://a",
        "CATALOG_OAUTH2__SERVER__URI": "http://b/token",
        "CATALOG_HEADER_X__TENANT": "t",
        "CATALOG_IO__IMPL": "passed over",
        "CATALOG_TOKEN": "",
        "OTHER": "o",
    }
    assert from_environment(given) == {
        "url": "http://a",
        "oauth2_server_uri": "http://b/token",
        "headers": {"x-tenant": "t"},
    }


def test_levels_headers_and_flags_are_read_from_a_file():
    text = '[target]\nnamespace = ["a", "b.c"]\ntimeout = 3\n[target.headers]\nx = "y"\n'
    assert from_toml(text, "f") == {
        "namespace": ("a", "b.c"),
        "timeout_seconds": 3.0,
        "headers": {"x": "y"},
    }


def test_of_several_spark_catalogs_one_must_be_named(tmp_path):
    path = tmp_path / "spark.conf"
    path.write_text(
        "spark.sql.catalog.a.type=rest\nspark.sql.catalog.a.uri=http://a\n"
        "spark.sql.catalog.b.catalog-impl = org.apache.iceberg.rest.RESTCatalog\n"
        "spark.sql.catalog.b.uri http://b\nspark.sql.catalog.c.type hive\n"
    )
    with pytest.raises(UsageError, match="a, b"):
        from_spark_conf(path)
    with pytest.raises(UsageError, match="no REST catalog 'c'"):
        from_spark_conf(path, "c")
    assert from_spark_conf(path, "b") == {"url": "http://b"}


@pytest.mark.parametrize(
    "given",
    [
        ("--pyiceberg-catalog", "nobody"),
        ("--spark-catalog", "c"),
        ("--config", "missing.toml"),
        (),
    ],
)
def test_a_source_that_says_nothing_is_misuse(icecheck, given):
    result = icecheck("run", *given, *FEW)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
