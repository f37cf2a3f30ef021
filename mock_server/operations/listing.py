"""Lists the tables or the views of one namespace, in pages: both answers have the same shape."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Context, Reply
from icecheck.mock_server.core.sorted_map import SortedMap
from icecheck.mock_server.core.state import NamespaceEntry, WarehouseState
from icecheck.mock_server.protocol import problem, replies
from icecheck.mock_server.protocol.paging import PageRequest


def identifiers_reply(
    context: Context,
    state: WarehouseState,
    call: Call,
    listing: str,
    members: Callable[[NamespaceEntry], SortedMap[str, Any]],
) -> Reply:
    """Return the ListTablesResponse of a namespace's members by name.

    `listing` names the kind of members: tokens of one listing are not valid in another. Problem 400
    for bad paging parameters, 404 if the namespace is missing.
    """
    page = PageRequest(
        call.query,
        context.identities.token_key,
        (listing, context.warehouse, *call.namespace),
        context.page_size_max,
    )
    entry = state.namespace(call.namespace)
    if entry is None:
        raise problem.no_such_namespace(call.namespace)
    names = members(entry)
    if page.size is None:
        return replies.encoded_json_reply(_everything(call.namespace, names.key_chunks()))
    found, more = page.cut(name for name, _ in names.after(page.after))
    body = {
        "identifiers": [{"namespace": call.namespace, "name": name} for name in found],
        "next-page-token": page.next_token(found[-1]) if more else None,
    }
    return replies.json_reply(body)


def _everything(namespace: tuple[str, ...], chunks: Iterable[tuple[str, ...]]) -> bytes:
    """Return the ListTablesResponse of all members of a namespace."""
    identifiers = b",".join([_encoded(namespace, names) for names in chunks])
    return b'{"identifiers":[%b],"next-page-token":null}' % identifiers


@lru_cache(maxsize=1024)
def _encoded(namespace: tuple[str, ...], names: tuple[str, ...]) -> bytes:
    """Return identifiers as JSON, without brackets; most are those of the listing before."""
    identifiers = [{"namespace": namespace, "name": name} for name in names]
    return msgspec.json.encode(identifiers)[1:-1]
