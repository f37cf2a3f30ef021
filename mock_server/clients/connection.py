"""How each client reaches a warehouse, in its own words: settings, statements, lines of a program.

It was tried with PyIceberg, Spark 3.5, 4.0 and 4.1, DuckDB, ClickHouse, Sail, iceberg-js,
iceberg-go and iceberg-rust; not with Trino and Flink.
"""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from icecheck.mock_server.clients.connections import file_settings, pyiceberg_catalog, spark_conf
from icecheck.mock_server.security.authorization import TOKEN_PATH
from icecheck.mock_server.security.settings import OAuth2Settings

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import BaseAdapter

QUOTE, BACKTICK = '"', "`"


class ConnectionUnusable(ValueError):
    """Raised for what a client cannot use, or was never tried with; the message says what."""


class Connection(msgspec.Struct, frozen=True):
    """A warehouse of a catalog, and the credentials for it: a `token`, or `ID:SECRET`.

    `name` is what the client calls the catalog. `is_s3`: its tables are in an object store whose
    credentials the catalog vends.
    """

    uri: str
    warehouse: str
    name: str = "mock"
    token: str | None = None
    credential: str | None = None
    is_s3: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """The properties that Java's client, PyIceberg and others share."""
        known = {"type": "rest", "uri": self.uri, "warehouse": self.warehouse}
        return known | self.access

    @property
    def access(self) -> dict[str, str]:
        """The properties with the credentials."""
        if self.token is not None:
            return {"token": self.token}
        if self.credential is not None:
            return {"credential": self.credential, "oauth2-server-uri": self.token_endpoint}
        return {}

    @property
    def token_endpoint(self) -> str:
        """Where tokens are given out."""
        return f"{self.uri}{TOKEN_PATH}"

    def spark_conf(self) -> dict[str, str]:
        """Return Spark's settings, for `SparkSession.builder.config(map=…)`."""
        return spark_conf(self.name, self.uri, self.warehouse, self.access, is_s3=self.is_s3)

    def spark_defaults(self) -> str:
        """Return Spark's settings as a file `spark-defaults.conf`."""
        settings = {**self.spark_conf(), "spark.sql.defaultCatalog": self.name}
        return "".join(f"{key} {_in_properties(value)}\n" for key, value in settings.items())

    def pyiceberg_catalog(
        self, adapter: "BaseAdapter | None", properties: Mapping[str, str], *, is_chosen: bool
    ) -> "RestCatalog":
        """Return a catalog of PyIceberg; a token in `properties` is used unless one `is_chosen`."""
        access = self.access if is_chosen or "token" not in properties else {}
        return pyiceberg_catalog(self.uri, self.warehouse, access, adapter, properties)

    def pyiceberg(self) -> str:
        """Return a file `.pyiceberg.yaml`."""
        lines = [f"    {key}: {_quoted(value)}\n" for key, value in self.properties.items()]
        return f"catalog:\n  {_quoted(self.name)}:\n" + "".join(lines)

    def pyiceberg_environment(self) -> dict[str, str]:
        """Return the variables by which PyIceberg knows the catalog as its default one."""
        begin = "PYICEBERG_CATALOG__DEFAULT__"
        return {
            f"{begin}{key.upper().replace('-', '_')}": value
            for key, value in self.properties.items()
        }

    def duckdb_attach(self) -> str:
        """Return DuckDB's statements; it needs the extensions iceberg, avro and httpfs."""
        attach = (
            f"ATTACH {_sql(self.warehouse)} AS {_in(self.name, QUOTE)} "
            f"(TYPE iceberg, ENDPOINT {_sql(self.uri)}"
        )
        if self.token is not None:
            given = f"TOKEN {_sql(self.token)}"
        elif self.credential is not None:
            client, _, secret = self.credential.partition(":")
            given = (
                f"CLIENT_ID {_sql(client)}, CLIENT_SECRET {_sql(secret)}, "
                f"OAUTH2_SERVER_URI {_sql(self.token_endpoint)}, OAUTH2_SCOPE 'catalog'"
            )
        else:
            return f"{attach}, AUTHORIZATION_TYPE 'none');\n"
        secret_name = _in(f"{self.name}_secret", QUOTE)
        return (
            f"CREATE SECRET {secret_name} (TYPE iceberg, {given});\n"
            f"{attach}, SECRET {secret_name});\n"
        )

    def trino_catalog(self) -> str:
        """Return Trino's file `etc/catalog/NAME.properties`."""
        self._expect_files("Trino")
        settings = {
            "connector.name": "iceberg",
            "iceberg.catalog.type": "rest",
            "iceberg.rest-catalog.uri": self.uri,
            "iceberg.rest-catalog.warehouse": self.warehouse,
            "fs.hadoop.enabled": "true",
        }
        if self.access:
            settings["iceberg.rest-catalog.security"] = "OAUTH2"
        if self.token is not None:
            settings["iceberg.rest-catalog.oauth2.token"] = self.token
        elif self.credential is not None:
            settings["iceberg.rest-catalog.oauth2.credential"] = self.credential
            settings["iceberg.rest-catalog.oauth2.server-uri"] = self.token_endpoint
        return "".join(f"{key}={_in_properties(value)}\n" for key, value in settings.items())

    def flink_conf(self) -> str:
        """Return Flink's statement; it needs the runtime of Iceberg for Flink."""
        settings = {"type": "iceberg", "catalog-type": "rest"}
        settings |= {key: value for key, value in self.properties.items() if key != "type"}
        settings |= file_settings(is_s3=self.is_s3)
        listed = ",\n".join(f"  {_sql(key)} = {_sql(value)}" for key, value in settings.items())
        return f"CREATE CATALOG {_in(self.name, BACKTICK)} WITH (\n{listed}\n);\n"

    def clickhouse(self) -> str:
        """Return ClickHouse's statements; it wants keys, also where the files are local."""
        self._expect_files("ClickHouse")
        settings = {
            "catalog_type": "rest",
            "warehouse": self.warehouse,
            "aws_access_key_id": "none",
            "aws_secret_access_key": "none",
        }
        if self.token is not None:
            settings["auth_header"] = f"Authorization: Bearer {self.token}"
        elif self.credential is not None:
            settings["catalog_credential"] = self.credential
            settings["oauth_server_uri"] = self.token_endpoint
            settings["auth_scope"] = "catalog"
        address = f"{self.uri}/v1"
        listed = ", ".join(f"{key} = {_clickhouse(value)}" for key, value in settings.items())
        return (
            "SET allow_database_iceberg = 1;\n"
            f"CREATE DATABASE {_in(self.name, BACKTICK)} "
            f"ENGINE = DataLakeCatalog({_clickhouse(address)})\n"
            f"SETTINGS {listed}, vended_credentials = false;\n"
        )

    def sail(self) -> str:
        """Return Sail's variable for a shell; its tables want a LOCATION when they are created."""
        return "".join(
            f"{name}={shlex.quote(value)}\n" for name, value in self.sail_environment().items()
        )

    def sail_environment(self) -> dict[str, str]:
        """Return the variable by which Sail knows the catalog."""
        settings = {"name": self.name, "type": "iceberg-rest", "uri": self.uri}
        settings["warehouse"] = self.warehouse
        if self.token is not None:
            settings["bearer_access_token"] = self.token
        self._expect_no_credential("Sail")
        self._expect_files("Sail")
        listed = ", ".join(f"{key}={_quoted(value)}" for key, value in settings.items())
        return {"SAIL_CATALOG__LIST": f"[{{{listed}}}]"}

    def go(self) -> str:
        """Return the lines of a program with iceberg-go; what they import stands above them."""
        self._expect_files("iceberg-go")
        options = [f"rest.WithWarehouseLocation({_quoted(self.warehouse)})"]
        if self.token is not None:
            options.append(f"rest.WithOAuthToken({_quoted(self.token)})")
        elif self.credential is not None:
            options.append(f"rest.WithCredential({_quoted(self.credential)})")
        listed = "".join(f",\n\t{option}" for option in options)
        return (
            '// import "github.com/apache/iceberg-go/catalog/rest"\n\n'
            f"cat, err := rest.NewCatalog(ctx, {_quoted(self.name)}, {_quoted(self.uri)}{listed})\n"
        )

    def rust(self) -> str:
        """Return the lines of a program with iceberg-rust."""
        self._expect_files("iceberg-rust")
        properties = {key: value for key, value in self.properties.items() if key != "type"}
        listed = "".join(
            f"    ({_quoted(key)}.to_string(), {_quoted(value)}.to_string()),\n"
            for key, value in properties.items()
        )
        return (
            "use std::{collections::HashMap, sync::Arc};\n\n"
            "use iceberg::{CatalogBuilder, io::LocalFsStorageFactory};\n"
            "use iceberg_catalog_rest::RestCatalogBuilder;\n\n"
            f"let properties = HashMap::from([\n{listed}]);\n"
            "let catalog = RestCatalogBuilder::default()\n"
            "    .with_storage_factory(Arc::new(LocalFsStorageFactory))\n"
            f"    .load({_quoted(self.name)}, properties)\n"
            "    .await?;\n"
        )

    def js(self) -> str:
        """Return the lines of a program with iceberg-js.

        Before its version 1 it asked for no configuration, and `catalogName` was a part of paths:
        then the server needs to know the warehouse.
        """
        self._expect_no_credential("iceberg-js")
        auth = {"type": "none"} if self.token is None else {"type": "bearer", "token": self.token}
        shown = ", ".join(f"{key}: {_quoted(value)}" for key, value in auth.items())
        return (
            'import { IcebergRestCatalog } from "iceberg-js";\n\n'
            "const catalog = new IcebergRestCatalog({\n"
            f"  baseUrl: {_quoted(self.uri)},\n"
            f"  catalogName: {_quoted(self.warehouse)},\n"
            f"  auth: {{ {shown} }},\n"
            "});\n"
        )

    def _expect_no_credential(self, client: str) -> None:
        if self.credential is not None:
            raise ConnectionUnusable(f"{client} fetches no tokens: give it one (--token)")

    def _expect_files(self, client: str) -> None:
        if self.is_s3:
            raise ConnectionUnusable(
                f"{client} was not tried with an object store that the catalog vends credentials "
                "for, and needs settings of its own: PyIceberg, Spark and DuckDB were"
            )


def connection(
    uri: str,
    warehouse: str,
    name: str,
    token: str | None,
    oauth2: OAuth2Settings | None,
    credential: str | None,
    *,
    is_s3: bool = False,
) -> Connection:
    """Return the connection to a warehouse of a server that has these callers.

    `credential` is `ID:SECRET`; by default the static token, else the first client's.
    """
    if credential is None and token is not None:
        return Connection(uri, warehouse, name, token=token, is_s3=is_s3)
    if credential is None and oauth2 is not None:
        credential = f"{oauth2.clients[0].id}:{oauth2.clients[0].secret}"
    return Connection(uri, warehouse, name, credential=credential, is_s3=is_s3)


CLIENTS: Mapping[str, Callable[[Connection], str]] = {
    "pyiceberg": Connection.pyiceberg,
    "spark": Connection.spark_defaults,
    "duckdb": Connection.duckdb_attach,
    "trino": Connection.trino_catalog,
    "flink": Connection.flink_conf,
    "clickhouse": Connection.clickhouse,
    "sail": Connection.sail,
    "go": Connection.go,
    "rust": Connection.rust,
    "js": Connection.js,
}
"""What `icecheck connect` prints, by the client's name."""


def _quoted(text: str) -> str:
    """Return a text as JSON, YAML, TOML, Go, Rust and JavaScript write it."""
    return json.dumps(text, ensure_ascii=False)


def _clickhouse(text: str) -> str:
    """Return a text as ClickHouse writes it: backslashes begin something there."""
    return _sql(text.replace("\\", "\\\\"))


def _in_properties(text: str) -> str:
    """Return a value as a file of Java's properties has it: in ASCII, in units of UTF-16."""
    units = text.replace("\\", "\\\\").encode("utf-16-be")
    codes = [int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)


def _sql(text: str) -> str:
    return _in(text, "'")


def _in(text: str, mark: str) -> str:
    """Return a text between two marks; one that is in it is doubled, as SQL has it."""
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"
