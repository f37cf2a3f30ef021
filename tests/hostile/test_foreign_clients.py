"""What `icecheck connect` prints is all that these clients need, from DuckDB to iceberg-rust."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.mock_server.clients.connection import Connection, ConnectionUnusable

pytestmark = pytest.mark.hostile

BUILD_SECONDS_MAX = 3_600
AWKWARD = "tok'en\"1"
SETTINGS = {
    "open": {},
    "token": {"token": AWKWARD},
    "oauth2": {"oauth2": OAuth2Settings(clients=(Client("me", "s3'cr"),))},
}

DUCKDB = """
import importlib.util, sys
from pathlib import Path
import duckdb
sql = duckdb.connect()
for name in ("avro", "httpfs", "iceberg"):
    package = Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
    sql.load_extension(str(next(package.rglob("*.duckdb_extension"))))
for statement in sys.stdin.read().split(";\\n"):
    if statement.strip():
        sql.execute(statement)
sql.execute("CREATE SCHEMA mock.d")
sql.execute("CREATE TABLE mock.d.t (id BIGINT)")
sql.execute("INSERT INTO mock.d.t VALUES (1)")
assert sql.execute("SELECT count(*) FROM mock.d.t").fetchone() == (1,)
"""
CLICKHOUSE = """
import sys
from chdb import session
clickhouse = session.Session()
for statement in sys.stdin.read().split(";\\n"):
    if statement.strip():
        clickhouse.query(statement)
assert "d.t" in str(clickhouse.query("SHOW TABLES FROM mock"))
"""
SAIL = """
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
_, port = server.listening_address
spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
spark.sql("CREATE SCHEMA mock.s").collect()
assert "s" in {row[0] for row in spark.sql("SHOW DATABASES IN mock").collect()}
"""
GO = """
package main

import (
	"context"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

func main() {
	ctx, name := context.Background(), table.Identifier{"g", "t"}
	%s
	check(err)
	check(cat.CreateNamespace(ctx, name[:1], nil))
	id := iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64}
	_, err = cat.CreateTable(ctx, name, iceberg.NewSchema(0, id))
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
"""
RUST = """
#[tokio::main]
async fn main() -> iceberg::Result<()> {
    use iceberg::{Catalog, NamespaceIdent, TableCreation};
    use iceberg::spec::{NestedField, PrimitiveType, Schema, Type};

    %s
    let space = NamespaceIdent::new("r".to_string());
    catalog.create_namespace(&space, HashMap::new()).await?;
    let id = NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long)).into();
    let schema = Schema::builder().with_fields(vec![id]).build()?;
    let table = TableCreation::builder().name("t".to_string()).schema(schema).build();
    catalog.create_table(&space, table).await?;
    Ok(())
}
"""
PROGRAMS = Path(__file__).parents[1] / "dialects" / "programs"
JAVASCRIPT = """
await catalog.createNamespace({ namespace: ["j"] });
const listed = JSON.stringify(await catalog.listNamespaces());
if (!listed.includes('"j"')) throw new Error(listed);
"""
PACKAGES = {
    "duckdb": (
        "duckdb==1.5.5", "duckdb-extension-iceberg==1.5.5", "duckdb-extension-avro==1.5.5",
        "duckdb-extension-httpfs==1.5.5",
    ),
    "clickhouse": ("chdb==4.4.0",),
    "sail": (
        "pysail==0.7.2", "pyspark==3.5.9", "grpcio", "grpcio-status", "googleapis-common-protos",
        "pandas", "pyarrow", "setuptools<81",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An environment for each client."""
    made = {}
    for name, packages in PACKAGES.items():
        home = tmp_path_factory.mktemp(name)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        made[name] = home / "bin" / "python"
        subprocess.run([made[name], "-m", "pip", "install", "-q", *packages], check=True)
    return made


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in Rust with iceberg-rust, in the versions of the recordings: built once."""
    return _copied("rust", tmp_path_factory)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same in Go."""
    return _copied("go", tmp_path_factory)


def _copied(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp(language) / "program"
    return shutil.copytree(PROGRAMS / language, place)


@pytest.fixture(params=SETTINGS)
def mock(request: pytest.FixtureRequest) -> Iterator[MockCatalog]:
    with MockCatalog(**SETTINGS[request.param]) as running:
        running.states.seed({"warehouses": {"wh": [{"name": "d0"}]}})
        yield running


@pytest.fixture
def connection(mock: MockCatalog) -> Connection:
    return mock.connection("wh")


def run(command: list[object], **options: object) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**clean, **options.pop("env", {})}
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr


def test_duckdb_and_clickhouse_use_the_statements(
    connection: Connection, pythons: dict[str, Path]
) -> None:
    run([pythons["duckdb"], "-c", DUCKDB], input=connection.duckdb_attach())
    run([pythons["clickhouse"], "-c", CLICKHOUSE], input=connection.clickhouse())


def test_sail_uses_the_variable(connection: Connection, pythons: dict[str, Path]) -> None:
    if connection.credential is None:
        run([pythons["sail"], "-c", SAIL], env=connection.sail_environment())
    else:
        with pytest.raises(ConnectionUnusable):
            connection.sail_environment()


@pytest.mark.parametrize("version", ["0.8.1", "1.0.0"])
def test_iceberg_js_uses_the_lines(connection: Connection, tmp_path: Path, version: str) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    assert npm, "no npm on this machine: apt-get install npm"
    assert node, "no Node on this machine: apt-get install nodejs"
    if connection.credential is None:
        run([npm, "install", "--silent", f"iceberg-js@{version}"], cwd=tmp_path)
        (tmp_path / "program.mjs").write_text(connection.js() + JAVASCRIPT)
        run([node, "program.mjs"], cwd=tmp_path)
    else:
        with pytest.raises(ConnectionUnusable):
            connection.js()


def test_iceberg_go_uses_the_lines(mock: MockCatalog, connection: Connection, module: Path) -> None:
    go = shutil.which("go")
    assert go, "no Go on this machine: apt-get install golang"
    imported, lines = connection.go().split("\n\n")
    program = (GO % lines).replace("import (\n", f"{imported.removeprefix('// ')}\nimport (\n")
    (module / "main.go").write_text(program)
    run([go, "run", "-mod=mod", "."], cwd=module)
    assert mock.state("wh").table(("g",), "t") is not None


def test_iceberg_rust_uses_the_lines(
    mock: MockCatalog, connection: Connection, crate: Path
) -> None:
    cargo = shutil.which("cargo")
    assert cargo, "no cargo on this machine: rustup installs Rust"
    (crate / "src" / "main.rs").write_text(RUST % connection.rust())
    run([cargo, "run", "--quiet", "--jobs", "1"], cwd=crate)
    assert mock.state("wh").table(("r",), "t") is not None
