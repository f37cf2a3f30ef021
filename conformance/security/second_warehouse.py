"""Another warehouse that the user names, to be kept apart from the run's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.every_route import Asked
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.offer import Offer

Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SecondWarehouse:
    """A warehouse beside the one of the run, reached as its config says."""

    offer: Offer
    headers: Headers

    def send(self, catalog: Catalog, asked: Asked) -> Reply:
        """Send there a request about objects of the run's own warehouse."""
        path = self.offer.path(catalog.contract.operations[asked.operation_id].path, asked.names)
        return catalog.call(
            asked.operation_id,
            asked.names,
            query=asked.query,
            body=asked.body,
            headers={**asked.headers, **self.headers},
            path=path,
        )


def second_warehouse(catalog: Catalog) -> SecondWarehouse:
    """Return the second warehouse that the user named; NotOffered without one of its own address.

    A catalog with one warehouse may answer every name with that one.
    """
    session, own = catalog.session, catalog.target
    name = own.second_warehouse
    if name is None:
        why = "no second warehouse was named: --second-warehouse of one apart from this"
        raise not_applicable(why)
    reply = catalog.get_config(name)
    if not reply.ok:
        raise NotOffered(f"the catalog has no warehouse {name!r}: it answers {reply.status}")
    target = replace(own, warehouse=name, second_warehouse=None, prefix=None)
    offer = Offer.read(object_in(reply), target)
    flaw = offer.flaw(target)
    if flaw is not None:
        raise NotOffered(f"the config of {name!r} is not followed: {flaw}")
    sent = offer.sends(target)
    if sent.base_url != own.base_url:
        raise NotOffered(f"the warehouse {name!r} is at another address")
    if offer.prefix == session.offer.prefix:
        raise NotOffered(f"the warehouse {name!r} has the address of this one: they are one here")
    if offer not in session.elsewhere:
        session.elsewhere.append(offer)
    return SecondWarehouse(offer, sent.headers)
