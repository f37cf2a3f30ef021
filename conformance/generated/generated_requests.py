"""Sends generated requests in namespaces of their own and judges the answers."""

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from icecheck.client.catalog import Catalog, Table
from icecheck.client.given import given_namespace, given_snapshot, given_table, shared_tables
from icecheck.client.shared_setup import shared_setup
from icecheck.conformance.generated.confinement import ConfinedRequest, Place, confine
from icecheck.conformance.generated.flaws import Flaw
from icecheck.conformance.generated.generation import GeneratedCase, cases_of
from icecheck.conformance.generated.sampling import sample
from icecheck.contract import Action, Facts, Object, Operation
from icecheck.findings.shared_symptoms import CHANGED_ALTHOUGH_REFUSED
from icecheck.findings.statuses import ANY_4XX, ANY_SUCCESS_OR_4XX, STATUS
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import Finding
from icecheck.judging.explaining.effects import relied_on
from icecheck.objects import metadata_view as view
from icecheck.objects.reading import next_page_token
from icecheck.objects.views import View, given_view, settled_view
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.targets.target import Namespace

_MISTYPED = declare(
    "mistyped-value-accepted",
    "Accepts a value of a wrong type",
    Severity.WRONG_STATUS,
    family=STATUS,
)

REFUSED_CASES_MAX = 11
MISTYPED_CASES_MAX = 16
TOLERABLE_CASES_MAX = 3
ACCEPTED_CASES_MAX = 5
FINDINGS_MAX = 12
_FILE = "metadata-location"
_MEDIA = ("application/x-www-form-urlencoded", "")
"""Content types that are not JSON; the operations take turns."""
_COMMITS_EACH = 4
"""How many commits one table or view takes: later ones still mean something, and fewer are made."""

# Their bodies contain parts that the bodies of other operations contain too: half as many cases.
_ALIKE = frozenset({"createView", "replaceView", "renameView", "commitTransaction"})
_CREATED_MS = 1_767_225_600_000  # the creation time of a view that does not exist yet
# Properties that generated requests set and remove; they are set before, so that any effect is a
# change.
_PROPERTIES = {"icecheck.gone": "not yet", "icecheck.generated": "0"}

Expectation = Callable[[Reply, GeneratedCase], Violation | None]


@dataclass(frozen=True, slots=True)
class _Ground:
    """A namespace and, where the requests of an operation name one, a table or view in it."""

    namespace: Namespace
    thing: Table | View | None

    @property
    def name(self) -> str:
        """The last level of the namespace, which every request about the object names too."""
        return self.namespace[-1]


class _Site:
    """The objects that the generated requests of one operation name.

    The first ones are those that checks share. A success that uses up the object leads to another
    one, made when the next request needs it; a table or view serves for two commits.
    """

    def __init__(self, catalog: Catalog, operation_id: str) -> None:
        self.catalog = catalog
        self._operation_id = operation_id
        self._facts = catalog.contract.operations[operation_id].facts
        self._ground = shared_setup(catalog).lend(catalog, self._kind(), self._make)
        self._used_up = False
        self._commits = 0
        lists = self._facts.action is Action.LIST
        self._another_lists_token = _token_of_a_list(catalog) if lists else None

    def place(self) -> Place:
        """Return where the next request goes."""
        if self._used_up:
            gone = self._facts.object is Object.NAMESPACE
            self._ground = self._make(self.catalog, None if gone else self._ground.namespace)
            self._used_up = False
        catalog, namespace, thing = self.catalog, self._ground.namespace, self._ground.thing
        metadata = {} if thing is None else thing.metadata
        updated_ms = metadata.get("last-updated-ms")
        return Place(
            base=catalog.session.isolation.base,
            namespace=namespace,
            parent=catalog.session.offer.parent_parameter(namespace),
            new_name=catalog.new_name,
            table="" if thing is None else thing.name,
            location=str(metadata.get("location", "")),
            metadata_location=("" if thing is None else thing.metadata_location) or "",
            updated_ms=updated_ms if isinstance(updated_ms, int) else _CREATED_MS,
            contract=catalog.contract,
            warehouse=catalog.target.warehouse,
            another_lists_token=self._another_lists_token,
        )

    def note_success(self) -> None:
        """Remember that a request may have changed or removed the object that it named."""
        if self._facts.commits:
            self._commits += 1
            self._used_up = self._commits % _COMMITS_EACH == 0
        else:
            self._used_up = self._facts.removes is not None

    def _kind(self) -> str:
        """Return what the requests need, under which checks share it."""
        facts = self._facts
        if facts.object is Object.VIEW and facts.action not in {Action.LIST, Action.CREATE}:
            return "generated-view"
        if facts.object is Object.TABLE and facts.action is not Action.LIST:
            return "generated-snapshot" if facts.commits else "generated-table"
        changes = self._operation_id == "updateProperties"
        return "generated-properties" if changes else "generated-namespace"

    def _make(self, catalog: Catalog, within: Namespace | None = None) -> _Ground:
        namespace = given_namespace(catalog) if within is None else within
        match self._kind():
            case "generated-properties":
                catalog.update_properties(namespace, updates=_PROPERTIES)
            case "generated-view":
                return _Ground(namespace, given_view(catalog, namespace))
            case "generated-table":
                return _Ground(namespace, given_table(catalog, namespace))
            case "generated-snapshot":
                table = _with_snapshot(catalog, given_table(catalog, namespace))
                return _Ground(namespace, table)
        return _Ground(namespace, None)


def _token_of_a_list(catalog: Catalog) -> str | None:
    """Return the token after the first of three tables, None if the catalog gives none."""
    try:
        tables = shared_tables(catalog)
        asked = catalog.list_tables(tables.path, [("pageToken", ""), ("pageSize", "1")])
        return next_page_token(asked) if asked.ok else None
    except (Blocked, NotOffered, Violation):
        return None


def _with_snapshot(catalog: Catalog, table: Table) -> Table:
    """Add the snapshot that generated commits name, if the catalog accepts it."""
    try:
        return given_snapshot(catalog, table)
    except Blocked:
        return table  # the requests then name an unknown snapshot and are refused too


def judge_refused(catalog: Catalog, operation_id: str) -> None:
    """Judge that unusable requests are refused with a 4xx and change nothing.

    Requests whose values some catalogs convert are sent too; they must not be answered with a
    server error. Raises Violation with one finding per wrong answer.
    """
    unusable = _cases(catalog, operation_id, (Flaw.UNUSABLE,), "refused", REFUSED_CASES_MAX)
    mistyped = _cases(catalog, operation_id, (Flaw.MISTYPED,), "answered", TOLERABLE_CASES_MAX)
    site = _Site(catalog, operation_id)
    before = _visible(catalog, operation_id, site.place())
    findings = _send_all(site, unusable, _refused)
    if not findings and before is not None:
        _expect_unchanged(catalog, operation_id, site.place(), before)
    _raise(findings + _send_all(site, mistyped, _no_server_error))


def judge_mistyped(catalog: Catalog, operation_id: str) -> None:
    """Judge that a value of a wrong type is refused with a 4xx, not converted or ignored."""
    cases = _cases(catalog, operation_id, (Flaw.MISTYPED,), "mistyped", MISTYPED_CASES_MAX)
    _raise(_send_all(_Site(catalog, operation_id), cases, _not_converted))


def judge_accepted(catalog: Catalog, operation_id: str) -> None:
    """Judge that allowed and tolerable requests are not answered with a server error.

    A refusal is fine: the contract cannot tell whether a request makes sense.
    """
    allowed = _cases(catalog, operation_id, (None,), "accepted", ACCEPTED_CASES_MAX)
    odd = _cases(catalog, operation_id, (Flaw.TOLERABLE,), "tolerated", TOLERABLE_CASES_MAX)
    _raise(_send_all(_Site(catalog, operation_id), (*allowed, *odd), _no_server_error))


def judge_beside_the_schema(catalog: Catalog) -> None:
    """Judge that what no schema calls wrong is not answered with a server error either.

    That is a body under another content type, or under none, in turn of operations with JSON; a
    metadata file that is not there; and a warehouse that nobody knows, or none. A catalog may
    overlook the content type and the warehouse.
    """
    findings, taken = _configs_of_no_warehouse(catalog), 0
    for operation in catalog.contract.operations.values():
        if operation.request_media_type == "application/json" and catalog.claims(operation.id):
            taken += 1
            with contextlib.suppress(NotOffered):
                findings += _broken_beside_the_schema(catalog, operation, _MEDIA[taken % 2])
    _raise(findings)


def _configs_of_no_warehouse(catalog: Catalog) -> list[Finding]:
    findings = []
    for name in (None, catalog.new_name()):
        case = GeneratedCase("getConfig", 0, Flaw.TOLERABLE, "warehouse", f"the warehouse {name}")
        if (violation := _no_server_error(catalog.get_config(name), case)) is not None:
            findings.append(violation.finding)
    return findings


def _broken_beside_the_schema(catalog: Catalog, operation: Operation, media: str) -> list[Finding]:
    usual, site = cases_of(operation.id, catalog.contract)[0], _Site(catalog, operation.id)
    said = f"the usual body as {media or 'nothing in particular'}"
    headers = (("Content-Type", media),)
    case = replace(usual, flaw=Flaw.TOLERABLE, headers=headers, description=said)
    findings = _send_all(site, [case], _no_server_error)
    if operation.facts.action is Action.REGISTER:
        findings += _registrations_of_no_file(site, usual)
    return findings


def _registrations_of_no_file(site: _Site, usual: GeneratedCase) -> list[Finding]:
    """Register what is no metadata file; return a finding for each server error."""
    location, name = site.place().location, site.place().table
    findings: list[Finding] = []
    gone = f"{location}/metadata/00000-gone.metadata.json"
    for at in (gone, name, f"unknown-scheme://{name}"):
        request = confine(replace(usual, flaw=Flaw.TOLERABLE), site.place())
        if request is not None:
            reply = send(site.catalog, replace(request, body=request.body | {_FILE: at}))
            if (violation := _no_server_error(reply, request.case)) is not None:
                findings.append(replace(violation.finding, detail=f"no metadata file at {at!r}"))
    return findings


def _cases(
    catalog: Catalog,
    operation_id: str,
    flaws: tuple[Flaw | None, ...],
    purpose: str,
    cases_max: int,
) -> tuple[GeneratedCase, ...]:
    wanted = [c for c in cases_of(operation_id, catalog.contract) if c.flaw in flaws]
    return sample(
        wanted,
        seed=catalog.session.seed,
        purpose=f"{operation_id}.{purpose}",
        cases_max=cases_max // 2 if operation_id in _ALIKE else cases_max,
        # What a catalog may overlook is no reason for a request at every place.
        at_most=cases_max == TOLERABLE_CASES_MAX,
    )


def _send_all(
    site: _Site, cases: Iterable[GeneratedCase], expectation: Expectation
) -> list[Finding]:
    """Send cases to a site and return the findings."""
    findings: list[Finding] = []
    for case in cases:
        request = confine(case, site.place())
        if request is None or not _is_carried_out(site.catalog, request):
            continue
        reply = send(site.catalog, request)
        if (violation := expectation(reply, case)) is not None:
            findings.append(violation.finding)
        if reply.ok:
            _ledger_unexpected(site.catalog, case, reply)
            site.note_success()
    return findings


def _is_carried_out(catalog: Catalog, request: ConfinedRequest) -> bool:
    """Return whether the catalog keeps what this request asks for, unlike others of its kind."""
    sent = request.body if isinstance(request.body, dict) else {}
    relied = relied_on(request.case.operation_id, sent)
    return catalog.keeps(*(e.requirement for e in relied if not e.relies({})))


def _commits_to_table(facts: Facts) -> bool:
    return facts.object is Object.TABLE and facts.commits


def send(catalog: Catalog, request: ConfinedRequest) -> Reply:
    """Send one confined request."""
    sent: dict[str, Any] = {"body": request.body} if request.case.has_body else {}
    return catalog.call(
        request.case.operation_id,
        request.names,
        query=request.query,
        headers=request.headers,
        **sent,
    )


def _refused(reply: Reply, case: GeneratedCase) -> Violation | None:
    if 400 <= reply.status < 500:
        return None
    return reply.wrong_status(ANY_4XX, detail=case.description)


def _not_converted(reply: Reply, case: GeneratedCase) -> Violation | None:
    if reply.ok:
        return reply.violation(_MISTYPED, ANY_4XX, reply.status, detail=case.description)
    return _refused(reply, case)


def _no_server_error(reply: Reply, case: GeneratedCase) -> Violation | None:
    # A 501 says that the catalog lacks a capability; it is not a failure.
    if reply.status < 500 or reply.status == 501:
        return None
    due = ANY_SUCCESS_OR_4XX if case.flaw is None else ANY_4XX
    return reply.wrong_status(due, detail=case.description)


def _raise(findings: list[Finding]) -> None:
    if not findings:
        return
    first, *others = findings[:FINDINGS_MAX]
    count = f" ({len(findings)} such requests)" if len(findings) > 1 else ""
    raise Violation.again(first, *others, detail=first.detail + count)


def _ledger_unexpected(catalog: Catalog, case: GeneratedCase, reply: Reply) -> None:
    """Record a namespace that was created from invalid names, so that it is removed."""
    if case.operation_id != "createNamespace" or case.flaw is None:
        return
    try:
        made = reply.json()["namespace"]
    except (Violation, TypeError, KeyError):
        return
    if isinstance(made, list) and made and all(isinstance(level, str) for level in made):
        catalog.ledger_namespace(tuple(made))


def _visible(catalog: Catalog, operation_id: str, place: Place) -> Any:
    """Return the state that a request of this operation could change, as one read shows it."""
    shown = _shown(catalog, operation_id, place)
    if shown is None:
        return None
    reply, member = shown
    try:
        seen = reply.json()[member] if reply.ok else None
    except (Violation, TypeError, KeyError):
        return None  # the check of that operation judges its answers
    if operation_id == "updateProperties" and isinstance(seen, dict):
        return {key: seen.get(key) for key in _PROPERTIES}
    if _commits_to_table(catalog.contract.operations[operation_id].facts) and isinstance(
        seen, dict
    ):
        return view.settled(seen, *_PROPERTIES)
    if operation_id == "replaceView" and isinstance(seen, dict):
        return settled_view(seen, *_PROPERTIES)
    return sorted(seen, key=repr) if isinstance(seen, list) else seen


def _shown(catalog: Catalog, operation_id: str, place: Place) -> tuple[Reply, str] | None:
    """Send the read that shows the state; return the answer and the name of its relevant member."""
    facts = catalog.contract.operations[operation_id].facts
    match facts.action, facts.object:
        case Action.CREATE, Object.NAMESPACE:
            return catalog.list_namespaces(place.namespace), "namespaces"
        case Action.SET_PROPERTIES, Object.NAMESPACE:
            return catalog.load_namespace_metadata(place.namespace), "properties"
        case ((Action.CREATE | Action.REGISTER | Action.RENAME), Object.TABLE):
            return catalog.list_tables(place.namespace), "identifiers"
        case ((Action.CREATE | Action.REGISTER | Action.RENAME), Object.VIEW):
            return catalog.list_views(place.namespace), "identifiers"
        case Action.COMMIT, Object.VIEW:
            return catalog.load_view(place.namespace, place.table), "metadata"
        case ((Action.COMMIT | Action.COMMIT_TOGETHER), Object.TABLE):
            return catalog.load_table(place.namespace, place.table), "metadata"
    return None


def _expect_unchanged(catalog: Catalog, operation_id: str, place: Place, before: Any) -> None:
    after = _visible(catalog, operation_id, place)
    if after is not None and after != before:
        raise Violation(
            CHANGED_ALTHOUGH_REFUSED,
            "the state of before",
            "another state",
            detail=f"after refused requests to {operation_id}",
            exchange=catalog.exchanges[-1].ordinal,
        )
