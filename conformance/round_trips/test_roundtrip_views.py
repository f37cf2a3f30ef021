"""Checks that the next load shows what the creation of a view, or a commit, has sent."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from icecheck.client import bodies
from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_namespace
from icecheck.conformance.kit.bisection import (
    REPAIRED,
    Pieces,
    expect_kept,
    expect_no_breakdown,
    send_in_pieces,
)
from icecheck.conformance.round_trips.view_roundtrip import (
    commit_version,
    current_version,
    expect_frame,
    given_two,
    metadata_of,
    next_version,
    view_properties,
)
from icecheck.findings.shared_symptoms import EFFECT_MISSING
from icecheck.judging.check import generated_check
from icecheck.objects.arranging import require
from icecheck.objects.comparing import expect_answer
from icecheck.objects.edge_values import (
    KEYS,
    STRING_LISTS,
    STRINGS,
    string_map,
)
from icecheck.objects.evolving import schema_addition
from icecheck.objects.reading import supported
from icecheck.objects.round_trip import shown_of
from icecheck.objects.views import (
    View,
    create_view_body,
    definition_of,
    expect_view_unchanged,
    given_view,
    loaded_view,
    replace_view,
    view_version,
)
from icecheck.replies.expect import Reply
from icecheck.replies.matching import difference

Json = dict[str, Any]

_VIEW = "createView", "loadView"
# Catalogs on Iceberg's own code refuse a version that lacks a dialect of the version before.
_DIALECTS_MAY_GO = {"replace.drop-dialect.allowed": "true"}


def _expect_definition(reply: Reply, metadata: Mapping[str, Any], sent: Json, what: str) -> None:
    due, found = definition_of(sent), definition_of(current_version(metadata))
    expect_kept(reply, due, found, EFFECT_MISSING.of("view-definition"), what)


# ------------------------------------------------------------------------- queries


def _representations(items: Sequence[tuple[str, str]]) -> list[Json]:
    return [{"type": "sql", "sql": sql, "dialect": dialect} for dialect, sql in items]


def _queries() -> list[tuple[str, str]]:
    """Return a query with each edge string, each in its own dialect; sorting reorders them."""
    made = [
        (f"dialect{(n * 7) % 101}", f"SELECT '{n}' -- {each.value}")
        for n, each in enumerate(STRINGS)
    ]
    bare = [(f"bare{(n * 7) % 101}", each.value) for n, each in enumerate(STRINGS) if each.value]
    return [*made, *bare]


def _dialects() -> list[tuple[str, str]]:
    """Return odd names of dialects; none differ in case only, as some catalogs ignore case."""
    names = {each.value.lower(): each.value for each in KEYS}
    return [(name, f"SELECT {n} AS id") for n, name in enumerate(names.values())]


def _created_with(catalog: Catalog, items: Sequence[tuple[str, str]], what: str) -> None:
    namespace = shared_namespace(catalog)

    def send(some: Sequence[tuple[str, str]]) -> Reply:
        name = catalog.new_name()
        version = {
            **view_version(namespace=namespace),
            "representations": _representations(some),
        }
        reply = supported(
            catalog.create_view(namespace, create_view_body(name, namespace, version=version))
        )
        if reply.ok:
            view = View(namespace, name, {}, None)
            loaded, metadata = metadata_of(catalog, view)
            _expect_definition(loaded, metadata, version, what)
            expect_answer(reply, shown_of(loaded, view), what)
        return reply

    send_in_pieces(items, send, requests_max=16)


@generated_check("roundtrip.view-sql.created", proves="roundtrip.view-sql-created")
def test_queries_of_a_creation(catalog: Catalog) -> None:
    """A view has every query and dialect that it was created with, letter for letter, in order."""
    require(catalog, *_VIEW)
    _created_with(catalog, _queries(), "queries")
    _created_with(catalog, _dialects(), "dialects")


@generated_check("roundtrip.view-sql.replaced", proves="roundtrip.view-sql-replaced")
def test_queries_of_a_commit(catalog: Catalog) -> None:
    """A version that a commit adds to a view has its queries letter for letter."""
    require(catalog, *_VIEW)
    view, beside = given_two(catalog, **_DIALECTS_MAY_GO)
    number = 1

    def send(some: Sequence[tuple[str, str]]) -> Reply:
        nonlocal number
        number += 1
        version = next_version(view, number, representations=_representations(some))
        reply = commit_version(catalog, view, version)
        if reply.ok:
            loaded, metadata = metadata_of(catalog, view)
            _expect_definition(loaded, metadata, version, "queries")
            expect_answer(reply, shown_of(loaded, view), "queries")
        return reply

    send_in_pieces([*_dialects(), *_queries()], send, requests_max=20)
    expect_frame(catalog, view, "versions", "current-version-id")
    expect_view_unchanged(catalog, beside)


# ------------------------------------------------- default catalog and namespace


def _contexts(view: View) -> list[tuple[str, Json]]:
    """Return default catalogs and namespaces for versions, with one odd member at a time."""
    namespaces = [
        (each.what, {"default-namespace": each.value, "default-catalog": "Prod"})
        for each in STRING_LISTS
        if each.value
    ]
    catalogs: list[tuple[str, Json]] = [
        (each.what, {"default-namespace": [*view.namespace], "default-catalog": each.value})
        for each in STRINGS[1::4]
        if each.value
    ]
    none: list[tuple[str, Json]] = [("no default catalog", {"default-namespace": ["a"]})]
    return [*namespaces, *none, *catalogs, *none]


@generated_check("roundtrip.view-context")
def test_default_catalog_and_namespace(catalog: Catalog) -> None:
    """Each version of a view keeps the default catalog and namespace that it was sent with."""
    require(catalog, *_VIEW)
    view, beside = given_two(catalog)
    hidden: list[tuple[str, Json]] = []
    numbers = count(2)

    def send(some: Sequence[tuple[str, Json]], **query: Json) -> Reply:
        versions = [next_version(view, next(numbers), **members, **query) for _, members in some]
        reply = commit_version(catalog, view, *versions)
        if reply.ok:
            loaded, metadata = metadata_of(catalog, view)
            _expect_definition(loaded, metadata, versions[-1], some[-1][0])
            expect_answer(reply, shown_of(loaded, view), some[-1][0])
            shown = [definition_of(each) for each in metadata.get("versions") or ()]
            hidden.extend(
                each
                for each, version in zip(some, versions, strict=True)
                if definition_of(version) not in shown
            )
        return reply

    # The versions have the same query and differ only in their default catalog and namespace.
    query = view_version(namespace=())["representations"]
    contexts = _contexts(view)
    send_in_pieces(
        contexts,
        lambda some: send(some, representations=query),
        requests_max=2 * len(contexts),  # one version at a time, if the catalog wants it so
    )
    for each in [*hidden]:  # altered, or no longer kept: a load shows it as the current one
        send([each])
    expect_frame(catalog, view, "versions", "current-version-id")
    expect_view_unchanged(catalog, beside)


@generated_check("roundtrip.view-summary")
def test_summaries(catalog: Catalog) -> None:
    """A version that a commit adds has every entry of its summary, key and value as sent."""
    require(catalog, *_VIEW)
    view = loaded_view(catalog, given_view(catalog))
    number = 1

    def send(pairs: Pieces) -> Reply:
        nonlocal number
        number += 1
        summary = {"engine-name": "icecheck", **dict(pairs)}
        reply = commit_version(catalog, view, next_version(view, number, summary=summary))
        if reply.ok:
            loaded, metadata = metadata_of(catalog, view)
            found = current_version(metadata).get("summary") or {}
            expect_kept(loaded, summary, found, EFFECT_MISSING.of("view-summary"))
            expect_answer(reply, shown_of(loaded, view), "summaries")
        return reply

    send_in_pieces([*string_map().items()], send)


# ------------------------------------------------------------------- hard to keep


@generated_check("replaceView.kept-or-refused")
def test_what_a_view_cannot_have_twice(catalog: Catalog) -> None:
    """Two queries in one dialect, or two columns of one name, are refused, or kept as sent."""
    require(catalog, *_VIEW)
    view = given_view(catalog)
    queries = _representations([("spark", "SELECT 1 AS id"), ("spark", "SELECT 2 AS id")])
    version = next_version(view, 2, representations=queries)
    columns = bodies.schema(
        *(bodies.struct_field(at, "once", "long") for at in (1, 2)), schema_id=1
    )
    answers: list[Reply] = []
    for what, update, member, due in (
        ("queries", {"action": "add-view-version", "view-version": version}, "versions", queries),
        ("columns", schema_addition({}, columns), "schemas", columns["fields"]),
    ):
        answers.append(supported(replace_view(catalog, view, [update])))
        if not answers[-1].ok:
            continue
        reply, metadata = metadata_of(catalog, view)
        kept = "representations" if member == "versions" else "fields"
        shown = [each.get(kept) for each in metadata.get(member) or ()]
        if all(difference(due, each, exact=False) for each in shown):
            detail = f"two {what} where one is possible"
            due_or_not = "what was sent, or a refusal"
            raise reply.violation(REPAIRED, due_or_not, "something else", detail=detail)
    expect_no_breakdown(answers)


# ------------------------------------------------------------------------ properties


@generated_check("roundtrip.view-properties")
def test_properties(catalog: Catalog) -> None:
    """A view has each property as it was set, keeps the others, and loses what was removed."""
    require(catalog, *_VIEW)
    view, beside = given_two(catalog, **{"icecheck.value": "kept"})
    due: Json = dict(view_properties(view.metadata))

    def commit(update: Json, some: Pieces) -> Reply:
        reply = replace_view(catalog, view, [update])
        if reply.ok and update["action"] == "set-properties":
            due.update(dict(some))
        elif reply.ok:
            for key, _ in some:
                due.pop(key, None)
        return reply

    pairs = [*string_map().items()]
    send_in_pieces(pairs, lambda some: commit(_set(some), some))
    reply, metadata = metadata_of(catalog, view)
    expect_kept(reply, due, view_properties(metadata), EFFECT_MISSING.of("view-properties"), "set")
    there = [pair for pair in pairs if pair[0] in due]
    send_in_pieces(there[::2], lambda some: commit(_remove(some), some))
    reply, metadata = metadata_of(catalog, view)
    shown = {key: view_properties(metadata).get(key) for key in (*dict(there), *due)}
    wanted = {key: due.get(key) for key in shown}
    expect_kept(reply, wanted, shown, EFFECT_MISSING.of("view-properties"), "after a removal")
    expect_frame(catalog, view)
    expect_view_unchanged(catalog, beside)


def _set(some: Pieces) -> Json:
    return bodies.set_properties(dict(some))


def _remove(some: Pieces) -> Json:
    return {"action": "remove-properties", "removals": [key for key, _ in some]}


@generated_check("roundtrip.view-properties.created", proves="roundtrip.view-properties-created")
def test_properties_of_a_creation(catalog: Catalog) -> None:
    """A view has every property that its creation gave it, key and value as sent."""
    require(catalog, *_VIEW)
    namespace = shared_namespace(catalog)

    def send(pairs: Pieces) -> Reply:
        name = catalog.new_name()
        reply = supported(
            catalog.create_view(
                namespace, create_view_body(name, namespace, properties=dict(pairs))
            )
        )
        if reply.ok:
            view = View(namespace, name, {}, None)
            loaded, metadata = metadata_of(catalog, view)
            expect_kept(
                loaded, dict(pairs), view_properties(metadata), EFFECT_MISSING.of("view-properties")
            )
            expect_answer(reply, shown_of(loaded, view), "properties")
        return reply

    send_in_pieces([*string_map().items()], send)
