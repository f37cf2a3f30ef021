"""Converts PEM files for the JVM: authorities to trust, and a certificate to show.

Java reads no PEM by itself: its HTTP clients are pointed to PKCS #12 stores by system properties,
which Iceberg's client follows. The JVM reads them once, before its first TLS connection, so each is
for the whole JVM.
"""

import base64
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icecheck.spark.unavailable import SparkUnavailable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PRIVATE_KEY = re.compile(rb"-----BEGIN ((?:[A-Z]+ )*)PRIVATE KEY-----(.+?)-----END", re.DOTALL)
_ALGORITHMS = ("RSA", "EC", "Ed25519")


def trust_certificates(spark: "SparkSession", ca_bundle: str, directory: Path) -> int:
    """Make the whole JVM trust exactly the certificates of ``ca_bundle``; return their number.

    ``directory`` gets the key store that Java's HTTP clients are pointed to. As with the suite's
    own client, a bundle replaces the authorities that are trusted by default.
    """
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark's only way into the JVM
    certificates = _certificates(gateway.jvm, ca_bundle)

    def fill(store: Any, _password: Any) -> None:
        for number, certificate in enumerate(certificates):
            store.setCertificateEntry(f"authority-{number}", certificate)

    _point_to_store(gateway, "trustStore", directory / "trusted.p12", fill)
    return len(certificates)


def show_certificate(
    spark: "SparkSession", certificate: str, key: str | None, directory: Path
) -> None:
    """Make the whole JVM show the certificates of a PEM file, with a key in it or in a second one.

    Raises SparkUnavailable for a key that Java cannot read; it reads PKCS #8 only.
    """
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark's only way into the JVM
    jvm = gateway.jvm
    chain = _certificates(jvm, certificate)
    private_key = _private_key(jvm, key or certificate)
    shown = gateway.new_array(jvm.java.security.cert.Certificate, len(chain))
    for position, each in enumerate(chain):
        shown[position] = each

    def fill(store: Any, password: Any) -> None:
        store.setKeyEntry("client", private_key, password, shown)

    _point_to_store(gateway, "keyStore", directory / "shown.p12", fill)


def _certificates(jvm: Any, path: str) -> list[Any]:
    """Return the certificates of a PEM file; other content is ignored."""
    blocks = re.findall(
        rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?",
        Path(path).read_bytes(),
        re.DOTALL,
    )
    factory = jvm.java.security.cert.CertificateFactory.getInstance("X.509")
    source = jvm.java.io.ByteArrayInputStream(b"\n".join(blocks))
    return list(factory.generateCertificates(source))


def _private_key(jvm: Any, path: str) -> Any:
    from py4j.protocol import Py4JJavaError

    found = _PRIVATE_KEY.search(Path(path).read_bytes())
    if found is not None and not found[1]:
        spec = jvm.java.security.spec.PKCS8EncodedKeySpec(base64.b64decode(found[2]))
        for algorithm in _ALGORITHMS:
            try:
                return jvm.java.security.KeyFactory.getInstance(algorithm).generatePrivate(spec)
            except Py4JJavaError:
                continue  # a key of another algorithm
    raise SparkUnavailable(
        f"Spark's JVM cannot read the key in {path}: write it as PKCS #8, with "
        f"`openssl pkcs8 -topk8 -nocrypt -in {path} -out key.pem`"
    )


def _point_to_store(gateway: Any, which: str, path: Path, fill: Callable[[Any, Any], None]) -> None:
    """Write a PKCS #12 store with a password of its own, and make Java read it."""
    jvm = gateway.jvm
    password = secrets.token_hex(16)
    password_characters = gateway.new_array(jvm.char, len(password))
    for position, character in enumerate(password):
        password_characters[position] = character
    store = jvm.java.security.KeyStore.getInstance("PKCS12")
    store.load(None, None)
    fill(store, password_characters)
    sink = jvm.java.io.FileOutputStream(str(path))
    try:
        store.store(sink, password_characters)
    finally:
        sink.close()
    properties = {"": str(path), "Type": "PKCS12", "Password": password}
    for suffix, value in properties.items():
        jvm.java.lang.System.setProperty(f"javax.net.ssl.{which}{suffix}", value)
