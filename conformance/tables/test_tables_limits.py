"""Checks of createTable: locations, format versions, and contradictory definitions."""

from collections.abc import Callable

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace, shared_table
from icecheck.conformance.kit.bisection import REPAIRED, expect_no_breakdown
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import check
from icecheck.judging.probes import is_declined, offered
from icecheck.objects import metadata_view as view
from icecheck.objects.reading import not_applicable
from icecheck.replies.expect import NotOffered, Reply, equal

STRUCT = bodies.struct_field


@check("createTable.keeps-location", proves="createTable.location-kept")
def test_location(catalog: Catalog) -> None:
    """A table created with a location has that location."""
    sibling = shared_table(catalog)
    beside = str(sibling.metadata.get("location") or "").rstrip("/").rpartition("/")[0]
    if not beside:
        raise NotOffered("the catalog tells no location beside which a table could be put")
    name = catalog.new_name()
    wanted = f"{beside}/{name}_elsewhere"
    body = bodies.create_table_body(name, location=wanted)
    reply = catalog.create_table(sibling.namespace, body)
    offered(catalog, "client-location", reply, is_declined).expect(200)
    loaded = catalog.load_table(sibling.namespace, name).expect(200)
    found = view.place(view.metadata_in(loaded).get("location"))
    equal(found, view.place(wanted), symptom=EFFECT_MISSING.of("client-location"))


def _format_version(version: int) -> Callable[[Catalog], None]:
    def run(catalog: Catalog) -> None:
        namespace, name = shared_namespace(catalog), catalog.new_name()
        body = bodies.create_table_body(name, properties={"format-version": str(version)})
        made = catalog.create_table(namespace, body)
        if is_declined(made):
            raise not_applicable(f"the catalog makes no tables of format version {version}")
        made.expect(200)
        catalog.load_table(namespace, name).expect(200).expect_json(
            version, at=["metadata", "format-version"], symptom=EFFECT_MISSING.of("format-version")
        )

    return run


for _version in (1, 2, 3):
    _function = _format_version(_version)
    _function.__module__ = __name__
    globals()[f"test_format_version_{_version}"] = check(
        f"createTable.format-version-{_version}",
        proves="createTable.format-version-property",
        title=f"The property format-version {_version} makes a version {_version} table",
    )(_function)


@check("createTable.impossible-format-version", proves="createTable.format-version-out-of-range")
def test_impossible_format_version(catalog: Catalog) -> None:
    """A format version that does not exist is refused."""
    namespace = shared_namespace(catalog)
    for version in ("0", "99"):
        name = catalog.new_name()
        body = bodies.create_table_body(name, properties={"format-version": version})
        detail = f"format-version {version}"
        catalog.create_table(namespace, body).expect(400, detail=detail)
        catalog.load_table(namespace, name).expect(404, detail=detail)


@check(
    "createTable.v3-type-in-v2", proves="createTable.v3-types-need-v3", needs=("format-version-2",)
)
def test_v3_type_in_v2(catalog: Catalog) -> None:
    """A column type of version 3 is refused in a version 2 table."""
    namespace = shared_namespace(catalog)
    name = catalog.new_name()
    body = bodies.create_table_body(
        name,
        table_schema=bodies.schema(STRUCT(1, "at", "timestamp_ns")),
        properties={"format-version": "2"},
    )
    catalog.create_table(namespace, body).expect(400)
    catalog.load_table(namespace, name).expect(404, detail="a refused table must not exist")


@check(
    "createTable.unknown-column-in-spec-or-order", proves="createTable.unresolved-columns-refused"
)
def test_unresolved_columns(catalog: Catalog) -> None:
    """A partition spec or sort order over an unknown column is refused."""
    namespace = shared_namespace(catalog)
    spec = bodies.partition_spec(bodies.partition_field(77, "identity", "nowhere", 1000))
    for what, definition in (
        ("partition spec", {"spec": spec}),
        ("sort order", {"write_order": bodies.sort_order(77)}),
    ):
        name = catalog.new_name()
        body = bodies.create_table_body(name, **definition)  # type: ignore[arg-type]
        catalog.create_table(namespace, body).expect(400, detail=what)
        catalog.load_table(namespace, name).expect(404, detail=what)


@check("createTable.kept-or-refused", proves="createTable.kept-or-refused")
def test_what_a_table_cannot_have_twice(catalog: Catalog) -> None:
    """Two columns, or two partition fields, of one name are refused, or kept as sent."""
    namespace = shared_namespace(catalog)
    columns = bodies.schema(*(STRUCT(at, "once", "long") for at in (1, 2)))
    fields = [bodies.partition_field(1, f"bucket[{n}]", "once", 999 + n) for n in (1, 2)]
    answers: list[Reply] = []
    for what, definition, part in (
        ("columns", {"table_schema": columns}, view.current_schema),
        ("partition fields", {"spec": bodies.partition_spec(*fields)}, view.default_spec),
    ):
        name = catalog.new_name()
        body = bodies.create_table_body(name, **definition)  # type: ignore[arg-type]
        answers.append(catalog.create_table(namespace, body))
        if not answers[-1].ok:
            continue
        reply = catalog.load_table(namespace, name).expect(200)
        shown = part(view.metadata_in(reply)).get("fields") or ()
        if [each.get("name") for each in shown] != ["once", "once"]:
            due, detail = "what was sent, or a refusal", f"two {what} of one name"
            raise reply.violation(REPAIRED, due, "something else", detail=detail)
    expect_no_breakdown(answers)
