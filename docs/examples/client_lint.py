"""What a client sends that the specification forbids, although this catalog takes it.

Run it: `python client_lint.py`. It needs `icecheck[suite]`.
"""

import httpx

from icecheck.mock_server import MockCatalog


def client(uri: str) -> None:
    """Ask for things as a client does that was tried with one catalog only."""
    with httpx.Client(base_url=f"{uri}/v1/wh", headers={"User-Agent": "homemade/1"}) as http:
        http.post(
            "/namespaces", json={"namespace": ["db"]}, headers={"Authorization": "Bearer null"}
        )
        http.get("/namespaces", params={"pageSize": 0})
        http.get("/namespaces/db")


def main() -> None:
    """Let a client speak, and say by which lines of the document it is wrong."""
    with MockCatalog(warehouses=["wh"]) as mock:
        client(mock.uri)
        found = mock.violations()
        for each in found:
            where = f" ({each.lines})" if each.lines else ""
            print(f"{each.client}: {each.operation or 'any'}, {each.place}: {each.words}{where}")
        assert len(found) == 2
        last = mock.journal.last_sequence
        httpx.get(f"{mock.uri}/v1/wh/namespaces/db")
        assert mock.violations(since=last) == ()


if __name__ == "__main__":
    main()
