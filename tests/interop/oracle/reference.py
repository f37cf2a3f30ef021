"""Iceberg's own handlers in a JVM of their own, with an in-memory catalog behind them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j import java_gateway, protocol
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from icecheck.spark.launcher import SparkInstallation, find_installation
from tests.interop.oracle.answer import Answer, Json

JARS = ("py4j", "slf4j-api", "hadoop-client-api", "hadoop-client-runtime", "commons-logging")
FLAGS = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable")
REST = "org.apache.iceberg.rest"
JACKSON = "org.apache.iceberg.shaded.com.fasterxml.jackson"
NAMESPACE, TABLE = "ns", "t"

STATUSES = {
    "IllegalArgumentException": 400,
    "ValidationException": 400,
    "NoSuchNamespaceException": 404,
    "NoSuchTableException": 404,
    "UnsupportedOperationException": 406,
    "AlreadyExistsException": 409,
    "CommitFailedException": 409,
}
"""The status that the reference server answers for an exception; any other class is a 500."""

UNREAD = "UnreadBody"
"""What a body that Java's parsers refuse is called here: the reference server answers it with a
500 in HTML, before any handler runs."""
NOT_READ_BACK = "NotReadBack"
"""What it is called when Java has written metadata that it cannot read."""
_GAVE_UP = "java.lang.InterruptedException: sleep interrupted"


@contextmanager
def running_reference(folder: Path) -> Iterator["Reference"]:
    """Start the JVM, give the catalog, end the JVM. SparkUnavailable says what is missing."""
    installation = find_installation()
    log = (folder / "jvm.log").open("w", encoding="utf-8")
    port, token, process = launch_gateway(
        jarpath=str(_jars(installation, "py4j")[0]),
        classpath=":".join(map(str, _class_path(installation))),
        javaopts=list(FLAGS),
        java_path=str(installation.java.executable),
        die_on_exit=True,
        enable_auth=True,
        return_proc=True,
        redirect_stdout=log,
        redirect_stderr=log,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    try:
        yield Reference(gateway.jvm, folder)
    finally:
        # Without this, what is left of Java's objects would still call the JVM when collected.
        gateway.shutdown()
        process.stdin.close()  # which ends it
        process.wait(30)
        process.stdout.close()
        log.close()


def _jars(installation: SparkInstallation, name: str) -> list[Path]:
    return sorted((installation.pyspark.home / "jars").glob(f"{name}-*.jar"))


def _class_path(installation: SparkInstallation) -> list[Path]:
    bundled = (jar for name in JARS for jar in _jars(installation, name))
    return [*installation.runtime.jars, *bundled]


@contextmanager
def _unconverted() -> Iterator[None]:
    """Let py4j raise its own errors: once a Spark session was made in this process, PySpark turns
    them into its own, asking its own JVM about an exception of ours."""
    installed = java_gateway.get_return_value
    java_gateway.get_return_value = protocol.get_return_value
    try:
        yield
    finally:
        java_gateway.get_return_value = installed


class Reference:
    """One table of a Java catalog, asked with the bodies that clients send.

    Every look-up of a Java class is a round trip, so all of them are made once.
    """

    def __init__(self, jvm: Any, folder: Path) -> None:
        self._class = jvm.java.lang.Class.forName
        self._mapper = self._object_mapper(jvm)
        self._handlers = jvm.org.apache.iceberg.rest.CatalogHandlers
        self._namespace = jvm.org.apache.iceberg.rest.RESTUtil.decodeNamespace(NAMESPACE)
        self._name = jvm.org.apache.iceberg.catalog.TableIdentifier.of(self._namespace, TABLE)
        self._create = self._class(f"{REST}.requests.CreateTableRequest")
        self._update = self._class(f"{REST}.requests.UpdateTableRequest")
        self._catalog = jvm.org.apache.iceberg.inmemory.InMemoryCatalog()
        self._catalog.initialize("reference", jvm.java.util.HashMap())
        request = self._class(f"{REST}.requests.CreateNamespaceRequest")
        body = self._mapper.readValue(json.dumps({"namespace": [NAMESPACE]}), request)
        self._handlers.createNamespace(self._catalog, body)
        self._files = jvm.org.apache.iceberg.inmemory.InMemoryFileIO()
        # Metadata that it cannot read back Java reads again for minutes; an interrupted thread
        # does not wait, and so gives up at the first failure.
        self._thread = jvm.java.lang.Thread.currentThread()
        self._thread.interrupt()
        # py4j's socket holds back for 40 ms what an answer has above 8 kB: answers go by file.
        self._answer = folder / "answer.json"
        self._file = jvm.java.io.File(str(self._answer))
        self._versions = 0

    def _object_mapper(self, jvm: Any) -> Any:
        """Jackson as Iceberg's own mapper, which is not public, sets it up."""
        databind = jvm.org.apache.iceberg.shaded.com.fasterxml.jackson.databind
        mapper = databind.ObjectMapper()
        mapper.setVisibility(
            self._constant(f"{JACKSON}.annotation.PropertyAccessor", "FIELD"),
            self._constant(f"{JACKSON}.annotation.JsonAutoDetect$Visibility", "ANY"),
        )
        mapper.configure(databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, False)
        mapper.setPropertyNamingStrategy(
            self._constant(f"{JACKSON}.databind.PropertyNamingStrategies", "KEBAB_CASE")
        )
        jvm.org.apache.iceberg.rest.RESTSerializers.registerAll(mapper)
        return mapper

    def _constant(self, class_name: str, name: str) -> Any:
        return self._class(class_name).getField(name).get(None)

    def create_table(self, body: Json) -> Answer:
        """Answer createTable, or with `stage-create` what the staged table would be."""
        handler = (
            self._handlers.stageTableCreate
            if body.get("stage-create")
            else self._handlers.createTable
        )
        return self._asked(body, self._create, handler, self._namespace)

    def update_table(self, body: Json) -> Answer:
        """Answer updateTable."""
        return self._asked(body, self._update, self._handlers.updateTable, self._name)

    def _asked(self, body: Json, request: Any, handler: Any, name: Any) -> Answer:
        with _unconverted():
            return self._answered(body, request, handler, name)

    def _answered(self, body: Json, request: Any, handler: Any, name: Any) -> Answer:
        try:
            read = self._mapper.readValue(json.dumps(body), request)
        except Py4JJavaError as error:
            return Answer(500, UNREAD, str(error.java_exception.getMessage()))
        try:
            response = handler(self._catalog, name, read)
            self._mapper.writeValue(self._file, response)
        except Py4JJavaError as error:
            return self._failed(error.java_exception)
        answer = json.loads(self._answer.read_bytes())
        return Answer(
            200, metadata=answer["metadata"], metadata_location=answer.get("metadata-location")
        )

    def _failed(self, exception: Any) -> Answer:
        class_name, _, message = str(exception.toString()).partition(": ")
        kind = class_name.rpartition(".")[2]
        if message == _GAVE_UP:
            self._thread.interrupt()
            kind = NOT_READ_BACK
        return Answer(STATUSES.get(kind, 500), kind, message)

    def hold(self, metadata: Json | None) -> str | None:
        """Make this the table, or let there be none; give the metadata file's location.

        AssertionError if Java refuses to read the metadata.
        """
        self._catalog.dropTable(self._name, False)
        if metadata is None:
            return None
        self._versions += 1
        location = f"/held/metadata/{self._versions:05}-0.metadata.json"
        self._files.addFile(location, json.dumps(metadata).encode())
        try:
            with _unconverted():
                self._catalog.registerTable(self._name, location)
        except Py4JJavaError as error:
            raise AssertionError(
                f"Java cannot read the mock's metadata: {error.java_exception}"
            ) from error
        return location
