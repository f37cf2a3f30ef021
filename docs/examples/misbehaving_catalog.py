"""A catalog that misbehaves while it runs: which of two clean-up jobs loses a table by it?

Run it: `python misbehaving_catalog.py`. It needs `icecheck[suite]`. `icecheck list defects` has
about 2 000 such ways.
"""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import NamespaceNotEmptyError
from pyiceberg.schema import Schema

from icecheck.mock_server import MockCatalog

DEFECT = "namespace-drop-cascades"


def trusting(catalog: RestCatalog) -> None:
    """Drop every namespace, and rely on the catalog to keep those that hold anything."""
    for namespace in catalog.list_namespaces():
        try:
            catalog.drop_namespace(namespace)
        except NamespaceNotEmptyError:
            continue


def looking(catalog: RestCatalog) -> None:
    """Drop the namespaces in which there is nothing to be seen."""
    for namespace in catalog.list_namespaces():
        if not catalog.list_tables(namespace):
            catalog.drop_namespace(namespace)


def main() -> None:
    """Run both jobs on a catalog as it should be, and on one that drops what it should keep."""
    with MockCatalog() as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("empty")
        catalog.create_namespace("sales")
        catalog.create_table("sales.orders", Schema())
        for job in (trusting, looking):
            survives = []
            for is_faithful in (True, False):
                if not is_faithful:
                    mock.defects.switch_on(DEFECT)
                with mock.checkpoint():
                    job(catalog)
                    survives.append(catalog.table_exists("sales.orders"))
                    assert not catalog.namespace_exists("empty")
            mock.defects.switch_off(DEFECT)
            print(
                f"{job.__name__}: the table survives {survives[0]}, with the defect {survives[1]}"
            )
            assert survives == [True, job is looking]


if __name__ == "__main__":
    main()
