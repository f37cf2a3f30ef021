"""Ways in which credentials for storage are vended wrongly."""

from collections.abc import Callable
from typing import Any

import msgspec

from icecheck.mock_server.context import Call, Context, Operation, Outcome, Registries, Reply
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_body, answer_status, refuse_as, wrap
from icecheck.mock_server.state import WarehouseState

_CREDENTIALS = "storage-credentials"


def _alter_each(registries: Registries, alter: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change every credential that loadCredentials answers."""

    def altered(body: Any) -> Any:
        return {_CREDENTIALS: [alter(each) for each in body[_CREDENTIALS]]}

    alter_body(registries, "loadCredentials", altered)


@defect(
    "credentials-created",
    breaks="loadCredentials.200",
    suffering="Java clients take the answer for an error.",
)
def _created(registries: Registries) -> None:
    """Credentials are answered 201, as something that was created."""
    answer_status(registries, "loadCredentials", 201)


@defect(
    "credentials-as-bare-list",
    breaks="loadCredentials.200",
    suffering="No client can read the answer.",
)
def _bare_list(registries: Registries) -> None:
    """Credentials are answered as a list, without the object around it."""
    alter_body(registries, "loadCredentials", lambda body: body[_CREDENTIALS])


@defect(
    "credentials-of-nothing",
    breaks="loadCredentials.404",
    suffering="A table that is gone looks like one without credentials.",
)
def _of_nothing(registries: Registries) -> None:
    """A table that does not exist has an empty answer."""
    refuse_as(registries, "loadCredentials", 404, 200)


@defect(
    "credentials-of-a-neighbour",
    breaks="loadCredentials.covers-the-table",
    suffering="Clients have credentials, and none that fits.",
)
def _neighbour(registries: Registries) -> None:
    """Credentials are for the directory beside the table's."""
    _alter_each(registries, lambda each: each | {"prefix": f"{each['prefix']}-old/"})


@defect(
    "credentials-of-the-place-before",
    breaks="loadCredentials.covers-the-table",
    suffering="After a table was moved, clients have credentials, and none that fits.",
)
def _place_before(registries: Registries) -> None:
    """Credentials are kept from when the first were asked for, wherever the table is moved."""
    kept: dict[str, Reply] = {}

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        entry = state.table(call.namespace, call.name)
        if entry is None:
            return outcome
        reply = kept.setdefault(entry.metadata.table_uuid, outcome.reply)
        return Outcome(outcome.state, reply)

    wrap(registries, "loadCredentials", around)


@defect(
    "credentials-for-everything",
    breaks="loadCredentials.usable",
    suffering="Java clients refuse an empty prefix, and with it the answer.",
)
def _everything(registries: Registries) -> None:
    """A credential for everywhere has an empty prefix."""
    _alter_each(registries, lambda each: each | {"prefix": ""})


@defect(
    "credentials-without-config",
    breaks="loadCredentials.usable",
    suffering="Clients are told that there are credentials, and get none.",
)
def _without_config(registries: Registries) -> None:
    """A credential has a prefix and nothing else."""
    _alter_each(registries, lambda each: each | {"config": {}})


@defect(
    "credentials-without-secret",
    breaks="loadCredentials.s3-complete",
    suffering="Clients sign with half a credential.",
)
def _without_secret(registries: Registries) -> None:
    """The secret of a key is hidden from everybody."""

    def alter(each: dict[str, Any]) -> dict[str, Any]:
        config = {k: v for k, v in each["config"].items() if k != "s3.secret-access-key"}
        return each | {"config": config}

    _alter_each(registries, alter)


@defect(
    "credentials-in-config-alone",
    breaks="loadTable.storage-credentials",
    suffering="Clients that read storage-credentials have no access.",
)
def _in_config_alone(registries: Registries) -> None:
    """A table's credentials are in its config, as servers had them before."""

    def alter(body: Any) -> Any:
        moved = {k: v for each in body.get(_CREDENTIALS, ()) for k, v in each["config"].items()}
        kept = {k: v for k, v in body.items() if k != _CREDENTIALS}
        return kept | {"config": {**(body.get("config") or {}), **moved}}

    alter_body(registries, "loadTable", alter)


@defect(
    "credentials-with-a-table-of-a-neighbour",
    breaks="loadTable.storage-credentials",
    suffering="Clients have credentials, and none that fits.",
)
def _with_a_neighbour(registries: Registries) -> None:
    """The credentials that a table comes with are for the directory beside it."""

    def alter(body: Any) -> Any:
        moved = [
            each | {"prefix": f"{each['prefix']}-old/"} for each in body.get(_CREDENTIALS) or ()
        ]
        return body | ({_CREDENTIALS: moved} if moved else {})

    alter_body(registries, "loadTable", alter)


@defect(
    "credentials-refresh-elsewhere",
    breaks="loadCredentials.refresh",
    suffering="Spark jobs fail when their first credentials end.",
)
def _refresh_elsewhere(registries: Registries) -> None:
    """The endpoint for refreshing is announced without the prefix of its warehouse."""

    def alter(body: Any) -> Any:
        config = {
            key: f"/v1/nowhere/{value.rpartition('/namespaces/')[2]}"
            if key.endswith("refresh-credentials-endpoint")
            else value
            for key, value in body.get("config", {}).items()
        }
        return body | {"config": config}

    alter_body(registries, "loadTable", alter)


@defect(
    "credentials-refresh-under-the-first-name",
    breaks="loadCredentials.refresh",
    suffering="Spark jobs on a table that was renamed fail when their first credentials end.",
)
def _refresh_under_the_first_name(registries: Registries) -> None:
    """The endpoint to refresh credentials at is told once and for all: a rename changes nothing."""
    told: dict[tuple[str, str], str] = {}

    def altered(body: Any) -> Any:
        config = body.get("config") or {}
        uuid = body["metadata"]["table-uuid"]
        for key in [key for key in config if key.endswith("refresh-credentials-endpoint")]:
            config[key] = told.setdefault((uuid, key), config[key])
        return body

    alter_body(registries, "loadTable", altered)


@defect(
    "credentials-refreshed-to-none",
    breaks="loadCredentials.refresh",
    suffering="Spark jobs lose the credentials that they had.",
)
def _refreshed_to_none(registries: Registries) -> None:
    """Only loading a table vends credentials; asking for them alone gives an empty list."""
    alter_body(registries, "loadCredentials", lambda _body: {_CREDENTIALS: []})


@defect(
    "credentials-that-have-ended",
    breaks="loadCredentials.refresh",
    suffering="Clients ask again and again, and never have credentials that last.",
)
def _ended(registries: Registries) -> None:
    """Refreshed credentials carry an end that has passed."""

    def alter(each: dict[str, Any]) -> dict[str, Any]:
        config = {k: "1" if "expires-at" in k else v for k, v in each["config"].items()}
        return each | {"config": config}

    _alter_each(registries, alter)


@defect(
    "credentials-without-tag-of-their-own",
    breaks="loadTable.tag-per-access",
    suffering="A client that knows the table is told 304, and stays without credentials.",
)
def _shared_tag(registries: Registries) -> None:
    """The entity tag is that of the table's version, whatever else is in the answer."""

    def around(faithful: Operation, context: Context, state: WarehouseState, call: Call) -> Outcome:
        outcome = faithful(context, state, call)
        headers = tuple(
            (name, f'{value.partition("-vended")[0].rstrip(chr(34))}"' if name == "etag" else value)
            for name, value in outcome.reply.headers
        )
        reply = msgspec.structs.replace(outcome.reply, headers=headers)
        return msgspec.structs.replace(outcome, reply=reply)

    wrap(registries, "loadTable", around)


def _told(registries: Registries, operation_id: str) -> None:
    """Let the config of what is loaded name a token that the catalog does not know."""

    def alter(body: dict[str, Any]) -> dict[str, Any]:
        return body | {"config": {**(body.get("config") or {}), "token": "icecheck-storage-token"}}

    alter_body(registries, operation_id, alter)


@defect(
    "config-token-of-the-storage",
    breaks="loadTable.token-of-the-table",
    suffering="Java clients take the storage's token for the catalog's, and are refused.",
)
def _token_of_the_storage(registries: Registries) -> None:
    """The token for a table's storage stands in its config as the catalog's."""
    _told(registries, "loadTable")


@defect(
    "config-token-of-a-view",
    breaks="loadTable.token-of-the-table",
    suffering="Java clients can load a view once, and never again.",
)
def _token_of_a_view(registries: Registries) -> None:
    """The config of a view names a token that opens nothing."""
    _told(registries, "loadView")
