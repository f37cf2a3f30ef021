"""Makes the JVM trust the certificates of a PEM bundle, which Java cannot read by itself."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["trust_certificates"]


def trust_certificates(spark: "SparkSession", ca_bundle: str, directory: Path) -> int:
    """Make the whole JVM trust exactly the certificates of ``ca_bundle``; return their number.

    ``directory`` gets the key store that Java's HTTP clients are pointed to. As with the
    suite's own client, a bundle replaces the authorities that are trusted by default. Java reads
    the store once, so this must come before the first TLS connection.
    """
    gateway: Any = spark.sparkContext._gateway  # noqa: SLF001 - PySpark's only way into the JVM
    jvm = gateway.jvm
    store_path = directory / "trusted.p12"
    password = secrets.token_hex(16)
    password_characters = gateway.new_array(jvm.char, len(password))
    for position, character in enumerate(password):
        password_characters[position] = character
    source = jvm.java.io.FileInputStream(str(Path(ca_bundle).absolute()))
    try:
        factory = jvm.java.security.cert.CertificateFactory.getInstance("X.509")
        certificates = list(factory.generateCertificates(source))
    finally:
        source.close()
    store = jvm.java.security.KeyStore.getInstance("PKCS12")
    store.load(None, None)
    for number, certificate in enumerate(certificates):
        store.setCertificateEntry(f"authority-{number}", certificate)
    sink = jvm.java.io.FileOutputStream(str(store_path))
    try:
        store.store(sink, password_characters)
    finally:
        sink.close()
    system = jvm.java.lang.System
    system.setProperty("javax.net.ssl.trustStore", str(store_path))
    system.setProperty("javax.net.ssl.trustStoreType", "PKCS12")
    system.setProperty("javax.net.ssl.trustStorePassword", password)
    return len(certificates)
