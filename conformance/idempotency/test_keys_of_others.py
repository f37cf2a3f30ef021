"""A check of a caller without rights who repeats somebody else's request with its key."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import first, keyed_commit, keyed_creation, made
from icecheck.conformance.kit.other_principals import second_principal
from icecheck.findings.shared_symptoms import LEAK
from icecheck.judging.check import check
from icecheck.objects.committing import set_property
from icecheck.objects.reading import not_applicable


@check("idempotency.of-somebody-else")
def test_keys_of_somebody_else(catalog: Catalog) -> None:
    """A caller without rights has no success by repeating another's request with its key."""
    require_keys(catalog)
    theirs = second_principal(catalog)
    namespace, name = shared_namespace(catalog), catalog.new_name()
    creation = keyed_creation(catalog, namespace, name)
    table = made(namespace, name, first(catalog, creation))
    commit = keyed_commit(catalog, table, [set_property("keyed")])
    first(catalog, commit)
    plain = catalog.call("updateTable", commit.asked.names, body=commit.asked.body, headers=theirs)
    if plain.ok:
        raise not_applicable("the other principal may do this without the key: it has rights")
    shown = [reply for each in (creation, commit) if (reply := each.send(catalog, theirs)).ok]
    if shown:
        told = ", ".join(str(reply.exchange.operation) for reply in shown)
        raise shown[0].violation(
            LEAK.of("repeated-key"), "403 or 404", "a success", detail=f"{told}, with another's key"
        )
