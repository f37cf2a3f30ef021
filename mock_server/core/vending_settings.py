"""Settings for the storage credentials of the tables of a warehouse."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

Storage: TypeAlias = Literal["s3", "gcs", "adls"]

SCHEMES: Mapping[str, tuple[str, ...]] = {
    "s3": ("s3", "s3a", "s3n"),
    "gcs": ("gs",),
    "adls": ("abfs", "abfss", "wasb", "wasbs"),
}
"""The URI schemes of locations in each storage."""


class VendingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The storage credentials of a warehouse's tables, for clients that ask for them.

    - `seconds`: how long they are valid, on the server's clock.
    - `prefixes`: one credential for each of these; by default there is one, for the table's own
      location, because Java's S3 client wants that.
    - `config`: added to every credential, and wins over the values made up here; for a storage that
      knows its keys.
    - `table_config`: further entries of a table's `config`.
    - `signer_uri`: the address of another server that signs requests. Without one this server
      signs those to the tables at `s3://` as of 1.11.0, with the credentials that it vends.
    - `signed_below`: an `s3://` location. As of 1.11.0 tables are put below it whose creators ask
      for remote signing alone and name no location: so a server whose tables are elsewhere can be
      asked to sign. Nothing is read or written there; metadata files are in memory.
    - `embedded`: the credentials are those of the server's own object store, of a warehouse at an
      `s3://` location: they work, for the table's own places only (so `prefixes` has no effect).
      Such a warehouse has these settings by default.
    """

    storage: Storage
    seconds: int = 3600
    prefixes: tuple[str, ...] = ()
    config: Mapping[str, str] = {}
    table_config: Mapping[str, str] = {}
    region: str = "us-east-1"
    signer_uri: str | None = None
    signed_below: str | None = None
    embedded: bool = False

    def __post_init__(self) -> None:
        """Refuse (ValueError) settings that no client could use."""
        if self.storage not in SCHEMES:
            raise ValueError(f"storage is one of {', '.join(SCHEMES)}, not {self.storage!r}")
        if self.seconds < 2:
            raise ValueError("credentials must be valid for at least 2 seconds")
        msgspec.structs.force_setattr(self, "prefixes", tuple(self.prefixes))
        if not all(self.prefixes):
            raise ValueError("a prefix cannot be empty: clients do not read such credentials")
        if self.signer_uri is not None and self.storage != "s3":
            raise ValueError("remote signing is for s3 only")
        if self.embedded and (self.storage != "s3" or self.prefixes or self.signed_below):
            raise ValueError("the embedded object store is s3, and takes no prefixes or places")
        below = self.signed_below
        if below is not None and (self.storage != "s3" or not below.startswith("s3://")):
            raise ValueError("requests are signed for s3, to tables below an s3:// location")

    @property
    def signs(self) -> bool:
        """Whether requests to tables can be signed with these credentials, which are S3's."""
        return self.storage == "s3" and self.signer_uri is None

    def __repr__(self) -> str:
        """Show everything but secrets."""
        return f"VendingSettings({self.storage!r}, seconds={self.seconds}, {self.prefixes!r})"
