"""An authority and what it certifies, made for one test."""

import datetime as dt
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certified:
    """The files of a certificate and of its key."""

    cert: Path
    key: Path


class Authority:
    """Certifies names; ``bundle`` is the file that those who trust it have."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("the test's authority")
        self._count = 0
        cert = self._builder(self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        self.bundle = directory / "authority.pem"
        self.bundle.write_bytes(
            cert.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )

    def certify(self, name: str, password: bytes | None = None) -> Certified:
        """Return a certificate for a host or a client; its key may have a password."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(_name(name), key.public_key()).add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False
        )
        files = Certified(
            self._directory / f"{name}-{self._count}.pem",
            self._directory / f"{name}-{self._count}.key",
        )
        files.cert.write_bytes(
            builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        )
        files.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()
                if password is None
                else serialization.BestAvailableEncryption(password),
            )
        )
        return files

    def demanding(self) -> ssl.SSLContext:
        """Return a server's context that demands a certificate of this authority."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.bundle))
        mine = self.certify("localhost")
        context.load_cert_chain(mine.cert, mine.key)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _builder(
        self, subject: x509.Name, public_key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        self._count += 1
        now = dt.datetime.now(dt.UTC)
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=public_key,
            serial_number=x509.random_serial_number(),
            not_valid_before=now - _DAY,
            not_valid_after=now + _DAY,
        )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
