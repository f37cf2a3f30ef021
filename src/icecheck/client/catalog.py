"""The catalog as a check sees it: one method per operation, arrange steps, and a ledger."""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from icecheck.client import bodies
from icecheck.client.sender import NO_BODY, Headers, Json, Names, Query, Sender
from icecheck.client.session import Session
from icecheck.client.shared_objects import Borrowed
from icecheck.client.table import Table
from icecheck.contract import Contract
from icecheck.ownership.ledger import Entry
from icecheck.ownership.removal import remove_all
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace, Target
from icecheck.wire.exchange import Step

__all__ = ["NO_BODY", "Catalog", "Query", "Table"]

_NAMES_PER_ATTEMPT = 100_000


class Catalog:
    """The catalog under test, for one check: sends requests and records them, never judges.

    Names consist of the run's token, a key made from the check's id, and a counter: the same run id
    and seed give the same requests in any order and on any worker, but for idempotency keys, which
    no run may repeat. Every object that a request may
    create is entered in the ledger before the request is sent; ``undo`` removes the objects, newest
    first.
    """

    def __init__(
        self,
        session: Session,
        check_id: str,
        attempt: int = 1,
        *,
        lost: frozenset[str] = frozenset(),
        last_ordinal: int = 0,
    ) -> None:
        self.session = session
        self.check_id = check_id
        self.sender = Sender(session, check_id, last_ordinal)
        self.ledger = self.sender.ledger
        self.exchanges = self.sender.exchanges
        self.handed_out = self.sender.handed_out
        self.borrowed = Borrowed()
        self.doubted = False
        self.lost = lost
        self.asked: set[str] = set()
        self._key = hashlib.blake2s(check_id.encode(), digest_size=3).hexdigest()
        self._names = _NAMES_PER_ATTEMPT * (attempt - 1)

    @property
    def target(self) -> Target:
        """The target as the user described it."""
        return self.session.target

    @property
    def contract(self) -> Contract:
        """The specification that the run holds to."""
        return self.session.contract

    @property
    def keeps_full_namespaces(self) -> bool:
        """Whether the catalog was seen to refuse to drop a namespace that holds something."""
        return self.session.keeps_full_namespaces

    def apart(self, check_id: str) -> "Catalog":
        """Return a client of the same catalog with names and a ledger of its own."""
        return Catalog(self.session, check_id)

    def keeps(self, *requirements: str) -> bool:
        """Return whether a check may rely on these effects, each named by what demands it.

        A check asks before a part that it can leave out. It may rely on everything at first; if it
        fails for the lack of an effect about which it has asked, it is called again, and is told so
        then (``judging.judge``).
        """
        self.asked.update(requirements)
        return self.lost.isdisjoint(requirements)

    def serves(self, operation_id: str) -> bool:
        """Return whether a check may use an operation that it can do without (``keeps``)."""
        success = self.contract.operations[operation_id].success
        return self.claims(operation_id) and self.keeps(success)

    def without(self, requirement: str) -> "Catalog":
        """Return a client for the same check, with new names, that does without an effect too."""
        last, lost = self.sender.ordinal - 1, self.lost | {requirement}
        again = Catalog(self.session, self.check_id, lost=lost, last_ordinal=last)
        again._names = self._names
        return again

    # ---- names

    @property
    def own_names(self) -> str:
        """The beginning of every name that this client makes up."""
        return f"{self.session.owner}_{self._key}_"

    def new_name(self, hint: str = "") -> str:
        """Return a name that this run has not used; ``hint`` is put at its end, verbatim.

        Names come in groups of three: the second and third begin with the first and differ in their
        last character. A catalog that compares prefixes or patterns mixes them up.
        """
        self._names += 1
        first = self._names - (self._names - 1) % 3
        number = first if first == self._names else f"{first}_{self._names}"
        return f"{self.own_names}{number}{hint}"

    def new_namespace_name(self, hint: str = "") -> Namespace:
        """Return the path of a namespace that does not exist yet."""
        return (*self.session.isolation.base, self.new_name(hint))

    def claims(self, operation_id: str) -> bool:
        """Return whether the catalog's config claims to serve the operation."""
        return self.session.offer.claims(operation_id, self.contract)

    # ---- the wire

    def call(
        self,
        operation_id: str,
        names: Names | None = None,
        *,
        query: Query = (),
        body: Json = NO_BODY,
        headers: Headers | None = None,
        path: str | None = None,
        method: str | None = None,
    ) -> Reply:
        """Send one request; see ``Sender.call``."""
        return self.sender.call(
            operation_id, names, query=query, body=body, headers=headers, path=path, method=method
        )

    def location_for(self, namespace: Namespace, name: str) -> str | None:
        """Return where a new table or view is put, or None where the catalog chooses."""
        return self.session.adaptations.location(namespace, name, self.sender.ordinal)

    # ---- configuration

    def get_config(self, warehouse: str | None = None) -> Reply:
        """GET /v1/config."""
        return self.call("getConfig", query=() if warehouse is None else [("warehouse", warehouse)])

    # ---- namespaces

    def list_namespaces(self, parent: Namespace | None = None, query: Query = ()) -> Reply:
        """GET namespaces; ``parent`` is joined by the separator the catalog uses."""
        asked = [] if parent is None else [("parent", self.session.offer.parent_parameter(parent))]
        return self.call("listNamespaces", query=[*asked, *query])

    def create_namespace(
        self, namespace: Namespace, properties: Mapping[str, str] | None = None
    ) -> Reply:
        """POST namespaces, as the Java client sends it: properties always present."""
        body = {"namespace": [*namespace], "properties": dict(properties or {})}
        return self.call("createNamespace", body=body)

    def load_namespace_metadata(self, namespace: Namespace) -> Reply:
        """GET one namespace."""
        return self.call("loadNamespaceMetadata", {"namespace": namespace})

    def namespace_exists(self, namespace: Namespace) -> Reply:
        """HEAD one namespace."""
        return self.call("namespaceExists", {"namespace": namespace})

    def drop_namespace(self, namespace: Namespace) -> Reply:
        """DELETE one namespace."""
        return self.call("dropNamespace", {"namespace": namespace})

    def update_properties(
        self,
        namespace: Namespace,
        *,
        updates: Mapping[str, str] | None = None,
        removals: Sequence[str] | None = None,
    ) -> Reply:
        """POST a namespace's properties."""
        body = {"removals": [*(removals or ())], "updates": dict(updates or {})}
        return self.call("updateProperties", {"namespace": namespace}, body=body)

    # ---- tables

    def list_tables(self, namespace: Namespace, query: Query = ()) -> Reply:
        """GET the tables of a namespace."""
        return self.call("listTables", {"namespace": namespace}, query=query)

    def create_table(
        self,
        namespace: Namespace,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """POST a table; ``bodies.create_table_body`` makes the usual body."""
        return self.call("createTable", {"namespace": namespace}, body=dict(body), headers=headers)

    def load_table(
        self,
        namespace: Namespace,
        name: str,
        query: Query = (),
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """GET a table."""
        names: dict[str, str | Namespace] = {"namespace": namespace, "table": name}
        return self.call("loadTable", names, query=query, headers=headers)

    def table_exists(self, namespace: Namespace, name: str) -> Reply:
        """HEAD a table."""
        return self.call("tableExists", {"namespace": namespace, "table": name})

    def update_table(
        self,
        namespace: Namespace,
        name: str,
        updates: Sequence[Json],
        requirements: Sequence[Json] = (),
    ) -> Reply:
        """POST a commit to a table; the identifier is sent too, which a client may leave out."""
        names: Names = {"namespace": namespace, "table": name}
        return self.call(
            "updateTable", names, body=bodies.commit_body(namespace, name, updates, requirements)
        )

    def drop_table(self, namespace: Namespace, name: str, query: Query = ()) -> Reply:
        """DELETE a table; the purge flag is only sent when asked for."""
        return self.call("dropTable", {"namespace": namespace, "table": name}, query=query)

    def rename_table(
        self, source: tuple[Namespace, str], destination: tuple[Namespace, str]
    ) -> Reply:
        """POST tables/rename."""
        return self.call("renameTable", body=bodies.rename_body(source, destination))

    def register_table(
        self, namespace: Namespace, name: str, metadata_location: str, **members: Any
    ) -> Reply:
        """POST register; ``members`` takes overwrite."""
        body = {"name": name, "metadata-location": metadata_location, **members}
        return self.call("registerTable", {"namespace": namespace}, body=body)

    def report_metrics(self, namespace: Namespace, name: str, report: Json) -> Reply:
        """POST a metrics report."""
        return self.call("reportMetrics", {"namespace": namespace, "table": name}, body=report)

    def load_credentials(self, namespace: Namespace, name: str, query: Query = ()) -> Reply:
        """GET the credentials for a table's files."""
        names: Names = {"namespace": namespace, "table": name}
        return self.call("loadCredentials", names, query=query)

    # ---- scans

    def plan_table_scan(
        self, table: Table, headers: Headers | None = None, /, **members: Json
    ) -> Reply:
        """POST a scan to be planned; ``members`` are those of the body, with underscores."""
        body = {key.replace("_", "-"): value for key, value in members.items()}
        return self.call("planTableScan", _of_table(table), body=body, headers=headers)

    def fetch_planning_result(
        self, table: Table, plan_id: str, headers: Headers | None = None
    ) -> Reply:
        """GET what became of a plan."""
        names = {**_of_table(table), "plan-id": plan_id}
        return self.call("fetchPlanningResult", names, headers=headers)

    def cancel_planning(self, table: Table, plan_id: str) -> Reply:
        """DELETE a plan."""
        return self.call("cancelPlanning", {**_of_table(table), "plan-id": plan_id})

    def fetch_scan_tasks(self, table: Table, plan_task: str) -> Reply:
        """POST a plan task, to get its file scan tasks."""
        return self.call("fetchScanTasks", _of_table(table), body={"plan-task": plan_task})

    # ---- transactions

    def commit_transaction(self, changes: Sequence[Json]) -> Reply:
        """POST changes of several tables, each with identifier, requirements and updates."""
        return self.call("commitTransaction", body={"table-changes": [*changes]})

    # ---- views

    def list_views(self, namespace: Namespace, query: Query = ()) -> Reply:
        """GET the views of a namespace."""
        return self.call("listViews", {"namespace": namespace}, query=query)

    def create_view(self, namespace: Namespace, body: Json) -> Reply:
        """POST a view; a body that is none may be sent too."""
        return self.call("createView", {"namespace": namespace}, body=body)

    def load_view(self, namespace: Namespace, name: str) -> Reply:
        """GET a view."""
        return self.call("loadView", {"namespace": namespace, "view": name})

    def view_exists(self, namespace: Namespace, name: str) -> Reply:
        """HEAD a view."""
        return self.call("viewExists", {"namespace": namespace, "view": name})

    def replace_view(
        self,
        namespace: Namespace,
        name: str,
        updates: Sequence[Json],
        requirements: Sequence[Json] = (),
    ) -> Reply:
        """POST a commit to a view; the identifier is sent too, which a client may leave out."""
        names: Names = {"namespace": namespace, "view": name}
        return self.call(
            "replaceView", names, body=bodies.commit_body(namespace, name, updates, requirements)
        )

    def drop_view(self, namespace: Namespace, name: str) -> Reply:
        """DELETE a view."""
        return self.call("dropView", {"namespace": namespace, "view": name})

    def rename_view(
        self, source: tuple[Namespace, str], destination: tuple[Namespace, str]
    ) -> Reply:
        """POST views/rename."""
        return self.call("renameView", body=bodies.rename_body(source, destination))

    def register_view(self, namespace: Namespace, name: str, metadata_location: str) -> Reply:
        """POST register-view, which a document has since 1.11.0."""
        body = {"name": name, "metadata-location": metadata_location}
        return self.call("registerView", {"namespace": namespace}, body=body)

    # ---- tokens

    def get_token(
        self,
        form: Mapping[str, str] | Sequence[tuple[str, str]],
        headers: Headers | None = None,
        *,
        blank: str = "+",
    ) -> Reply:
        """POST a form to the token endpoint, with no token in the header unless one is given.

        ``form`` are names and values, of which a name may come twice; ``blank`` is how spaces are
        encoded in it.
        """
        sent = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": ""}
        body = urlencode(form).replace("+", blank).encode()
        return self.call("getToken", body=body, headers={**sent, **(headers or {})})

    # ---- arrange steps

    @contextlib.contextmanager
    def arranging(self) -> Iterator[None]:
        """Mark the requests sent inside as arrange steps, unless a search sends them."""
        searching = self.sender.step is Step.PROBE
        with self.sender.marking(Step.PROBE if searching else Step.GIVEN):
            yield

    # ---- cleaning up

    def ledger_table(self, namespace: Namespace, name: str) -> None:
        """Enter a table that something else (an engine) is about to create for this check."""
        self.ledger.add(Entry("table", namespace, name))

    def ledger_view(self, namespace: Namespace, name: str) -> None:
        """Enter a view that something else is about to create for this check."""
        self.ledger.add(Entry("view", namespace, name))

    def ledger_namespace(self, namespace: Namespace) -> None:
        """Enter a namespace that something else is about to create for this check."""
        self.ledger.add(Entry("namespace", namespace))

    def undo(self) -> None:
        """Remove everything this check made, newest first; what stays is residue; never raises."""
        self.sender.step = Step.UNDO
        if self.target.read_only:
            # A run that may only read sent no request for what was entered beforehand.
            for entry in self.ledger:
                self.ledger.forget(entry, deleted=False)
        operations = self.contract.operations
        try:
            self.borrowed.hand_on(self.exchanges, operations, doubted=self.doubted)
            remove_all(self)
        finally:
            # After an interrupt the session has to know what is left: it tries once more.
            self.session.absorb(self.ledger)


def _of_table(table: Table) -> Names:
    return {"namespace": table.namespace, "table": table.name}
