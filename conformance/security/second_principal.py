"""The second principal of a run, who has no permission for the run's objects."""

from collections.abc import Mapping

from icecheck.client.catalog import Catalog
from icecheck.conformance.security.forged_tokens import bearer
from icecheck.replies.expect import NotOffered

__all__ = ["second_principal"]


def second_principal(catalog: Catalog) -> Mapping[str, str]:
    """Return the headers of the second principal, whose credentials the catalog must accept."""
    token = catalog.session.connection.second_token()
    if token is None:
        raise NotOffered(
            "no second principal was named: --second-token or --second-credential of somebody who "
            "has no right to what the run makes"
        )
    theirs = bearer(token)
    query = catalog.target.warehouse_query
    if catalog.call("getConfig", query=query, headers=theirs).status == 401:
        raise NotOffered("the catalog does not know the second principal: it answers 401")
    return theirs
