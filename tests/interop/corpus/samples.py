"""Values for generated requests that make sense on the server they are sent to."""

import copy
from typing import Any

from icecheck.conformance.generated import sample_values
from tests.interop.corpus.stocked_server import NAMESPACE, TABLE, TIME, VIEW, StockedFacts


def with_samples(
    document: dict[str, Any], operation_id: str, facts: StockedFacts
) -> dict[str, Any]:
    """A copy of the contract whose request schemas carry examples that the server can serve."""
    copied = sample_values.seeded(document)
    schemas = copied["components"]["schemas"]
    for schema in schemas.values():
        if "example" in schema:
            schema["example"] = _filled(schema["example"], facts)
    for name, sample in _samples(operation_id, schemas, facts).items():
        schemas[name]["example"] = copy.deepcopy(sample)
    return copied


def _filled(value: Any, facts: StockedFacts) -> Any:
    """Replace what the samples leave open, or know of another table."""
    match value:
        case dict():
            return {key: _filled(each, facts) for key, each in value.items()}
        case list():
            if value == sample_values.NAMESPACE:
                return [NAMESPACE]
            return [_filled(each, facts) for each in value]
        case str():
            return value.replace(sample_values.TABLE_LOCATION, facts.table_location)
        case sample_values.TABLE_TIME:
            return TIME + 3
        case int() if value >= 7_000_000_000_000_000_001:
            return facts.snapshot_id + value - 7_000_000_000_000_000_001
    return value


def _samples(operation_id: str, schemas: dict[str, Any], facts: StockedFacts) -> dict[str, Any]:
    table = {"namespace": [NAMESPACE], "name": TABLE}
    renamed = {**table, "name": VIEW} if operation_id == "renameView" else table
    uuid = facts.view_uuid if operation_id == "replaceView" else facts.table_uuid
    return {
        "AssignUUIDUpdate": {"action": "assign-uuid", "uuid": uuid},
        "AssertTableUUID": {"type": "assert-table-uuid", "uuid": facts.table_uuid},
        "CreateNamespaceRequest": {"namespace": ["new"], "properties": {"k": "v"}},
        "CreateTableRequest": {**schemas["CreateTableRequest"]["example"], "name": "created"},
        "RenameTableRequest": {"source": renamed, "destination": {**table, "name": "renamed"}},
        "RegisterTableRequest": {
            "name": "registered",
            "metadata-location": facts.metadata_location,
        },
        "CommitTransactionRequest": {
            "table-changes": [{"identifier": table, "requirements": [], "updates": []}]
        },
        "FetchScanTasksRequest": {"plan-task": facts.plan_task},
        "PlanTask": facts.plan_task,
        **_token_samples(facts),
        **_view_samples(facts),
        **_scan_samples(facts),
    }


def _token_samples(facts: StockedFacts) -> dict[str, Any]:
    return {
        "OAuthClientCredentialsRequest": {
            "grant_type": "client_credentials",
            "scope": "catalog",
            "client_id": "corpus",
            "client_secret": "corpus",
        },
        "OAuthTokenExchangeRequest": {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token": facts.access_token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
        },
    }


def _view_samples(facts: StockedFacts) -> dict[str, Any]:
    representation = {"type": "sql", "sql": "select 2", "dialect": "spark"}
    version = {
        "version-id": 2,
        "timestamp-ms": TIME + 1,
        "schema-id": 0,
        "summary": {"engine-name": "corpus"},
        "representations": [representation],
        "default-catalog": "corpus",
        "default-namespace": [NAMESPACE],
    }
    fields = [{"id": 1, "name": "id", "required": False, "type": "long"}]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    return {
        "AssertViewUUID": {"type": "assert-view-uuid", "uuid": facts.view_uuid},
        "ViewRepresentation": representation,
        "SQLViewRepresentation": representation,
        "ViewVersion": version,
        "AddViewVersionUpdate": {"action": "add-view-version", "view-version": version},
        "SetCurrentViewVersionUpdate": {
            "action": "set-current-view-version",
            "view-version-id": 1,
        },
        "CreateViewRequest": {
            "name": f"{VIEW}_2",
            "schema": schema,
            "view-version": version,
            "properties": {"k": "v"},
        },
        "CommitViewRequest": {"requirements": [], "updates": []},
    }


def _scan_samples(facts: StockedFacts) -> dict[str, Any]:
    literal = {"type": "gt-eq", "term": "id", "value": 0}
    unary = {"type": "not-null", "term": "id"}
    within = {"type": "in", "term": "data", "values": ["a", "b"]}
    transform = {"type": "transform", "transform": "bucket[4]", "term": "id"}
    return {
        "PlanTableScanRequest": {
            "snapshot-id": facts.snapshot_id,
            "select": ["id"],
            "filter": {"type": "and", "left": literal, "right": {"type": "not", "child": within}},
            "case-sensitive": True,
            "use-snapshot-schema": False,
            "stats-fields": ["id"],
        },
        "FieldName": "id",
        "Reference": "id",
        "Transform": "bucket[4]",
        "TransformTerm": transform,
        "LiteralExpression": literal,
        "UnaryExpression": unary,
        "SetExpression": within,
        "NotExpression": {"type": "not", "child": unary},
        "AndOrExpression": {"type": "or", "left": literal, "right": unary},
    }
