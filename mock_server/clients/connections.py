"""Ready-made connections of real clients to a mock catalog; each library is imported when used."""

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog
    from pyiceberg.catalog.rest.auth import AuthManager
    from requests import Session
    from requests.adapters import BaseAdapter


def pyiceberg_catalog(
    uri: str,
    warehouse: str,
    access: Mapping[str, str],
    adapter: "BaseAdapter | None",
    properties: Mapping[str, str],
) -> "RestCatalog":
    """Return a pyiceberg REST catalog; with an adapter its requests never reach a socket.

    `access` holds the properties with the credentials. `properties` are added to the ones made here
    and win over them.
    """
    try:
        from pyiceberg.catalog.rest import RestCatalog
    except ModuleNotFoundError as error:
        from icecheck.installing import install_command

        message = f"{error}: a PyIceberg catalog needs PyIceberg: {install_command('suite')}"
        raise ModuleNotFoundError(message, name=error.name) from error

    settings = {"uri": uri, "warehouse": warehouse, **access, **properties}
    if adapter is None:
        return RestCatalog("icecheck", **settings)

    class InProcessRestCatalog(RestCatalog):  # type: ignore[misc]
        """Mounts the adapter on every session, including the one that fetches the configuration."""

        def _create_session(self) -> "Session":
            session = super()._create_session()
            session.mount(uri, adapter)
            return session

        def _create_legacy_oauth2_auth_manager(self, session: "Session") -> "AuthManager":
            # The base class fetches a token here, before the session is complete.
            session.mount(uri, adapter)
            return super()._create_legacy_oauth2_auth_manager(session)

    return InProcessRestCatalog("icecheck", **settings)


def spark_conf(
    name: str, uri: str, warehouse: str, access: Mapping[str, str], *, is_s3: bool = False
) -> dict[str, str]:
    """Return Spark's settings, key -> value, for a catalog of this name on a server's warehouse.

    With `is_s3` its tables are read and written by S3FileIO with vended credentials.
    """
    catalog = f"spark.sql.catalog.{name}"
    settings = {
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "rest",
        f"{catalog}.uri": uri,
        f"{catalog}.warehouse": warehouse,
        f"{catalog}.cache-enabled": "false",
    }
    more = {**file_settings(is_s3=is_s3), **access}
    settings |= {f"{catalog}.{key}": value for key, value in more.items()}
    return settings | iceberg_runtime(os.environ)


def file_settings(*, is_s3: bool) -> dict[str, str]:
    """Return the properties by which Iceberg's Java clients read and write files.

    S3FileIO needs the jar iceberg-aws-bundle beside the runtime.
    """
    if not is_s3:
        return {"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}
    return {
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "header.X-Iceberg-Access-Delegation": "vended-credentials",
    }


def iceberg_runtime(environment: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's setting that puts the Iceberg runtime on the class path, or an empty one.

    ICECHECK_ICEBERG_JAR or ICECHECK_ICEBERG_PACKAGES comes first; otherwise the jar is that of the
    package snowpark-connect-deps-iceberg, which is for Spark 3.5 only. Empty if neither is known.
    """
    if jars := environment.get("ICECHECK_ICEBERG_JAR", ""):
        return {"spark.jars": ",".join(jars.split(os.pathsep))}
    if coordinates := environment.get("ICECHECK_ICEBERG_PACKAGES", ""):
        return {"spark.jars.packages": coordinates}
    try:
        is_served = version("pyspark").startswith("3.5.")
    except PackageNotFoundError:
        return {}
    package = find_spec("snowpark_connect_deps_iceberg") if is_served else None
    if package is None or package.origin is None:
        return {}
    folder = Path(package.origin).parent / "jars"
    jar = max(folder.glob("iceberg-spark-runtime-3.5_2.12-*.jar"), default=None)
    return {} if jar is None else {"spark.jars": str(jar)}
