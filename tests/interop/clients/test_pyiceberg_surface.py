"""Whatever PyIceberg's REST catalog can be asked is asked by a test, and none is skipped."""

import ast
import inspect
from pathlib import Path

from pyiceberg.catalog.rest import Capability, Endpoint, RestCatalog

TESTS = Path(__file__).parents[2]
FILES = sorted(
    [
        *Path(__file__).parent.glob("test_pyiceberg_*.py"),
        TESTS / "mock" / "operations" / "test_purge.py",
        TESTS / "mock" / "views" / "test_view_pyiceberg.py",
        TESTS / "mock" / "security" / "test_security_pyiceberg.py",
    ]
)
TREES = [ast.parse(each.read_text(encoding="utf-8")) for each in FILES]


def surface() -> set[str]:
    """Every public method and property that needs an instance: the others reach no server."""
    return {
        name
        for name in dir(RestCatalog)
        if not name.startswith("_")
        and not isinstance(inspect.getattr_static(RestCatalog, name), staticmethod | classmethod)
    }


def asked() -> set[str]:
    """What the tests of these files take from something called `catalog`."""
    return {
        node.attr
        for tree in TREES
        for test in ast.walk(tree)
        if isinstance(test, ast.FunctionDef)
        for node in ast.walk(test)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("catalog")
    }


def test_every_method_is_asked_by_a_test() -> None:
    assert len(surface()) >= 30
    assert sorted(surface() - asked()) == []


def test_no_test_of_a_client_is_skipped() -> None:
    avoided = {"skip", "skipif", "xfail", "importorskip"}
    names = {
        getattr(node, "attr", getattr(node, "id", ""))
        for tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert names & avoided == set()


def test_the_mock_offers_all_that_pyiceberg_knows_and_the_document_has(
    catalog: RestCatalog,
) -> None:
    known = {each for each in vars(Capability).values() if isinstance(each, Endpoint)}
    missing = known - catalog._supported_endpoints
    assert missing == {Capability.V1_REGISTER_VIEW}, "registerView is younger than 1.10.0"
