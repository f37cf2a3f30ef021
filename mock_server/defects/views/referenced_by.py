"""Defects of loads that name the views which lead to what is loaded."""

from urllib.parse import unquote_plus

from msgspec.structs import replace

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit.changing import refuse_where
from icecheck.mock_server.defects.kit.declaring import by, declare_each, defect
from icecheck.mock_server.defects.kit.rewriting import Faithful, alter_answer
from icecheck.mock_server.protocol import problem
from icecheck.mock_server.protocol.names import split_namespace

_PARAMETER = "referenced-by"
_NOT_THROUGH_VIEWS = "Queries of a view fail where those of its table do not."


def _refuse(registries: Registries, operation_id: str, status: int, type_: str) -> None:
    """Refuse a request that names views."""
    refuse_where(registries, operation_id, lambda _, call: _PARAMETER in call.query, status, type_)


def _without_credentials(registries: Registries) -> None:
    def withheld(call: Call, body: dict[str, object]) -> dict[str, object]:
        return {**body, "storage-credentials": []} if _PARAMETER in call.query else body

    alter_answer(registries, "loadCredentials", withheld)


declare_each(
    ("table-through-views-refused", "loadTable.referenced-by",
     "A parameter that the server does not know is a bad request.", _NOT_THROUGH_VIEWS,
     by(_refuse, "loadTable", 400, "BadRequestException")),
    ("view-through-views-unfound", "loadView.referenced-by",
     "The views that lead to a view are looked for among tables, and not found.",
     _NOT_THROUGH_VIEWS, by(_refuse, "loadView", 404, "NoSuchTableException")),
    ("credentials-through-views-refused", "loadCredentials.referenced-by",
     "A parameter that the server does not know is a bad request.", _NOT_THROUGH_VIEWS,
     by(_refuse, "loadCredentials", 400, "BadRequestException")),
    ("credentials-through-views-withheld", "loadCredentials.referenced-by",
     "Who names views gets an empty list of credentials.", _NOT_THROUGH_VIEWS,
     _without_credentials),
)  # fmt: skip


@defect(
    "table-through-views-cut-at-commas",
    on="loadTable",
    breaks="loadTable.referenced-by",
    suffering="Queries of a view with a comma in its name fail.",
)
def _cut_at_commas(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The list of views is decoded first, and then cut at the commas in their names too."""
    for element in filter(None, call.query.get(_PARAMETER, "").split(",")):
        parts = split_namespace(element, faithful.context.separator)
        if len(parts) < 2:
            raise problem.malformed(f"{_PARAMETER} has no namespace for {parts[0][:100]!r}")
    return faithful(state, call)


@defect(
    "view-through-views-is-the-first",
    on="loadView",
    breaks="loadView.referenced-by",
    suffering="A query of a view of a view never ends, or reads the wrong one.",
)
def _the_first(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """The view that is loaded is the one by which the list of views begins."""
    query = dict(pair.split("=", 1) for pair in call.request.query_string.split("&") if "=" in pair)
    first = unquote_plus(query.get(_PARAMETER, "").partition(",")[0])
    if not first:
        return faithful(state, call)
    *namespace, name = split_namespace(first, faithful.context.separator)
    return faithful(state, replace(call, namespace=tuple(namespace), name=name))
