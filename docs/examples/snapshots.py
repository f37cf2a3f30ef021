"""Go back to a state, and take it elsewhere: snapshots, checkpoints, one JSON document.

Run it: `python snapshots.py`. It needs `icecheck[suite]`.
"""

from icecheck.mock_server import MockCatalog

SEED = {
    "warehouses": {
        "wh": [
            {
                "name": "sales",
                "properties": {"owner": "ann"},
                "tables": [{"name": "orders", "columns": {"id": "long", "at": "timestamptz"}}],
            }
        ]
    }
}


def main() -> None:
    """Break a warehouse in three ways, and have it whole again each time."""
    with MockCatalog() as mock:
        mock.states.seed(SEED)
        catalog = mock.pyiceberg("wh")
        snapshot = mock.snapshot()
        catalog.drop_table("sales.orders")
        catalog.drop_namespace("sales")
        mock.restore(snapshot)
        with mock.checkpoint():
            catalog.drop_table("sales.orders")
        document = mock.states.export()  # bytes of JSON: keep it in a file beside the tests
        mock.reset()
        assert catalog.list_namespaces() == []

    with MockCatalog() as elsewhere:
        elsewhere.states.load(document)
        catalog = elsewhere.pyiceberg("wh")
        owner = catalog.load_namespace_properties("sales")["owner"]
        columns = catalog.load_table("sales.orders").schema().column_names
        assert elsewhere.states.export("wh").count(b'"orders"') == 1
        print(f"elsewhere: sales of {owner} has orders with {', '.join(columns)}")


if __name__ == "__main__":
    main()
