"""Checks of createTable with stage-create: the table does not exist before the commit."""

from collections.abc import Mapping, Sequence
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace, reloaded, shared_table
from icecheck.client.given import shared_namespace as given_home
from icecheck.conformance.states.table_stages import life_body
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
    STAGED_AT_ONCE,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check, generated_check
from icecheck.objects import metadata_view as view
from icecheck.objects.comparing import KEPT
from icecheck.objects.reading import expect_unlisted, refused
from icecheck.replies.expect import Reply, equal
from icecheck.replies.matching import ANY_STRING
from icecheck.targets.target import Namespace

_STAGED_TABLE_LISTED = declare(
    "staged-table-listed",
    "Lists a table that is staged and not yet created",
    Severity.FALSE_OR_LOST,
)

_OF_A_NEW_TABLE = (
    "current-snapshot-id", "last-sequence-number", "next-row-id", "partition-statistics", "refs",
    "snapshots", "statistics",
)  # fmt: skip
NEEDS = ("stage-create",)
MARK = "icecheck.mark"

Json = dict[str, Any]


@check("createTable.staged-answer", proves="createTable.stage-returns-metadata")
def test_staged_answer(catalog: Catalog) -> None:
    """Staging answers the metadata that the create transaction starts from."""
    namespace = given_home(catalog)
    properties = {MARK: "staged"} if catalog.keeps("createTable.properties-kept") else {}
    body = bodies.create_table_body(
        catalog.new_name(),
        spec=bodies.partition_spec(bodies.partition_field(1, "bucket[4]", "id_bucket", 1000)),
        write_order=bodies.sort_order(1),
        properties=properties,
        stage_create=True,
    )
    reply = catalog.create_table(namespace, body).expect(200)
    reply.expect_json(
        {"table-uuid": ANY_STRING, "location": ANY_STRING, "properties": properties},
        at=["metadata"],
    )
    metadata = view.metadata_in(reply)
    wanted = view.shape(bodies.DEFAULT_SCHEMA)
    equal(view.shape(view.current_schema(metadata)), wanted, symptom=EFFECT_MISSING.of("schema"))
    equal(
        view.partition_fields(metadata),
        [("id", "bucket[4]", "id_bucket")],
        symptom=EFFECT_MISSING.of("partition-spec"),
    )
    equal(
        view.sort_fields(metadata),
        [("id", "identity", "asc", "nulls-first")],
        symptom=EFFECT_MISSING.of("sort-orders"),
    )


@generated_check(
    "createTable.staged-as-created", proves="createTable.stage-returns-metadata", needs=NEEDS
)
def test_staged_as_created(catalog: Catalog) -> None:
    """Of one request, staging answers the table that creating it at once would make."""
    namespace = given_home(catalog)
    default = None
    for version in (None, 1, 2, 3):
        if version is not None and version == default:
            continue
        what = f"a table of format version {version or 'by default'}"
        made = _expect_staged_as_created(catalog, namespace, what, life_body("", version=version))
        default = default or (made or {}).get("format-version")
        beside = str((made or {}).get("location") or "").rstrip("/").rpartition("/")[0]
        if beside:
            body = life_body("", version=version)
            _expect_staged_as_created(catalog, namespace, f"{what}, with a place", body, beside)


def _expect_staged_as_created(
    catalog: Catalog, namespace: Namespace, what: str, body: Json, beside: str = ""
) -> Json | None:
    """Judge that a staged table equals the created one; return that, or None if it is refused.

    Each gets a location of its own below ``beside``, where that is given and the catalog allows it.
    """
    wanted: list[str] = []

    def send(*, stage: bool) -> Reply:
        name = catalog.new_name()
        wanted.append(f"{beside}/{name}")
        place = {"location": wanted[-1]} if beside else {}
        sent = {**body, "name": name, "stage-create": stage, **place}
        return catalog.create_table(namespace, sent)

    reply = send(stage=False)
    if refused(reply, what):
        return None
    made = view.metadata_in(reply)
    reply = send(stage=True).expect(200, detail=f"{what}, staged")
    staged = view.metadata_in(reply)
    seen = _asked_for(staged)
    for member, due in _asked_for(made).items():
        # The document requires no next-row-id: whether it is told, its schema's reading judges.
        if member == "next-row-id" and None in {due, seen[member]}:
            continue
        equal(seen[member], due, symptom=EFFECT_MISSING.of(member), detail=f"{what}, staged")
    first, second = (view.place(each) for each in wanted)
    if view.place(made.get("location")) == first and view.place(staged.get("location")) != second:
        raise reply.violation(
            EFFECT_MISSING.of("location"), "where the client wants it", "another place", detail=what
        )
    return made


def _unused(metadata: Mapping[str, Any], last: str, ids: Sequence[int]) -> Any:
    """Return how many ids are left out before the last one, because a server chooses the ids."""
    number = metadata.get(last)
    return number - max(ids, default=0) if isinstance(number, int) else number


def _asked_for(metadata: Mapping[str, Any]) -> Json:
    """Return what a creation asks for or brings about, without assigned ids."""
    schema = view.current_schema(metadata)
    names = {field.get("id"): field.get("name") for field in schema.get("fields", [])}
    properties = metadata.get("properties") or {}
    settled = view.settled(metadata)
    fields = [each.get("field-id", 0) for each in view.default_spec(metadata).get("fields") or ()]
    return {
        **{member: settled[member] for member in _OF_A_NEW_TABLE},
        "last-column-id": _unused(metadata, "last-column-id", [*view.field_ids(schema)]),
        "last-partition-id": _unused(metadata, "last-partition-id", fields),
        "format-version": metadata.get("format-version"),
        "schema": view.shape(schema),
        "identifier-field-ids": sorted(
            str(names.get(each)) for each in schema.get("identifier-field-ids") or []
        ),
        "partition-spec": view.partition_fields(metadata),
        "sort-order": view.sort_fields(metadata),
        "properties": {key: properties.get(key) for key in KEPT},
    }


@check("createTable.staged-is-not-there", proves="createTable.stage-creates-nothing", needs=NEEDS)
def test_staged_table_does_not_exist(catalog: Catalog) -> None:
    """A staged table does not load, is not listed, and leaves its name free."""
    namespace = given_namespace(catalog)
    name = catalog.new_name()
    staged = bodies.create_table_body(name, stage_create=True)
    catalog.create_table(namespace, staged).expect(200)
    loaded = catalog.load_table(namespace, name)
    if loaded.ok:
        raise loaded.violation(STAGED_AT_ONCE, "404", str(loaded.status), detail="a staged table")
    loaded.expect(404, detail="a staged table")
    listed = catalog.list_tables(namespace).expect(200)
    expect_unlisted(listed, namespace, name, _STAGED_TABLE_LISTED)
    plain = bodies.create_table_body(name)
    catalog.create_table(namespace, plain).expect(200, detail="the name of a staged table")


@check("createTable.staged-over-existing", proves="createTable.stage-over-existing", needs=NEEDS)
def test_staging_over_existing(catalog: Catalog) -> None:
    """Staging under the name of an existing table is refused, and the table stays as it was."""
    table = shared_table(catalog)
    body = bodies.create_table_body(table.name, stage_create=True)
    catalog.create_table(table.namespace, body).expect(409)
    equal(
        view.settled(reloaded(catalog, table).metadata, MARK),
        view.settled(table.metadata, MARK),
        symptom=CHANGED_ALTHOUGH_REFUSED,
    )
