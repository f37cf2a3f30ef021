"""Found out on one object before a run makes many: does the catalog delete what it is told to?"""

from icecheck.client import Catalog
from icecheck.connection import TargetUnusable
from icecheck.expect import SHAPE_ERRORS, Blocked, NotOffered, Unreachable, Violation
from icecheck.session import Session

__all__ = ["refuse_to_litter"]

_PAIRS = (
    ("createNamespace", "dropNamespace"),
    ("createTable", "dropTable"),
    ("createView", "dropView"),
)
_HOW_TO_GO_ON = "; to let all of it stay on the catalog, add --accept-residue"


def refuse_to_litter(session: Session) -> None:
    """Make one namespace and one table, drop them, and look (verdict-rules 13).

    Raises TargetUnusable when something that was dropped is evidently still there, or when the
    catalog does not claim to drop what a run makes. What cannot be made says nothing.
    """
    if session.target.accept_residue or session.target.read_only:
        return
    for creates, drops in _PAIRS:
        claimed = [session.offer.claims(id_, session.contract) for id_ in (creates, drops)]
        if claimed == [True, False]:
            raise TargetUnusable(
                f"the catalog claims {creates} and not {drops}: what a run makes would stay, so "
                f"it stops before it litters{_HOW_TO_GO_ON}"
            )
    catalog = Catalog(session, session.probe_id("deletion"))
    try:
        _try_deleting(catalog)
    except (Blocked, NotOffered, Unreachable, Violation, *SHAPE_ERRORS):
        pass  # the checks meet the same trouble, and say whose it is
    finally:
        catalog.undo()


def _try_deleting(catalog: Catalog) -> None:
    namespace = catalog.given_namespace()
    if catalog.claims("createTable"):
        table = catalog.given_table(namespace)
        dropped = catalog.drop_table(namespace, table.name)
        if catalog.claims("loadTable"):
            again = catalog.load_table(namespace, table.name)
            if again.status == 200 and again.member("metadata", "table-uuid") == table.uuid:
                raise _still_there("table", ".".join((*namespace, table.name)), dropped.status)
    dropped = catalog.drop_namespace(namespace)
    if catalog.claims("loadNamespaceMetadata"):
        again = catalog.load_namespace_metadata(namespace)
        if again.status == 200 and again.member("namespace") == [*namespace]:
            raise _still_there("namespace", ".".join(namespace), dropped.status)


def _still_there(kind: str, name: str, status: int) -> TargetUnusable:
    return TargetUnusable(
        f"the {kind} {name} was made, its drop was answered {status}, and it is still there: the "
        f"run stops before it litters{_HOW_TO_GO_ON}"
    )
