"""Spark reaches a catalog that wants a certificate from its clients, as the suite itself does."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.mock_server import MockCatalog
from icecheck.spark import SparkUnavailable, SparkWorkbench
from icecheck.targets.target import Target
from tests.kit.one_spark import OneSpark
from tests.kit.serving import gateway
from tests.unit.access.certificates import Authority, Certified

pytestmark = pytest.mark.spark


def traditional(files: Certified) -> Path:
    """Write the key anew in the form that OpenSSL had before PKCS #8."""
    key = serialization.load_pem_private_key(files.key.read_bytes(), None)
    path = files.key.with_suffix(".traditional")
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.mark.complete("starts a JVM with trust of its own, and ends the one that tests share")
def test_spark_shows_the_certificate_that_the_target_names(
    tmp_path: Path, one_spark: OneSpark
) -> None:
    one_spark.stop()  # what a JVM trusts and shows is for all of its sessions
    authority = Authority(tmp_path)
    mine = authority.certify("client")
    mock = MockCatalog(seed=1)
    with (
        SparkWorkbench.start() as workbench,
        gateway(mock, lambda _: True, authority.demanding()) as url,
    ):
        old = traditional(mine)
        with pytest.raises(SparkUnavailable, match="pkcs8"):
            workbench.prepare_tls(Target(url, client_cert=str(mine.cert), client_key=str(old)))
        target = Target(
            url,
            ca_bundle=str(authority.bundle),
            client_cert=str(mine.cert),
            client_key=str(mine.key),
        )
        session = open_session(target, run_id="tls")
        sql, name = workbench.session(Catalog(session, "tls"))
        assert sql.sql(f"SHOW NAMESPACES IN {name}").count() == 1
        session.close()
    mock.stop()
