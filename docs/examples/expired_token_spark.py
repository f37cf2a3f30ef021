"""A token ends in the middle of a Spark job: Spark has fetched another one, and the job goes on.

Run it: `python expired_token_spark.py`. It needs `icecheck[spark]`. Spark renews a token shortly
before its end, and asks for no other once it is refused with 401. The clock of this mock is half a
minute behind, so that a token lives here for longer than Spark believes: then nothing depends on
how fast the machine is.
"""

import httpx

from icecheck.mock_server import Client, MockCatalog, OAuth2Settings
from icecheck.spark import SparkWorkbench

BEHIND_MS = 30_000
TOKEN_SECONDS = 32
RENEWALS = 3


def main() -> None:
    """Append, let the token end of which Spark knew then, and append again."""
    oauth2 = OAuth2Settings(clients=(Client("job", "s3cret"),), token_seconds=TOKEN_SECONDS)
    with MockCatalog(oauth2=oauth2) as mock, SparkWorkbench.start() as workbench:
        mock.clock.advance(-BEHIND_MS)
        conf = {
            "type": "rest",
            "uri": mock.uri,
            "warehouse": "wh",
            "credential": "job:s3cret",
            "oauth2-server-uri": f"{mock.uri}/v1/oauth/tokens",
            "cache-enabled": "false",
        }
        spark = workbench.catalog_session("mock", conf)
        spark.sql("CREATE NAMESPACE mock.db")
        spark.sql("CREATE TABLE mock.db.t (id BIGINT) USING iceberg")
        first = {"Authorization": f"Bearer {mock.access_token('job')}"}
        namespaces = f"{mock.uri}/v1/wh/namespaces"
        before = httpx.get(namespaces, headers=first).status_code

        spark.range(1).writeTo("mock.db.t").append()
        last = mock.journal.last_sequence
        renewed = mock.journal.wait_for("getToken", since=last, count=RENEWALS, timeout=120)
        mock.clock.advance(BEHIND_MS - 3_000)
        spark.range(1).writeTo("mock.db.t").append()

        count = spark.table("mock.db.t").count()
        assert all(each.status == 200 for each in renewed)
        assert mock.journal.count(status=401) == 0
        after = httpx.get(namespaces, headers=first).status_code
        print(f"the first token: {before}, then {after}; Spark: {count} rows, never refused")


if __name__ == "__main__":
    main()
