"""The same seed, clock and requests: the same bytes, to the last identifier and time stamp.

Run it: `python same_bytes.py`. It needs `icecheck[suite]`.
"""

from pathlib import Path

import httpx

from icecheck.mock_server import MockCatalog

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": "int"}]}
TABLES = "/v1/wh/namespaces/db/tables"
UPDATE = {"action": "set-properties", "updates": {"color": "red"}}


def session(seed: int) -> list[bytes]:
    """Make a table, change it an hour later, and return what was answered."""
    with (
        MockCatalog(
            seed=seed, clock="2026-01-01T00:00:00Z", warehouses=["wh"], root=Path("warehouses")
        ) as mock,
        httpx.Client(base_url=mock.uri) as http,
    ):
        answers = [
            http.post("/v1/wh/namespaces", json={"namespace": ["db"]}),
            http.post(TABLES, json={"name": "t", "schema": SCHEMA}),
        ]
        mock.clock.advance(60 * 60 * 1000)
        answers += [
            http.post(f"{TABLES}/t", json={"requirements": [], "updates": [UPDATE]}),
            http.get(f"{TABLES}/t"),
        ]
        created, loaded = (answers[n].json()["metadata"]["last-updated-ms"] for n in (1, 3))
        assert loaded - created == 60 * 60 * 1000
        assert answers[3].headers["etag"]
        return [
            each.headers.get("etag", "").encode() + each.raise_for_status().content
            for each in answers
        ]


def main() -> None:
    """Compare two sessions of one seed, and one of another seed."""
    first, second, other = session(42), session(42), session(43)
    assert first == second
    assert first[1:] != other[1:]
    print(f"{len(first)} answers are the same to the last byte; with another seed they differ")


if __name__ == "__main__":
    main()
