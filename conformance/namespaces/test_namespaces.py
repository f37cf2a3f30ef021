"""Checks of namespaces: create, load, exists and drop."""

import json

from icecheck.client.catalog import Catalog
from icecheck.client.given import (
    given_namespace,
    given_table,
    shared_empty_namespace,
    shared_namespaces,
    some_namespace,
)
from icecheck.findings.shared_symptoms import (
    CHANGED_ALTHOUGH_REFUSED,
    EFFECT_MISSING,
    EFFECT_ON_ANOTHER,
)
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.judging.probes import has_capability
from icecheck.objects.arranging import given_namespace_at, require
from icecheck.objects.reading import (
    expect_levels,
    expect_namespace_gone,
    expect_properties_in,
    expect_properties_unchanged,
    namespaces_in,
    object_in,
    properties_of,
)
from icecheck.replies.expect import Violation
from icecheck.replies.matching import show

_HEAD_DISAGREES_WITH_GET = declare(
    "head-disagrees-with-get",
    "HEAD and GET disagree about whether a namespace is there",
    Severity.WRONG_STATUS,
    "Spark, PyIceberg: IF EXISTS and IF NOT EXISTS go wrong",
)
_INNER_LOST = declare(
    "inner-namespace-lost",
    "Dropping a namespace takes along the namespaces in it",
    Severity.FALSE_OR_LOST,
    "everybody: namespaces vanish, and nobody is told",
)
_PROPERTIES_NOT_TOLD = declare(
    "properties-not-told",
    "Answers a creation without some properties that are stored",
    Severity.SHAPE,
)

# ------------------------------------------------------------------ createNamespace


@check("createNamespace.created", proves=("createNamespace.200", "createNamespace.echo"))
def test_creating_a_namespace_is_answered_with_it(catalog: Catalog) -> None:
    """Creating a namespace is answered 200, with the namespace level by level."""
    namespace = catalog.new_namespace_name()
    reply = catalog.create_namespace(namespace).expect(200)
    expect_levels(reply, namespace)


@check("createNamespace.exists-afterwards")
def test_a_created_namespace_can_be_loaded(catalog: Catalog) -> None:
    """A namespace that was created can be loaded."""
    namespace = given_namespace(catalog)
    reply = catalog.load_namespace_metadata(namespace)
    if reply.status == 404:
        raise reply.violation(
            EFFECT_MISSING.of("create-namespace"), "200", "404", detail="the creation was accepted"
        )
    expect_levels(reply.expect(200), namespace)


@check("createNamespace.properties-optional")
def test_a_namespace_needs_no_properties(catalog: Catalog) -> None:
    """A request with nothing but the namespace creates it."""
    namespace = catalog.new_namespace_name()
    catalog.call("createNamespace", body={"namespace": [*namespace]}).expect(200)
    expect_levels(catalog.load_namespace_metadata(namespace).expect(200), namespace)


@check(
    "createNamespace.properties-stored",
    proves=("createNamespace.properties-stored", "createNamespace.tells-all-properties"),
    needs=("namespace-properties",),
)
def test_properties_given_at_creation_are_stored(catalog: Catalog) -> None:
    """Properties of a creation, and those the server adds, are in its answer and later loads."""
    sent = {"team": "icecheck", "note": "with spaces, and = signs"}
    namespace = catalog.new_namespace_name()
    reply = catalog.create_namespace(namespace, sent).expect(200)
    expect_properties_in(reply, sent)
    loaded = catalog.load_namespace_metadata(namespace).expect(200)
    expect_properties_in(loaded, sent)
    told, stored = (object_in(each).get("properties") or {} for each in (reply, loaded))
    if untold := [key for key in stored if key not in told]:
        raise reply.violation(
            _PROPERTIES_NOT_TOLD,
            "all properties that were stored, the server's own too",
            "some of them",
            detail=show(untold[0]),
        )


@check("createNamespace.nested", needs=("nested-namespaces",))
def test_a_namespace_can_be_created_below_another(catalog: Catalog) -> None:
    """A namespace of several levels can be created below an existing one, and is found there."""
    # The run's own namespace, if it has one: a catalog may allow two levels and no more.
    parent = catalog.session.isolation.base or given_namespace(catalog)
    child = (*parent, catalog.new_name())
    reply = catalog.create_namespace(child).expect(200)
    expect_levels(reply, child)
    reply = catalog.list_namespaces(parent)
    if child not in namespaces_in(reply):
        raise reply.violation(
            EFFECT_MISSING.of("create-namespace"),
            "the child in its parent's list",
            "a list without it",
            detail=f"a name of {len(child)} levels",
        )


@check("createNamespace.already-exists", proves="createNamespace.409")
def test_creating_an_existing_namespace_is_refused(catalog: Catalog) -> None:
    """Creating a namespace that exists is refused."""
    namespace = shared_empty_namespace(catalog)
    catalog.create_namespace(namespace).expect(409)


@check("createNamespace.conflict-changes-nothing", needs=("namespace-properties",))
def test_a_refused_creation_leaves_the_properties(catalog: Catalog) -> None:
    """Creating a namespace that exists does not touch its properties."""
    namespace = given_namespace(catalog, {"team": "first"})
    before = properties_of(catalog, namespace)
    refused = {"team": "second", "added": "yes"}
    catalog.create_namespace(namespace, refused).expect(409)
    expect_properties_unchanged(catalog, namespace, before, refused)


@check("createNamespace.malformed", proves="createNamespace.400")
def test_a_malformed_creation_is_refused(catalog: Catalog) -> None:
    """A creation whose body is no JSON, no object, or names no namespace is refused with 400."""
    namespace = catalog.new_namespace_name()
    catalog.ledger_namespace(namespace)
    cut_off = json.dumps({"namespace": namespace}).encode()[:-1]
    catalog.call("createNamespace", body=cut_off).expect(400, detail="JSON that is cut off")
    catalog.call("createNamespace", body=[{"namespace": [*namespace]}]).expect(
        400, detail="a list instead of an object"
    )
    catalog.call("createNamespace", body={"properties": {}}).expect(
        400, detail="no member `namespace`"
    )
    catalog.call("createNamespace", body={"namespace": 7}).expect(400, detail="a number as name")
    reply = catalog.load_namespace_metadata(namespace)
    if reply.ok:
        raise reply.violation(
            CHANGED_ALTHOUGH_REFUSED, "no namespace", "a namespace", detail="of malformed JSON"
        )


# ------------------------------------------------------------ loadNamespaceMetadata


@check("loadNamespaceMetadata.loaded", proves="loadNamespaceMetadata.200")
def test_loading_a_namespace_answers_it(catalog: Catalog) -> None:
    """Loading a namespace is answered 200, with that namespace."""
    namespace = some_namespace(catalog)
    reply = catalog.load_namespace_metadata(namespace).expect(200)
    expect_levels(reply, namespace)


@check("loadNamespaceMetadata.missing", proves="loadNamespaceMetadata.404")
def test_loading_a_missing_namespace_is_refused(catalog: Catalog) -> None:
    """Loading a namespace that does not exist is refused with 404."""
    catalog.load_namespace_metadata(catalog.new_namespace_name()).expect(404)


# ------------------------------------------------------------------ namespaceExists


@check("namespaceExists.exists", proves="namespaceExists.204")
def test_head_finds_a_namespace(catalog: Catalog) -> None:
    """HEAD on a namespace that exists is answered 204."""
    catalog.namespace_exists(some_namespace(catalog)).expect(204)


@check("namespaceExists.missing", proves="namespaceExists.404")
def test_head_misses_a_missing_namespace(catalog: Catalog) -> None:
    """HEAD on a namespace that does not exist is answered 404."""
    catalog.namespace_exists(catalog.new_namespace_name()).expect(404)


@check("namespaceExists.agrees-with-load")
def test_head_and_get_agree(catalog: Catalog) -> None:
    """HEAD and GET agree about a namespace before it is created, after, and after its drop."""
    require(catalog, "createNamespace", "dropNamespace")
    namespace = catalog.new_namespace_name()
    seen = [_head_and_get(catalog, namespace)]
    given_namespace_at(catalog, namespace)
    seen.append(_head_and_get(catalog, namespace))
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    seen.append(_head_and_get(catalog, namespace))
    for moment, (head, get) in zip(("before", "after creation", "after drop"), seen, strict=True):
        if head != get:
            raise Violation(
                _HEAD_DISAGREES_WITH_GET,
                "HEAD and GET to agree",
                "one finds it",
                detail=f"{moment}: {'HEAD' if head else 'GET'} finds the namespace",
                exchange=catalog.exchanges[-1].ordinal,
            )


def _head_and_get(catalog: Catalog, namespace: tuple[str, ...]) -> tuple[bool, bool]:
    """Return whether HEAD finds the namespace, and whether GET does."""
    head = catalog.namespace_exists(namespace).expect(200, 204, 404)
    get = catalog.load_namespace_metadata(namespace).expect(200, 404)
    return head.ok, get.ok


# -------------------------------------------------------------------- dropNamespace


@check("dropNamespace.dropped", proves="dropNamespace.204")
def test_dropping_an_empty_namespace_is_answered_204(catalog: Catalog) -> None:
    """Dropping an empty namespace is answered 204."""
    catalog.drop_namespace(given_namespace(catalog)).expect(204)


@check("dropNamespace.gone")
def test_a_dropped_namespace_is_gone(catalog: Catalog) -> None:
    """A dropped namespace neither loads nor is listed."""
    namespace = given_namespace(catalog)
    beside = catalog.session.isolation.base or None
    # The list before the drop may be cached and must not be answered afterwards.
    catalog.list_namespaces(beside)
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    expect_namespace_gone(catalog, namespace)
    reply = catalog.list_namespaces(beside)
    if namespace in namespaces_in(reply):
        raise reply.violation(
            EFFECT_MISSING.of("drop-namespace"),
            "a list without the dropped namespace",
            "a list with it",
        )


@check("dropNamespace.missing", proves="dropNamespace.404")
def test_dropping_a_missing_namespace_is_refused(catalog: Catalog) -> None:
    """Dropping a namespace that does not exist, or no longer, is refused with 404."""
    catalog.drop_namespace(catalog.new_namespace_name()).expect(404)
    namespace = given_namespace(catalog)
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    catalog.drop_namespace(namespace).expect(404, detail="after it was dropped")


@check(
    "dropNamespace.holds-table",
    proves=(
        "dropNamespace.409",
        "dropNamespace.holds-table",
        "dropNamespace.refusal-changes-nothing",
    ),
)
def test_a_namespace_with_a_table_is_not_dropped(catalog: Catalog) -> None:
    """A namespace that holds a table is not dropped, and the table and its properties stay."""
    kept = {"team": "icecheck"} if has_capability(catalog, "namespace-properties") else {}
    table = given_table(catalog, given_namespace(catalog, kept or None))
    catalog.drop_namespace(table.namespace).expect(409)
    reply = catalog.load_table(table.namespace, table.name)
    if reply.status == 404:
        raise reply.violation(
            CHANGED_ALTHOUGH_REFUSED, "200", "404", detail="the table went with the refused drop"
        )
    reply.expect(200)
    now = properties_of(catalog, table.namespace) if kept else {}
    if any(now.get(key) != value for key, value in kept.items()):
        raise Violation(
            CHANGED_ALTHOUGH_REFUSED,
            "the namespace as it was",
            "a changed namespace",
            detail="the properties went with the refused drop",
            exchange=catalog.exchanges[-1].ordinal,
        )


@check("dropNamespace.holds-namespace", needs=("nested-namespaces",))
def test_a_namespace_with_a_namespace_is_not_dropped(catalog: Catalog) -> None:
    """A namespace that holds another namespace is not dropped."""
    catalog.drop_namespace(shared_namespaces(catalog).path).expect(409)


@check("dropNamespace.inner-kept", needs=("nested-namespaces",))
def test_a_namespace_in_a_dropped_one_is_not_lost(catalog: Catalog) -> None:
    """Dropping a namespace does not take along a namespace in it, refused or not."""
    outer = shared_namespaces(catalog)
    dropped = catalog.drop_namespace(outer.path)
    if not dropped.ok:
        dropped.expect_refused()
    reply = catalog.load_namespace_metadata((*outer.path, outer.holds[0]))
    if reply.status == 404:
        raise reply.violation(
            _INNER_LOST if dropped.ok else CHANGED_ALTHOUGH_REFUSED,
            "200",
            "404",
            detail="the inner one went with the drop",
        )
    reply.expect(200)


@check("dropNamespace.others-untouched")
def test_a_drop_touches_no_other_namespace(catalog: Catalog) -> None:
    """A drop removes the namespace it names, and none whose name merely looks alike."""
    dropped = given_namespace(catalog)
    # In SQL's LIKE an underscore matches any character, and some servers compare names by prefix.
    lookalikes = [_sibling(dropped, "x"), _sibling(dropped, underscore_as="x")]
    for other in lookalikes:
        given_namespace_at(catalog, other)
    catalog.drop_namespace(dropped).expect(200, 202, 204)
    for other in lookalikes:
        reply = catalog.load_namespace_metadata(other)
        if reply.status == 404:
            detail = f"{other[-1]} went with {dropped[-1]}"
            raise reply.violation(
                EFFECT_ON_ANOTHER.of("drop-namespace"), "200", "404", detail=detail
            )
        expect_levels(reply.expect(200), other)


def _sibling(
    namespace: tuple[str, ...], ending: str = "", *, underscore_as: str = "_"
) -> tuple[str, ...]:
    """Return a sibling with another ending, or with another character for its last underscore."""
    head, _, tail = namespace[-1].rpartition("_")
    return (*namespace[:-1], f"{head}{underscore_as}{tail}{ending}")


@check("dropNamespace.recreate", needs=("namespace-properties",))
def test_a_dropped_name_is_free_again(catalog: Catalog) -> None:
    """After a drop the name can be created again, without the old properties."""
    namespace = given_namespace(catalog, {"team": "first", "dropped": "yes"})
    catalog.drop_namespace(namespace).expect(200, 202, 204)
    catalog.create_namespace(namespace, {"team": "second"}).expect(200)
    kept = properties_of(catalog, namespace)
    if kept.get("team") != "second" or "dropped" in kept:
        raise Violation(
            EFFECT_MISSING.of("drop-namespace"),
            "the properties of the new namespace",
            "those of the dropped one",
            exchange=catalog.exchanges[-1].ordinal,
        )
