"""Reads each thing and each list, and judges them by the expected state."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from icecheck.client.catalog import NO_BODY, Catalog, Query
from icecheck.contract import Action
from icecheck.judging.probes import has_capability
from icecheck.objects.metadata_view import column_names, metadata_in, settled
from icecheck.objects.reading import (
    PAGE_TOO_LONG,
    expect_answered_location,
    expect_levels,
    namespaces_in,
    next_page_token,
    object_in,
    tables_in,
)
from icecheck.objects.views import (
    definition_of,
    settled_view,
)
from icecheck.replies.expect import Blocked, Reply
from icecheck.replies.matching import ABSENT, difference
from icecheck.scenarios.model.choosing import chosen, share
from icecheck.scenarios.model.foresight import contradictions, unforeseen
from icecheck.scenarios.model.progress import Progress, brief
from icecheck.scenarios.model.world import WATCHED, Held, Thing, World, marked
from icecheck.targets.target import Namespace

Json = dict[str, Any]

_SHOWING = frozenset({"createTable", "updateTable", "registerTable", "createView", "replaceView"})
"""The operations whose answers show a whole table or view."""
_ANSWERED = _SHOWING | {"createNamespace"}
_PROPERTIES_OF_NEW = {
    "namespace": "createNamespace.properties-stored",
    "table": "createTable.properties-kept",
    "view": "createView.properties-kept",
}
_NESTED = "nested-namespaces"
_CREDENTIALS = "loadCredentials"

_PAGES_MAX = 24
"""More pages than a list of any walk has."""


class Observer:
    """Reads things and lists, judges them, and keeps what the answers have shown.

    ``metadata`` and ``locations`` are from the last answer about each thing, ``staged`` is the
    metadata staged under a name, and ``tags`` are the entity tags of each table name with the state
    that each identifies. ``vended`` are the lives of tables whose credentials were loaded, and
    ``known`` the names under which these were asked for. ``answered`` is what each way to read
    something has last shown. ``bare`` are the kinds whose properties a creation loses.
    """

    def __init__(self, catalog: Catalog, labels: Mapping[str, str]) -> None:
        self.catalog = catalog
        self.progress = Progress(catalog, labels)
        self.metadata: dict[Thing, Json] = {}
        self.locations: dict[Thing, str] = {}
        self.outdated: set[Thing] = set()  # those whose metadata has changed since
        self.staged: dict[Thing, Json] = {}
        self.tags: defaultdict[Thing, dict[str, tuple[int, int]]] = defaultdict(dict)
        self.keeps_properties = has_capability(catalog, "namespace-properties")
        self.bare = frozenset(
            k for k, kept in _PROPERTIES_OF_NEW.items() if not catalog.keeps(kept)
        )
        self.vended: set[int] = set()
        self.known: set[tuple[int, Namespace]] = set()
        self.answered: dict[tuple[Thing, str], object] = {}

    def _claims(self, action: Action, kind: str) -> bool:
        return self.catalog.claims(self.catalog.contract.by_object(action)[kind])

    def begins_with(self, kind: str, properties: Mapping[str, str]) -> Mapping[str, str]:
        """Return the properties with which a thing is created."""
        without = kind in self.bare or (kind == "namespace" and not self.keeps_properties)
        return {} if without else properties

    # ---- what is known already

    def checks(self, thing: Thing) -> bool:
        """Return whether the catalog has existence checks for things of this kind."""
        return self._claims(Action.EXISTS, thing.kind)

    def look_unless_known(self, world: World, thing: Thing, *, listed: bool) -> World:
        """Load a thing, and list or check it, unless that has shown its current state already."""
        held = world.held.get(thing)
        if self.answered.get((thing, "load"), "never") != _state(held):
            world = self.look(world, thing, tagged=False)
        if not listed:
            if self.answered.get((thing, "existence")) is not (held is not None):
                self.look_for(world, thing)
            return world
        space = Thing("namespace", thing.namespace)
        if world.has_namespace(thing.namespace) and self.answered.get(
            (space, thing.kind)
        ) != world.named(thing.namespace, thing.kind):
            self.look_in(world, thing.namespace, thing.kind)
        return world

    # ---- one thing

    def look(self, world: World, thing: Thing, *, tagged: bool = True, query: Query = ()) -> World:
        """Judge a load of an existing or missing thing; return the state with server-chosen values.

        With ``tagged`` the load of a table sends an entity tag that its name has had. ``query`` is
        for loads of tables, and must not change what the answer shows.
        """
        held = world.held.get(thing)
        if not self._claims(Action.LOAD, thing.kind):
            return world
        tag = self._tag(thing) if tagged else None
        reply = self._load(thing, tag, query)
        if reply.status == 304 and tag is not None and held is not None:
            if self.tags[thing][tag] != held.state:
                told = "the tag is one of another version, or of another table"
                raise self.progress.violation(reply, thing, "entity-tag", "200", 304, told)
            self.progress.saw(thing)
            return world
        self._expect_there(reply, thing, held)
        self.answered[thing, "load"] = _state(held)
        if held is None:
            self.progress.saw(thing)
            return world
        seen = self._seen(thing, reply, held)
        self._expect_due(reply, thing, held, seen)
        self.progress.saw(thing)
        return world.settled(thing, seen, self.metadata.get(thing, {}))

    def taken_as_shown(self, world: World, thing: Thing, reply: Reply) -> World | None:
        """Return the state in which the answer to a step is what a load has shown.

        None for an answer that does not show a whole table or view.
        """
        held = world.held.get(thing)
        if held is None or reply.exchange.operation not in _SHOWING:
            return None
        return world.settled(thing, self._seen(thing, reply, held), self.metadata[thing])

    def listen(self, world: World, thing: Thing, reply: Reply) -> World:
        """Judge the answer to a step, which shows the thing that the step made or changed."""
        held = world.held.get(thing)
        if held is None or reply.exchange.operation not in _ANSWERED:
            return world
        seen = self._seen(thing, reply, held)
        self._expect_due(reply, thing, held, seen)
        if thing.kind == "namespace":
            return world
        if not self._claims(Action.LOAD, thing.kind):
            return world.settled(thing, seen, self.metadata[thing])
        world = world.assigned(thing, self.metadata[thing])
        if reply.exchange.operation != "updateTable" or "metadata-location" not in seen:
            return world
        self.answered[thing, "metadata-location"] = seen["metadata-location"]
        return world.pinned(thing, "metadata-location", seen["metadata-location"])

    def look_for(self, world: World, thing: Thing) -> None:
        """Judge the existence check of a thing, and the credentials of a table."""
        held = world.held.get(thing)
        if self.checks(thing):
            self._expect_there(self._exists(thing), thing, held)
            self.answered[thing, "existence"] = held is not None
        if thing.kind == "table" and held is not None:
            self._look_along(thing, held)

    def _look_along(self, thing: Thing, held: Held) -> None:
        """Judge that credentials that were loaded for a table still are, under whatever name.

        Other checks judge whether that succeeds at all. Each name is asked once.
        """
        asked = (held.life, thing.path)
        if asked in self.known or not self.catalog.claims(_CREDENTIALS):
            return
        self.known.add(asked)
        named: dict[str, str | Namespace] = {"namespace": thing.namespace, "table": thing.name}
        reply = self.catalog.call(_CREDENTIALS, named, body=NO_BODY)
        if reply.ok:
            self.vended.add(held.life)
        elif held.life in self.vended:
            raise self.progress.violation(reply, thing, "existence", "200", reply.status)

    def _tag(self, thing: Thing) -> str | None:
        """Return a tag that a table of this name has had: the last one, or one before it."""
        known = {str(at): tag for at, tag in enumerate(self.tags[thing])}
        if not known:
            return None
        occasion = self.progress.occasion(thing, "tag")
        last = [*known.values()][-1]
        return last if share(occasion, 2) else chosen(known, occasion)

    def _load(self, thing: Thing, tag: str | None, query: Query) -> Reply:
        if thing.kind == "namespace":
            return self.catalog.load_namespace_metadata(thing.path)
        if thing.kind == "view":
            return self.catalog.load_view(thing.namespace, thing.name)
        headers = None if tag is None else {"If-None-Match": tag}
        return self.catalog.load_table(thing.namespace, thing.name, query, headers)

    def _exists(self, thing: Thing) -> Reply:
        if thing.kind == "namespace":
            return self.catalog.namespace_exists(thing.path)
        if thing.kind == "view":
            return self.catalog.view_exists(thing.namespace, thing.name)
        return self.catalog.table_exists(thing.namespace, thing.name)

    def _expect_there(self, reply: Reply, thing: Thing, held: Held | None) -> None:
        """Judge that the status says whether the thing exists."""
        if held is None and reply.status != 404:
            raise self.progress.violation(reply, thing, "existence", "404", reply.status)
        if held is not None and not reply.ok:
            raise self.progress.violation(reply, thing, "existence", "200", reply.status)

    def _seen(self, thing: Thing, reply: Reply, held: Held) -> Json:
        """Return what an answer shows of a thing, and keep what later steps need."""
        if thing.kind == "namespace":
            body = object_in(reply)
            properties = body.get("properties")
            held_back = properties is None and reply.exchange.operation == "createNamespace"
            if held_back or not self.keeps_properties:
                return {"namespace": body.get("namespace")}
            found = marked(properties if isinstance(properties, dict) else {})
            return {"namespace": body.get("namespace"), "properties": found}
        metadata = metadata_in(reply)
        before, self.metadata[thing] = self.metadata.get(thing), metadata
        location = object_in(reply).get("metadata-location")
        told = {"metadata-location": location} if isinstance(location, str) else {}
        if isinstance(location, str):
            self.locations[thing] = location
            self.outdated.discard(thing)
        elif metadata != before:
            self.outdated.add(thing)
        if thing.kind == "table":
            tag = reply.header("etag")
            if tag is not None and "?" not in reply.exchange.url:
                self.tags[thing].pop(tag, None)  # so that it becomes the last one
                self.tags[thing][tag] = held.state
            columns = [*column_names(metadata).values()]
            return {**settled(metadata, *WATCHED), "columns": columns, **told}
        return _view_seen(reply, metadata)

    def _expect_due(self, reply: Reply, thing: Thing, held: Held, seen: Json) -> None:
        for member, wanted in held.due.items():
            shown = seen.get(member, ABSENT)
            if shown is ABSENT and (member == "metadata-location" or thing.kind == "namespace"):
                continue  # optional: a location, and properties in some catalogs
            found = difference(wanted, shown, exact=True)
            if found is not None and member == "namespace":
                expect_levels(reply, thing.path)
            if found is not None and wanted == self.answered.get((thing, member)):
                expect_answered_location(wanted, shown, self.progress.since(thing, ""))
            if found is not None:
                pointer, *values = found
                where = f"{member}{pointer}"
                raise self.progress.otherwise(reply, thing, member, where, *values)
        if thing.kind != "namespace":
            self._expect_foreseen(reply, thing, held)

    def _expect_foreseen(self, reply: Reply, thing: Thing, held: Held) -> None:
        """Judge whole metadata: what the commits since the last load have made, and no more."""
        shown = self.metadata[thing]
        has_history = bool((held.foreseen or shown).get("snapshots"))
        whole = not has_history or has_capability(self.catalog, "snapshot-history")
        if held.foreseen is not None:
            found = unforeseen(thing.kind, held.shown, held.foreseen, shown, whole_history=whole)
            if found is not None:
                where = f"{found.member}{found.pointer}"
                raise self.progress.otherwise(
                    reply, thing, found.about, where, found.due, found.seen, beside=found.beside
                )
        for member, words in contradictions(held.shown, shown, whole_history=whole):
            told = f"{member}: {words}"
            raise self.progress.contradiction(reply, thing, member, told)

    # ---- one list

    def look_in(self, world: World, namespace: Namespace, kind: str, page_size: int = 0) -> None:
        """Judge the list of an existing namespace: whole, or in pages of a size.

        The top level is never listed in pages, because it contains namespaces of others.
        """
        if not self._claims(Action.LIST, kind) or (kind != "namespace" and not namespace):
            return
        if kind == "namespace" and namespace and not has_capability(self.catalog, _NESTED):
            return
        size = page_size if namespace else 0
        pages = self._pages(namespace, kind, size)
        if pages is None:
            return
        listed = [each for page in pages for each in page]
        if not namespace:
            known = {each.path for each in (*world.held, *world.gone)}
            listed = [each for each in listed if each in known]
        due = world.named(namespace, kind)
        space, what = Thing("namespace", namespace), self._list_in_words(namespace, kind, size)
        reply = Reply(self.catalog.exchanges[-1], self.catalog.session.schemas)
        if sorted(listed) == due:
            self.answered[space, kind] = due
            self.progress.saw(space, what)
            if len(pages) > 1 and max(map(len, pages)) > size:
                one, other = "at most pageSize entries", "more"
                raise reply.violation(PAGE_TOO_LONG, one, other, detail=what)
            return
        names = [self.progress.label(each) for each in sorted(listed)]
        told = f"it has {brief(names)}, due is {brief([self.progress.label(each) for each in due])}"
        one, other = "a list of what is there", "another list"
        raise self.progress.violation(reply, space, "listing", one, other, told, what)

    def _list_in_words(self, namespace: Namespace, kind: str, page_size: int) -> str:
        where = self.progress.label(namespace) or "what holds all of them"
        return f"the list of {kind}s in {where}" + (
            f", in pages of {page_size}" if page_size and namespace else ""
        )

    def expect_no_lists(self, thing: Thing) -> None:
        """Judge that nothing is listed in a namespace that no longer exists.

        The checks of listing judge whether 404 or an empty list is due; here the answer must be the
        one for a namespace that never existed. The kinds of lists take turns.
        """
        nested = has_capability(self.catalog, _NESTED)
        kinds = ("namespace", "table", "view") if nested else ("table", "view")
        listing = [kind for kind in kinds if self._claims(Action.LIST, kind)]
        if not listing:
            return
        kind = listing[share(self.progress.occasion(thing, "lists"), len(listing))]
        reply = self._list(thing.path, kind, ())
        if reply.ok and (_listed(reply, kind) or self._knows_no(thing.namespace, kind)):
            one, other = "404", reply.status
            what = f"the list of {kind}s in what is not there"
            raise self.progress.violation(reply, thing, "existence", one, other, what=what)

    def _knows_no(self, parent: Namespace, kind: str) -> bool:
        """Return whether a list in a namespace that never existed is answered with 404."""
        return self._list((*parent, self.catalog.new_name()), kind, ()).status == 404

    def _pages(self, namespace: Namespace, kind: str, size: int) -> list[list[Namespace]] | None:
        """Return the pages of a list, or the whole list as one if ``size`` is 0.

        None if the pages do not end: the checks of pagination judge that.
        """
        what = self._list_in_words(namespace, kind, size)
        tokens = [""]
        pages: list[list[Namespace]] = []
        while len(pages) < _PAGES_MAX:
            query = [("pageToken", tokens[-1]), ("pageSize", str(size))] if size else []
            reply = self._list(namespace, kind, query)
            since = self.progress.since(Thing("namespace", namespace), what)
            reply.expect(200, detail=f"{what}; after {since}")
            pages.append(_listed(reply, kind))
            token = (next_page_token(reply) or "") if size else ""
            if not token:
                return pages
            if token in tokens:
                return None
            tokens.append(token)
        return None

    def _list(self, namespace: Namespace, kind: str, query: Query) -> Reply:
        ask: dict[str, Callable[[], Reply]] = {
            "namespace": lambda: self.catalog.list_namespaces(namespace or None, query),
            "table": lambda: self.catalog.list_tables(namespace, query),
            "view": lambda: self.catalog.list_views(namespace, query),
        }
        return ask[kind]()


def _state(held: Held | None) -> tuple[int, int] | None:
    return None if held is None else held.state


def _view_seen(reply: Reply, metadata: Json) -> Json:
    versions = metadata.get("versions")
    if not isinstance(versions, list) or not all(isinstance(each, dict) for each in versions):
        by, why = f"schema.{reply.exchange.operation}.200", "the view has no usable versions"
        raise Blocked(by, why, exchange=reply.exchange.ordinal)
    current = metadata.get("current-version-id")
    queries = [
        each["sql"]
        for version in versions
        if version.get("version-id") == current
        for each in definition_of(version)["representations"]
    ]
    return {**settled_view(metadata, *WATCHED), "query": queries}


def _listed(reply: Reply, kind: str) -> list[Namespace]:
    """Return the paths in a list of this kind."""
    if kind == "namespace":
        return namespaces_in(reply)
    return [(*namespace, name) for namespace, name in tables_in(reply)]
