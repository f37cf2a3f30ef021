"""Defects of storage credentials."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect
from icecheck.mock_server.defects.kit.places import answer_of
from icecheck.mock_server.defects.kit.remembering import answer_again, by_name, remembering
from icecheck.mock_server.defects.kit.rewriting import (
    Faithful,
    alter_body,
    answer_status,
    refuse_as,
)

_CREDENTIALS = "storage-credentials"


def _alter_each(registries: Registries, alter: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change every credential in the answers of loadCredentials."""

    def altered(body: Any) -> Any:
        return {_CREDENTIALS: [alter(each) for each in body[_CREDENTIALS]]}

    alter_body(registries, "loadCredentials", altered)


declare(
    "credentials-without-secret",
    "The secret of a key is hidden from everybody.",
    by(
        _alter_each,
        lambda each: (
            each
            | {"config": {k: v for k, v in each["config"].items() if k != "s3.secret-access-key"}}
        ),
    ),
    breaks="loadCredentials.s3-complete",
    suffering="Clients sign with half a credential.",
)


@defect(
    "credentials-with-a-table-of-a-neighbour",
    on=answer_of("loadTable"),
    breaks="loadTable.storage-credentials",
    suffering="Clients have credentials, and none that fits.",
)
def _with_a_neighbour(body: Any) -> Any:
    """The credentials that a table comes with are for the directory beside it."""
    moved = [each | {"prefix": f"{each['prefix']}-old/"} for each in body.get(_CREDENTIALS) or ()]
    return body | ({_CREDENTIALS: moved} if moved else {})


@defect(
    "credentials-refresh-elsewhere",
    on=answer_of("loadTable"),
    breaks="loadCredentials.refresh",
    suffering="Spark jobs fail when their first credentials end.",
)
def _refresh_elsewhere(body: Any) -> Any:
    """The endpoint for refreshing is announced without the prefix of its warehouse."""
    config = {
        key: f"/v1/nowhere/{value.rpartition('/namespaces/')[2]}"
        if key.endswith("refresh-credentials-endpoint")
        else value
        for key, value in body.get("config", {}).items()
    }
    return body | {"config": config}


@defect(
    "credentials-refresh-under-the-first-name",
    on=remembering(dict, alter_body, "loadTable"),
    breaks="loadCredentials.refresh",
    suffering="Spark jobs on a table that was renamed fail when their first credentials end.",
)
def _refresh_under_the_first_name(told: dict[tuple[str, str], str], body: Any) -> Any:
    """The endpoint to refresh credentials at is told once and for all: a rename changes nothing."""
    config = body.get("config") or {}
    uuid = body["metadata"]["table-uuid"]
    for key in [key for key in config if key.endswith("refresh-credentials-endpoint")]:
        config[key] = told.setdefault((uuid, key), config[key])
    return body


@defect(
    "credentials-without-tag-of-their-own",
    on="loadTable",
    breaks="loadTable.tag-per-access",
    suffering="A client that knows the table is told 304, and stays without credentials.",
)
def _shared_tag(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The entity tag is that of the table's version, whatever else is in the answer."""
    outcome = faithful(state, call)
    headers = tuple(
        (name, f'{value.partition("-vended")[0].rstrip(chr(34))}"' if name == "etag" else value)
        for name, value in outcome.reply.headers
    )
    reply = msgspec.structs.replace(outcome.reply, headers=headers)
    return msgspec.structs.replace(outcome, reply=reply)


def _told(registries: Registries, operation_id: str) -> None:
    """Add to the config of a loaded object a token that the catalog does not know."""

    def alter(body: dict[str, Any]) -> dict[str, Any]:
        return body | {"config": {**(body.get("config") or {}), "token": "icecheck-storage-token"}}

    alter_body(registries, operation_id, alter)


declare_each(
    ("credentials-of-the-place-before", "loadCredentials.covers-the-table",
     "Credentials are kept from when the first were asked for, wherever the table is moved.",
     "After a table was moved, clients have credentials, and none that fits.",
     by(
         answer_again,
         "loadCredentials",
         lambda _context, state, call: (
             (entry := state.table(call.namespace, call.name)) and entry.metadata.table_uuid
         ),
     )),
    ("credentials-that-have-ended", "loadCredentials.refresh",
     "Refreshed credentials carry an end that has passed.",
     "Clients ask again and again, and never have credentials that last.",
     by(
         _alter_each,
         lambda each: (
             each
             | {"config": {k: "1" if "expires-at" in k else v for k, v in each["config"].items()}}
         ),
     )),
    ("credentials-created", "loadCredentials.200",
     "Credentials are answered 201, as something that was created.",
     "Java clients take the answer for an error.", by(answer_status, "loadCredentials", 201)),
    ("credentials-as-bare-list", "loadCredentials.200",
     "Credentials are answered as a list, without the object around it.",
     "No client can read the answer.",
     by(alter_body, "loadCredentials", lambda body: body[_CREDENTIALS])),
    ("credentials-of-nothing", "loadCredentials.404",
     "A table that does not exist has an empty answer.",
     "A table that is gone looks like one without credentials.",
     by(refuse_as, "loadCredentials", 404, 200)),
    ("credentials-of-a-neighbour", "loadCredentials.covers-the-table",
     "Credentials are for the directory beside the table's.",
     "Clients have credentials, and none that fits.",
     by(_alter_each, lambda each: each | {"prefix": f"{each['prefix']}-old/"})),
    ("credentials-for-everything", "loadCredentials.usable",
     "A credential for everywhere has an empty prefix.",
     "Java clients refuse an empty prefix, and with it the answer.",
     by(_alter_each, lambda each: each | {"prefix": ""})),
    ("credentials-without-config", "loadCredentials.usable",
     "A credential has a prefix and nothing else.",
     "Clients are told that there are credentials, and get none.",
     by(_alter_each, lambda each: each | {"config": {}})),
    ("credentials-refreshed-to-none", "loadCredentials.refresh",
     "Only loading a table vends credentials; asking for them alone gives an empty list.",
     "Spark jobs lose the credentials that they had.",
     by(alter_body, "loadCredentials", lambda _body: {_CREDENTIALS: []})),
    ("config-token-of-the-storage", "loadTable.token-of-the-table",
     "The token for a table's storage stands in its config as the catalog's.",
     "Java clients take the storage's token for the catalog's, and are refused.",
     by(_told, "loadTable")),
    ("config-token-of-a-view", "loadTable.token-of-the-table",
     "The config of a view names a token that opens nothing.",
     "Java clients can load a view once, and never again.", by(_told, "loadView")),
    ("credentials-of-the-first-table", "loadCredentials.covers-the-table",
     "Credentials are cached per warehouse, and are those of the table asked for first.",
     "Reading a second table fails: its files are outside the credential.",
     by(answer_again, "loadCredentials", lambda context, _state, _call: context.warehouse)),
    ("credentials-by-name", "loadCredentials.covers-the-table",
     "Credentials are cached by a table's name, and outlive the table.",
     "A table that was made anew cannot be read: its keys are for another place.",
     by(answer_again, "loadCredentials", by_name)),
)  # fmt: skip
