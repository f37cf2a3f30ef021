"""A check of a caller without rights who repeats somebody else's request with its key."""

from collections.abc import Mapping

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace
from icecheck.conformance.idempotency.keys import require_keys
from icecheck.conformance.idempotency.repeating import (
    Keyed,
    first,
    keyed_commit,
    keyed_creation,
    made,
)
from icecheck.conformance.kit.other_principals import second_principal
from icecheck.findings.shared_symptoms import LEAK
from icecheck.judging.check import check
from icecheck.objects.committing import set_property
from icecheck.objects.reading import not_applicable


def _may(catalog: Catalog, request: Keyed, headers: Mapping[str, str]) -> bool:
    """Return whether a request without its key is carried out, or refused for its object alone."""
    asked = request.asked
    plain = catalog.call(asked.operation_id, asked.names, body=asked.body, headers=headers)
    return plain.ok or plain.status == 409


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
    asked = [each for each in (creation, commit) if not _may(catalog, each, theirs)]
    if not asked:
        raise not_applicable("the other principal may do this without the key: it has rights")
    shown = [reply for each in asked if (reply := each.send(catalog, theirs)).ok]
    if shown:
        told = ", ".join(str(reply.exchange.operation) for reply in shown)
        raise shown[0].violation(
            LEAK.of("repeated-key"), "403 or 404", "a success", detail=f"{told}, with another's key"
        )
