"""Checks of the refusal of a warehouse that does not exist (1.11.0, L165-L173)."""

from icecheck.client.catalog import Catalog
from icecheck.findings.shared_symptoms import ERROR_TYPE
from icecheck.judging.check import check
from icecheck.objects.arranging import of_the_same_shape
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import NotOffered, Reply
from icecheck.replies.matching import show

_TYPE = "NoSuchWarehouseException"
_NOT_TOLD = frozenset({401, 403})
"""How a catalog refuses that tells nobody which warehouses there are."""


@check("getConfig.unknown-warehouse", proves="getConfig.404")
def test_an_unknown_warehouse_is_not_found(catalog: Catalog) -> None:
    """The configuration of a warehouse that does not exist is not found, if it is refused."""
    reply = _refusal(catalog)
    if reply.status == 400:
        # A name of another shape than the catalog's own may be refused for that.
        reply = _refusal_of_shape(catalog)
    reply.expect(404, detail="for a warehouse that does not exist")


@check("getConfig.type-of-missing-warehouse")
def test_the_refusal_says_that_it_is_about_the_warehouse(catalog: Catalog) -> None:
    """The type of the refusal of a warehouse that does not exist says warehouse."""
    reply = _refusal(catalog)
    if reply.status == 400 and catalog.target.warehouse is not None:
        reply = _refusal_of_shape(catalog)
    if reply.status != 404 or not reply.exchange.claims_json:
        raise not_applicable(f"an unknown warehouse is answered {reply.status}")
    error = object_in(reply).get("error")
    said = error.get("type") if isinstance(error, dict) else None
    if said != _TYPE:
        raise reply.violation(
            ERROR_TYPE,
            "the type name that the document gives",
            "another name",
            pointer="/error/type",
            detail=f"getConfig.404 says {show(said)}, due is {_TYPE}",
        )


def _refusal(catalog: Catalog) -> Reply:
    """Return the refusal of a warehouse whose name nobody else has made up."""
    return _refused(catalog, catalog.new_name())


def _refusal_of_shape(catalog: Catalog) -> Reply:
    """Return the refusal of a name of the same shape as that of the run's own warehouse."""
    own = catalog.target.warehouse
    if own is None:
        raise NotOffered("what shape a name has is not known: add --warehouse NAME")
    return _refused(catalog, of_the_same_shape(own))


def _refused(catalog: Catalog, warehouse: str) -> Reply:
    reply = catalog.get_config(warehouse)
    if reply.ok:
        raise not_applicable("the catalog answers a configuration for any warehouse")
    if reply.status in _NOT_TOLD:
        raise not_applicable(f"the catalog answers {reply.status}, and tells of no warehouse")
    return reply
