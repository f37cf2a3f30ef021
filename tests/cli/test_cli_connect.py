"""`icecheck connect` prints what each client can use as it is."""

import io
import os
import shlex
import subprocess

import pytest
import yaml

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, WarehouseDeclaration
from icecheck.mock_server.clients.connection import CLIENTS, Connection, ConnectionUnusable
from icecheck.targets.sources import from_spark_conf

AWKWARD = 'it\'s a "t0ken" \\ of $HOME'


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_is_told_where_and_as_what(icecheck, client):
    shown = icecheck("connect", client, "--uri", "http://mock:1/v1/", "--warehouse", "wh")
    assert shown.exit_code == 0
    assert "http://mock:1" in shown.stdout
    assert "wh" in shown.stdout
    with_token = icecheck("connect", client, "--token", "t0ken")
    assert "t0ken" in with_token.stdout
    assert "t0ken" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "nobody"),
        (["spark", "--uri", "mock:8181"], "http://HOST:PORT"),
        (["spark", "--name", "my catalog"], "letters"),
        (["spark", "--name", "größe"], "letters"),
        (["spark", "--warehouse", "wh\nspark.driver.extraJavaOptions -Dx"], "control characters"),
        (["spark", "--credential", "alone"], "ID:SECRET"),
        (["spark", "--credential", "a:b", "--token", "c"], "not both"),
        (["js", "--credential", "a:b"], "--token"),
        (["sail", "--credential", "a:b"], "--token"),
    ],
)
def test_what_cannot_be_is_one_line(icecheck, words, said):
    refused = icecheck("connect", *words)
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
    assert said in refused.stderr


def test_pyiceberg_reads_what_it_is_given(tmp_path, monkeypatch):
    from pyiceberg.catalog import load_catalog

    oauth2 = OAuth2Settings(clients=(Client("me", AWKWARD),))
    for settings in ({"token": AWKWARD}, {"oauth2": oauth2}, {}):
        with MockCatalog(**settings) as mock:
            given = yaml.safe_load(mock.connection("wh").pyiceberg())["catalog"]["mock"]
            load_catalog("mock", **given).create_namespace("db")
            assert mock.state("wh").namespace(("db",)) is not None
            for name, value in mock.connection("wh").pyiceberg_environment().items():
                monkeypatch.setenv(name, value)
            assert given["uri"] == os.environ["PYICEBERG_CATALOG__DEFAULT__URI"]


def test_settings_for_spark_are_those_that_icecheck_reads_itself(tmp_path):
    connection = Connection("http://mock:1", "wh", credential="me:s3cret")
    (tmp_path / "spark-defaults.conf").write_text(connection.spark_defaults())
    facts = from_spark_conf(tmp_path / "spark-defaults.conf")
    assert (facts["url"], facts["warehouse"], facts["credential"]) == (
        "http://mock:1", "wh", "me:s3cret",
    )  # fmt: skip


def test_a_program_may_call_its_catalog_as_it_likes():
    """Spark takes such names between backticks; only what is typed has to be plain."""
    with MockCatalog() as mock:
        assert mock.spark_conf("my-catalog", "wh")["spark.sql.catalog.my-catalog.uri"] == mock.uri
        given = yaml.safe_load(mock.connection("wh", name="my-catalog").pyiceberg())
        assert given["catalog"]["my-catalog"]["warehouse"] == "wh"
        assert 'AS "a""b"' in mock.duckdb_attach("wh", name='a"b')


def test_a_shell_reads_the_variable_of_sail(tmp_path):
    connection = Connection("http://mock:1", "wh", token=AWKWARD)
    script = f'{connection.sail()}printf %s "$SAIL_CATALOG__LIST"\n'
    shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == connection.sail_environment()["SAIL_CATALOG__LIST"]
    assert shlex.split(connection.sail().strip()) == [f"SAIL_CATALOG__LIST={shown}"]


def test_a_client_without_a_way_to_fetch_tokens_says_so():
    oauth2 = OAuth2Settings(clients=(Client("me", "s3cret"),))
    with MockCatalog(oauth2=oauth2) as mock:
        assert "CLIENT_ID" in mock.duckdb_attach("wh")
        assert "WithCredential" in mock.go("wh")
        assert "credential" in mock.rust("wh")
        assert "oauth2.credential" in mock.trino_catalog("wh")
        assert "credential" in mock.flink_conf("wh")
        with pytest.raises(ConnectionUnusable, match="give it one"):
            mock.js("wh")


def test_awkward_values_stay_inside_of_their_quotes():
    connection = Connection("http://mock:1", "it's", "select", token="ab\\")
    assert 'AS "select"' in connection.duckdb_attach()
    assert "`select`" in connection.flink_conf()
    assert "'Authorization: Bearer ab\\\\'" in connection.clickhouse()
    assert "'it''s'" in connection.clickhouse()
    odd = Connection("http://mock:1", "C:\\new é 😀")
    line = "iceberg.rest-catalog.warehouse=C:\\\\new \\u00e9 \\ud83d\\ude00\n"
    assert line in odd.trino_catalog()


def test_a_file_of_trino_has_a_setting_on_each_line():
    lines = io.StringIO(Connection("http://mock:1", "wh", token="t").trino_catalog()).readlines()
    assert all(len(line.split("=", 1)) == 2 for line in lines)


@pytest.mark.parametrize("client", ["spark", "flink"])
def test_clients_in_java_read_an_object_store_with_what_is_vended(icecheck, client):
    local, stored = icecheck("connect", client), icecheck("connect", client, "--s3")
    for shown, files, delegation in ((local, "HadoopFileIO", 0), (stored, "S3FileIO", 1)):
        assert (shown.exit_code, files in shown.stdout) == (0, True)
        assert shown.stdout.count("X-Iceberg-Access-Delegation") == delegation


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_an_object_store_changes_what_a_client_is_told_or_is_refused(icecheck, client):
    local, stored = icecheck("connect", client), icecheck("connect", client, "--s3")
    if stored.exit_code:
        assert (stored.exit_code, len(stored.stderr.splitlines())) == (2, 1)
        assert client in {"trino", "clickhouse", "sail", "go", "rust"}
    else:
        # What these are told holds for any files: they ask the catalog, or never open one.
        assert (stored.stdout == local.stdout) == (client in {"pyiceberg", "duckdb", "js"})


def test_a_mock_knows_what_is_in_its_object_store():
    stored = WarehouseDeclaration("wh", location="s3://lake/wh")
    with MockCatalog(warehouses=[stored, "local"]) as mock:
        for name, files in (("wh", "S3FileIO"), ("local", "HadoopFileIO")):
            settings = mock.spark_conf("c", name)
            assert settings["spark.sql.catalog.c.io-impl"].endswith(f".{files}")
