"""Checks of loadTable with several options at once: one table, and 304 for current tags only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from icecheck.client import bodies
from icecheck.client.catalog import Catalog, Query, Table
from icecheck.client.given import (
    given_commit,
    given_snapshot,
    given_table,
    shared_namespace,
    some_table,
)
from icecheck.client.sender import DELEGATION_HEADER
from icecheck.findings.shared_symptoms import LISTED_TWICE, STALE_READ_AFTER_COMMIT
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import generated_check
from icecheck.judging.probes import has_capability
from icecheck.objects import metadata_view as view
from icecheck.objects.committing import set_property, shared_snapshots
from icecheck.objects.reading import (
    BODY_ON_304,
    ETAG_UNCHANGED_BY_COMMIT,
    LOAD_IS_NOT_REPEATABLE,
    not_applicable,
    object_in,
)
from icecheck.replies.expect import Blocked, NotOffered, Reply, Violation
from icecheck.replies.ill_shaped import IllShaped
from icecheck.replies.repeated import SNAPSHOTS, repeated

_ACCESS_NOT_GIVEN = declare(
    "access-not-given",
    "Gives no credentials for one way of asking for a table, and gives them for others",
    Severity.REFUSED,
)
_ETAG_NOT_TOLD = declare(
    "etag-not-told", "Answers 304 without the ETag of what has not changed", Severity.SHAPE
)
_ETAG_OF_OTHERS = declare(
    "etag-of-other-snapshots",
    "Answers 304 to a tag that it gave to other snapshots of the table than are asked for",
    Severity.FALSE_OR_LOST,
)

_MARK = "icecheck.mark"
_VENDED = "vended-credentials"
_OF_FILES = ("s3.", "gcs.", "adls.", "client.", "io-impl", "token")
"""How the keys begin by which clients reach the files of a table (L3293-L3305)."""
_MECHANISMS = (
    None, _VENDED, "remote-signing", "vended-credentials,remote-signing",
    "remote-signing,vended-credentials",
)  # fmt: skip
_SNAPSHOTS = (None, "all", "refs")
_UNKNOWN_TAG = '"icecheck-of-nothing"'


@dataclass(frozen=True, slots=True)
class _Combination:
    """One combination of options; an ``access`` or ``snapshots`` of None is not sent."""

    snapshots: str | None = None
    access: str | None = None

    def __str__(self) -> str:
        said = [f"snapshots={self.snapshots}" if self.snapshots else "", self.access or ""]
        return ", ".join(each for each in said if each) or "nothing asked for"

    @property
    def query(self) -> Query:
        """The query parameters of this combination."""
        return () if self.snapshots is None else (("snapshots", self.snapshots),)

    def send(self, catalog: Catalog, table: Table, tags: str | None = None) -> Reply:
        """Load the table with these options; ``tags`` is sent as If-None-Match."""
        headers = {} if self.access is None else {DELEGATION_HEADER: self.access}
        if tags is not None:
            headers["If-None-Match"] = tags
        return catalog.load_table(table.namespace, table.name, self.query, headers)


_PLAIN = _Combination()


def _loads_in_turn(catalog: Catalog, table: Table, turn: int) -> dict[_Combination, Reply]:
    """Return plain loads and those with a mechanism, each choice of snapshots among them.

    Each turn starts with another choice, as a server may cache the answer to the first request for
    a version, and has two mechanisms: one for both values of the parameter, one for its absence.
    Five turns have all combinations. One that is refused is sent without its mechanism: the check
    of access judges whether a mechanism may be refused.
    """
    own, named = (_MECHANISMS[(turn + each) % len(_MECHANISMS)] for each in (1, 3))
    first = -(turn + 1) % len(_SNAPSHOTS)
    asked = [
        _Combination(each, own if each is None else named)
        for each in _SNAPSHOTS[first:] + _SNAPSHOTS[:first]
    ]
    asked.insert(asked.index(_Combination(None, own)), _PLAIN)
    loads: dict[_Combination, Reply] = {}
    for each in dict.fromkeys(asked):
        reply = each.send(catalog, table)
        if each.access is None or reply.ok:
            loads[each] = reply
        elif (without := replace(each, access=None)) not in loads:
            loads[without] = without.send(catalog, table)
    return loads


def _expect_all_snapshots(loads: Mapping[_Combination, Reply], table: Table, stage: str) -> None:
    """Judge that every load without snapshots=refs shows all snapshots of the commit's answer."""
    due = {each["snapshot-id"] for each in table.metadata.get(SNAPSHOTS) or ()}
    for asked, reply in loads.items():
        seen = {each["snapshot-id"] for each in view.metadata_in(reply).get(SNAPSHOTS) or ()}
        if asked.snapshots != "refs" and not due <= seen:
            raise reply.violation(
                LOAD_IS_NOT_REPEATABLE,
                "the same version of the table",
                "another one",
                detail=f"{asked}, {stage}: {SNAPSHOTS} that the commit has shown are missing",
                pointer=f"/metadata/{SNAPSHOTS}",
            )


def _expect_one_table(loads: Mapping[_Combination, Reply], stage: str) -> None:
    """Judge that all these answers show the same version of the table."""
    first = loads[_PLAIN]
    was, location = view.metadata_in(first), object_in(first).get("metadata-location")
    for asked, reply in loads.items():
        now = view.metadata_in(reply)
        pairs = [(view.but_for_snapshots(was, _MARK), view.but_for_snapshots(now, _MARK))]
        if asked.snapshots != "refs":
            pairs.append((view.settled(was, _MARK), view.settled(now, _MARK)))
        lost = {each for before, after in pairs for each in before if before[each] != after[each]}
        for member, twice in repeated(now):
            if member != SNAPSHOTS:  # a passive check judges other lists
                continue
            raise reply.violation(
                LISTED_TWICE,
                "each id once",
                "one of them again",
                detail=f"{asked}, {stage}: {member}: {twice}",
                pointer=f"/metadata/{member}",
            )
        told = object_in(reply).get("metadata-location")
        if told is not None and told != location:
            lost.add("metadata-location")
        if lost:
            raise reply.violation(
                LOAD_IS_NOT_REPEATABLE,
                "the same version of the table",
                "another one",
                detail=f"{asked}, {stage}: {', '.join(sorted(lost))}",
                pointer="/metadata",
            )


def _stages(catalog: Catalog) -> Iterator[tuple[str, Table]]:
    """Yield a table after its creation, after a set property, and after each new snapshot or tag.

    Stages that the catalog does not offer are left out.
    """
    table = given_table(catalog, properties={_MARK: "0"})
    yield "created", table
    table = given_commit(catalog, table, [set_property("1", _MARK)])
    yield "with a property set", table
    if not has_capability(catalog, "metadata-only-snapshots"):
        return
    try:
        table = given_snapshot(catalog, table)
        yield "with a snapshot", table
        first = table.metadata.get("current-snapshot-id")
        if not isinstance(first, int):
            return  # the checks of snapshots judge this
        second = bodies.snapshot(table.metadata, 2, parent=first)
        updates = [
            {"action": "add-snapshot", "snapshot": second},
            bodies.snapshot_ref(second["snapshot-id"]),
        ]
        if has_capability(catalog, "tags"):
            updates.append(bodies.snapshot_ref(first, "kept", "tag"))
        table = given_commit(catalog, table, updates)
        yield "with two snapshots", table
        if has_capability(catalog, "tags"):
            tags = [bodies.snapshot_ref(first, name, "tag") for name in ("again", "also")]
            table = given_commit(catalog, table, tags)
            yield "with a snapshot that three tags name", table
        for number, what in enumerate(("a snapshot", "two snapshots"), 3):
            added = bodies.snapshot(table.metadata, number)
            table = given_commit(catalog, table, [{"action": "add-snapshot", "snapshot": added}])
            yield f"with {what} that nothing names", table
    except (Blocked, IllShaped, NotOffered):
        return


@generated_check(
    "loadTable.every-combination",
    proves=("loadTable.stable", "metadata.snapshots-once"),
)
def test_a_table_is_the_same_whatever_is_asked(catalog: Catalog) -> None:
    """The snapshots parameter and the access header change nothing else in a load."""
    for turn, (stage, table) in enumerate(_stages(catalog)):
        loads = _loads_in_turn(catalog, table, turn)
        for each, load in loads.items():
            load.expect(200, detail=f"{each}, {stage}")
        _expect_one_table(loads, stage)
        if has_capability(catalog, "snapshot-history"):
            _expect_all_snapshots(loads, table, stage)


@generated_check(
    "etag.every-combination",
    proves=("etag.stale-is-not-304", "etag.changes-with-commit", "loadTable.304"),
    needs=("etag",),
)
def test_a_tag_is_taken_for_its_version_alone(catalog: Catalog) -> None:
    """An outdated ETag gets the new metadata, alone or in a list, with every other parameter."""
    stale: dict[str, _Combination] = {}
    fresh: dict[str, _Combination] = {}
    others = [_Combination(*each) for each in product(_SNAPSHOTS, (None, _VENDED))][1:]
    for turn, (stage, table) in enumerate(_stages(catalog)):
        few = (_PLAIN, others[2 * turn % len(others)])
        # Half of the tags of the last version each by itself, and all older ones in a list.
        for old, asked in [*fresh.items()][turn % 2 :: 2]:
            _expect_new(catalog, asked, old, table, f"an old tag, {asked}, {stage}")
        weak = [f"W/{tag}" for tag in stale if tag.startswith('"')]
        joined = ", ".join([_UNKNOWN_TAG, *(weak if turn % 2 else stale)])
        _expect_new(catalog, _PLAIN, joined, table, f"several old tags, {stage}")
        fresh = {}
        for number, asked in enumerate(few):
            tag = asked.send(catalog, table).header("etag")
            if tag is None:
                continue
            fresh.setdefault(tag, asked)
            if (turn + number) % 2:
                sent = tag if turn % 4 in {1, 2} else f"{_UNKNOWN_TAG}, {tag}"
                _expect_current(asked.send(catalog, table, sent), f"{asked}, {stage}")
        again = [tag for tag in fresh if tag in stale]
        if again:
            detail = f"{fresh[again[0]]}, {stage}"
            raise Violation(ETAG_UNCHANGED_BY_COMMIT, "another tag", "the same one", detail=detail)
        stale |= fresh
    _expect_nothing_unchanged(catalog)


def _expect_new(
    catalog: Catalog, asked: _Combination, tags: str, table: Table, detail: str
) -> None:
    """Judge that a load with these tags shows the last committed version, and what it asks for."""
    reply = asked.send(catalog, table, tags).expect(200, detail=detail)
    due = view.settled(table.metadata, _MARK)
    found = view.settled(view.metadata_in(reply), _MARK)
    told = ("properties", "refs", "current-snapshot-id")
    if any(found[each] != due[each] for each in told):
        raise reply.violation(
            STALE_READ_AFTER_COMMIT, "the last version", "an older one", detail=detail
        )
    if has_capability(catalog, "snapshot-history"):
        _expect_all_snapshots({asked: reply}, table, detail)


def _expect_current(reply: Reply, detail: str) -> None:
    reply.expect(200, 304, detail=f"the current tag, {detail}")
    if reply.status == 304 and reply.exchange.response_body:
        raise reply.violation(BODY_ON_304, "no body", "a body", detail=detail)


def _expect_nothing_unchanged(catalog: Catalog) -> None:
    """Judge that a missing table is answered 404 and not 304."""
    namespace, name = shared_namespace(catalog), catalog.new_name()
    for tags in ("*", _UNKNOWN_TAG):
        reply = catalog.load_table(namespace, name, headers={"If-None-Match": tags})
        reply.expect(404, detail=f"a missing table with If-None-Match: {tags}")


# ------------------------------------------------------------------------------- access


def _gives_access(reply: Reply) -> bool:
    body = object_in(reply)
    config = body.get("config")
    signs = isinstance(config, dict) and any("sign" in key for key in config)
    return bool(body.get("storage-credentials")) or signs


@generated_check(
    "loadTable.access-however-asked",
    proves=("loadTable.access-however-asked", "createTable.access-as-loaded"),
)
def test_access_is_given_however_it_is_asked_for(catalog: Catalog) -> None:
    """Credentials are vended for every spelling of the header, and with new tables too."""
    table = some_table(catalog)
    where = (table.namespace, table.name)
    asked = {DELEGATION_HEADER: _VENDED}
    loaded = catalog.load_table(*where, headers=asked).expect(200)
    if not _gives_access(loaded):
        raise not_applicable("the catalog vends no credentials with an ordinary table")
    forms: dict[str, tuple[Query, Mapping[str, str]]] = {
        "snapshots=refs": ([("snapshots", "refs")], asked),
        "snapshots=all": ([("snapshots", "all")], asked),
        "with an unknown tag": ((), {**asked, "If-None-Match": _UNKNOWN_TAG}),
        "of remote-signing alone": ((), {DELEGATION_HEADER: "remote-signing"}),
        "its name in small letters": ((), {DELEGATION_HEADER.lower(): _VENDED}),
        "before remote-signing": ((), {DELEGATION_HEADER: f"{_VENDED},remote-signing"}),
        "after remote-signing": ((), {DELEGATION_HEADER: f"remote-signing,{_VENDED}"}),
        "with a blank after the comma": ((), {DELEGATION_HEADER: f"{_VENDED}, remote-signing"}),
    }
    for what, (query, headers) in forms.items():
        reply = catalog.load_table(*where, query, headers).expect(200, detail=what)
        # A catalog that does not sign requests has nothing to give for remote-signing.
        if not _gives_access(reply) and not what.startswith("of remote"):
            raise reply.violation(
                _ACCESS_NOT_GIVEN, "credentials, as without it", "none", detail=what
            )
    if not catalog.target.read_only and catalog.claims("createTable"):
        _expect_as_loaded(catalog, loaded)


def _expect_as_loaded(catalog: Catalog, loaded: Reply) -> None:
    """Judge that creations, plain and staged, give the access that a load has given."""
    asked, namespace = {DELEGATION_HEADER: _VENDED}, shared_namespace(catalog)
    for staged in (False, True) if has_capability(catalog, "stage-create") else (False,):
        body = bodies.create_table_body(catalog.new_name(), stage_create=staged)
        reply = catalog.create_table(namespace, body, headers=asked).expect(200)
        missing = sorted(_settings(loaded) - _settings(reply))
        if missing or not _gives_access(reply):
            lacks = ", ".join(missing) or "credentials"
            raise reply.violation(
                _ACCESS_NOT_GIVEN,
                "credentials and configuration, as a load gives",
                "less",
                detail=f"a {'staged' if staged else 'new'} table lacks {lacks}",
            )


def _settings(reply: Reply) -> set[str]:
    """Return the keys by which clients reach a table's files, but for an existing table's own.

    They may come in the configuration or with a credential. Other keys are about loads, caches and
    plans, and a catalog may have nothing to say of those with a new table.
    """
    body = object_in(reply)
    told = [body, *(body.get("storage-credentials") or ())]
    configs = [each.get("config") for each in told if isinstance(each, dict)]
    keys = {key for config in configs if isinstance(config, dict) for key in config}
    return {key for key in keys if key.startswith(_OF_FILES) and "refresh" not in key}


@generated_check(
    "etag.told-with-not-modified",
    proves=("etag.told-with-not-modified", "etag.of-what-is-asked"),
    needs=("etag",),
)
def test_not_modified_is_of_what_is_asked_and_tells_its_tag(catalog: Catalog) -> None:
    """A 304 has the tag of a 200, and is no answer to the tag of other snapshots than are asked."""
    offers = has_capability(catalog, "metadata-only-snapshots")
    table = shared_snapshots(catalog)[0] if offers else some_table(catalog)
    every, referenced = _Combination("all"), _Combination("refs")
    loads = {each: each.send(catalog, table).expect(200) for each in (every, referenced)}
    tags = {each: load.header("etag") or "" for each, load in loads.items()}
    shown = [view.settled(view.metadata_in(load))[SNAPSHOTS] for load in loads.values()]
    reply = every.send(catalog, table, f"{_UNKNOWN_TAG}, {tags[every]}").expect(200, 304)
    if reply.status == 200:
        raise not_applicable("the catalog answers with the whole table again")
    if reply.header("etag") is None:
        raise reply.violation(_ETAG_NOT_TOLD, "the tag of what has not changed", "none")
    # One tag for both is a tag of the version, which is how the document describes it, and so is
    # one that is another with each answer: neither tells what was asked for.
    again = every.send(catalog, table).expect(200).header("etag")
    if shown[0] == shown[1] or tags[every] in {tags[referenced], ""} or again != tags[every]:
        return
    for asked, other in ((every, referenced), (referenced, every)):
        reply = asked.send(catalog, table, tags[other]).expect(200, 304)
        if reply.status == 304:
            detail = f"{asked} with the tag of {other}"
            raise reply.violation(_ETAG_OF_OTHERS, "what is asked for", "304", detail=detail)
