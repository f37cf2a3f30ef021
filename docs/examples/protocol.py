"""The catalog's own protocol: pages, entity tags, and a commit to two tables at once.

Run it: `python protocol.py`. It needs `icecheck[suite]`.
"""

import httpx

from icecheck.mock_server import MockCatalog

SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": "int"}]}


def all_tables(http: httpx.Client) -> list[str]:
    """Return the names of all tables, however many pages they take."""
    found, token = [], ""
    while token is not None:
        page = http.get("/namespaces/db/tables", params={"pageToken": token, "pageSize": 2}).json()
        found += [each["name"] for each in page["identifiers"]]
        token = page.get("next-page-token")
    return found


def change(table: str, uuid: str) -> dict[str, object]:
    """Return the part of a transaction that changes one table, if it is still the one we know."""
    return {
        "identifier": {"namespace": ["db"], "name": table},
        "requirements": [{"type": "assert-table-uuid", "uuid": uuid}],
        "updates": [{"action": "set-properties", "updates": {"moved": "yes"}}],
    }


def main() -> None:
    """List by pages, ask for what is new only, and change two tables or none."""
    with MockCatalog() as mock, httpx.Client() as http:
        config = http.get(f"{mock.uri}/v1/config", params={"warehouse": "wh"}).json()
        http.base_url = f"{mock.uri}/v1/{config['overrides']['prefix']}"
        http.post("/namespaces", json={"namespace": ["db"]}).raise_for_status()
        uuids = {}
        for name in ("a", "b", "c", "d", "e"):
            made = http.post("/namespaces/db/tables", json={"name": name, "schema": SCHEMA})
            uuids[name] = made.raise_for_status().json()["metadata"]["table-uuid"]
        names = all_tables(http)
        pages = mock.journal.count("listTables")
        assert names == ["a", "b", "c", "d", "e"]

        loaded = http.get("/namespaces/db/tables/a")
        known = {"If-None-Match": loaded.headers["etag"]}
        again = http.get("/namespaces/db/tables/a", headers=known).status_code
        assert again == 304

        wrong = {"table-changes": [change("a", uuids["a"]), change("b", uuids["a"])]}
        refused = http.post("/transactions/commit", json=wrong).status_code
        assert http.get("/namespaces/db/tables/a", headers=known).status_code == 304
        right = {"table-changes": [change(name, uuids[name]) for name in ("a", "b")]}
        accepted = http.post("/transactions/commit", json=right).status_code
        assert http.get("/namespaces/db/tables/a", headers=known).status_code == 200
        print(f"{len(names)} tables on {pages} pages; unchanged: {again}")
        print(f"both or none: {refused}, then {accepted}")


if __name__ == "__main__":
    main()
