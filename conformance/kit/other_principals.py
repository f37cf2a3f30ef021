"""Other callers whom the user names: one without rights, and one who may only read."""

from collections.abc import Mapping

from icecheck.client.catalog import Catalog
from icecheck.findings.verdict import SkipKind
from icecheck.replies.expect import NotOffered

Headers = Mapping[str, str]


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def second_principal(catalog: Catalog) -> Headers:
    """Return the headers of the principal without rights, whom the catalog must know."""
    return _headers_of(
        catalog,
        catalog.session.connection.second_token(),
        "no second principal was named: --second-token or --second-credential of somebody who "
        "has no right to what the run makes",
    )


def reading_principal(catalog: Catalog) -> Headers:
    """Return the headers of the principal who may only read, whom the catalog must know."""
    return _headers_of(
        catalog,
        catalog.session.connection.reader_token(),
        "no reader was named: --reader-token or --reader-credential of somebody who may read what "
        "the run makes and change nothing",
        SkipKind.NOT_APPLICABLE,  # optional: without a reader the profile is still verified
    )


def _headers_of(
    catalog: Catalog,
    token: str | None,
    unnamed: str,
    kind: SkipKind = SkipKind.MISSING_FIXTURE,
) -> Headers:
    if token is None:
        raise NotOffered(unnamed, kind)
    theirs = bearer(token)
    query = catalog.target.warehouse_query
    if catalog.call("getConfig", query=query, headers=theirs).status == 401:
        raise NotOffered("the catalog does not know the other principal: it answers 401")
    return theirs
