"""Storage credentials end while a job runs, and it fetches others: nobody waits for an hour.

Run it: `python vended_credentials.py`. It needs `icecheck[suite]`. No storage is needed: the mock
makes the credentials up, and metadata files of other schemes than `file:` are in its memory.
"""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from icecheck.mock_server import MockCatalog, VendingSettings, WarehouseDeclaration

ENDS = "s3.session-token-expires-at-ms"
MARGIN_MS = 60_000


class Credentials:
    """The credentials of one table, renewed shortly before they end."""

    def __init__(self, catalog: RestCatalog, table: str, now_ms) -> None:
        self.catalog, self.table, self.now_ms = catalog, table, now_ms
        loaded = catalog.load_table(table)
        self.location = loaded.location()
        self.properties = loaded.io.properties

    def fresh(self) -> dict[str, str]:
        """Return credentials that are good for another minute at least."""
        if int(self.properties[ENDS]) - self.now_ms() < MARGIN_MS:
            self.properties = self.catalog.load_credentials(self.table, self.location)
        return self.properties


def main() -> None:
    """Ask for credentials ten times in two hours and a half; each is valid for one hour."""
    warehouse = WarehouseDeclaration("wh", location="s3://bucket/wh")
    vending = VendingSettings(storage="s3", seconds=3600)
    with MockCatalog(warehouses=[warehouse], vending=vending) as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db")
        schema = Schema(NestedField(1, "id", LongType(), required=False))
        catalog.create_table("db.t", schema)
        credentials = Credentials(catalog, "db.t", mock.clock.now_ms)
        used = set()
        for _ in range(10):
            found = credentials.fresh()
            assert int(found[ENDS]) > mock.clock.now_ms()
            used.add(found["s3.access-key-id"])
            mock.clock.advance(15 * 60 * 1000)
        renewals = mock.journal.count("loadCredentials", table="db.t", status=200)
        assert renewals == len(used) - 1
        print(f"{len(used)} keys in ten steps, {renewals} of them by loadCredentials")


if __name__ == "__main__":
    main()
