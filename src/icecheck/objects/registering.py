"""Arrange steps of registrations of views: files that catalogs register, and whether they do.

A catalog may delete the files of a view that is dropped, and may refuse a file that another view
has, or one outside of where it keeps its own. No sentence says otherwise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from icecheck.client.catalog import Catalog
from icecheck.client.given import arrange
from icecheck.objects.reading import not_applicable
from icecheck.objects.views import MARK, View, given_view
from icecheck.replies.expect import NotOffered, Reply
from icecheck.targets.target import Namespace

_UNFIT = frozenset({400, 403, 404, 409, 422})
"""How a catalog refuses a file."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A view's file, registered under another name.

    ``view`` is the one that the file is of, in the state that the file has. ``reply`` is the answer
    to the registration, and ``loaded`` the one to a load right after it.
    """

    view: View
    namespace: Namespace
    name: str
    reply: Reply
    loaded: Reply

    @property
    def made(self) -> View:
        """The registered view, as the load showed it; Violation if it showed none."""
        location = self.loaded.expect(200).json().get("metadata-location")
        metadata = self.loaded.member("metadata")
        return View(self.namespace, self.name, metadata, location)


def file_of(view: View) -> str:
    """Return the metadata location of a view; raise NotOffered if the catalog tells none."""
    if view.metadata_location is None:
        raise NotOffered("the catalog tells no metadata location")
    return view.metadata_location


def registered(
    catalog: Catalog,
    prepare: Callable[[View], Sequence[View]] | None = None,
    namespace: Namespace | None = None,
) -> Registration:
    """Register a metadata file of the catalog under a new name.

    The view of the file is dropped first, as in a move; where the file seems to be gone with it, or
    is gone later, the file of a view that is still there is registered. ``prepare`` returns the
    states of the view whose files are tried, one after the other. The new name is in ``namespace``,
    or that of the view where the catalog refuses it there. Raises NotOffered if the catalog refuses
    all.
    """
    ways = (True, False) if catalog.claims("dropView") else (False,)
    for where, dropped in product([None] if namespace is None else [namespace, None], ways):
        view = given_view(catalog, properties={MARK: "first"})
        states = [view] if prepare is None else prepare(view)
        files = [file_of(state) for state in states]
        if dropped:
            arrange(catalog, "dropView", partial(catalog.drop_view, view.namespace, view.name))
        for state, file in zip(states, files, strict=True):
            there, name = where or view.namespace, catalog.new_name()
            reply = catalog.register_view(there, name, file)
            if reply.status in _UNFIT or (dropped and not reply.ok):
                continue
            loaded = catalog.load_view(there, name)
            if loaded.ok or not dropped:
                return Registration(state, there, name, reply, loaded)
    raise not_applicable(f"a file of the catalog's own is answered with {reply.status}")


def due(catalog: Catalog, reply: Reply, view: View, status: int, detail: str = "") -> Reply:
    """Judge the status of a registration of a view's file that must be refused for something else.

    Where another refusal may be about the file, the file is registered under a free name, too:
    raises NotOffered if that is refused.
    """
    if reply.status in _UNFIT and reply.status != status:
        plain = catalog.register_view(view.namespace, catalog.new_name(), file_of(view))
        if plain.status in _UNFIT:
            raise not_applicable(f"a file of the catalog's own is answered with {plain.status}")
    return reply.expect(status, detail=detail)


def refused_as_unfit(reply: Reply) -> bool:
    """Return whether a registration may have been refused because of its file."""
    return reply.status in _UNFIT
