"""Reasons to merge the findings of one kind of defect, which shows in several forms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from icecheck.contract import Level
from icecheck.findings.merging.groups import Group, Join, Seen
from icecheck.findings.shared_symptoms import (
    ANOMALY,
    DEFAULTS_MISSING,
    EFFECT_MISSING,
    REQUIREMENT_IGNORED,
    SCHEMA_REQUIRED,
    SERVER_ERROR_BODY,
    STAGED_AT_ONCE,
)
from icecheck.findings.statuses import ANY_4XX, ANY_SUCCESS, STATUS, Statuses
from icecheck.findings.symptoms import Severity, declare
from icecheck.findings.verdict import CauseKey, Evidence, Verdict

UNREAD_OPERATIONS_MIN = 3
"""The number of operations that accept malformed requests, or break, from which on nothing reads
them.
"""

_NAMES = ("names-run-together", "another-object", "name-not-found", "plus-is-no-space")
"""The symptoms of names, the one that says most of a defect first."""
_PATHS = declare(
    "paths-read-otherwise",
    "Reads names in paths otherwise than clients write them, in several ways",
    Severity.FALSE_OR_LOST,
    told=("names that are read as they are written", "other names"),
    answer_in_id=False,
)
_ODD = re.compile(r"a name with ([a-z][^(),]*)")
IS_THERE = tuple(map(EFFECT_MISSING.of, ("drop-table", "existence", "spelling")))
"""The symptoms of a table that is there although it was not to be."""
_NEXT_ROW = "next-row-id"
"""The member of the metadata that every table of format version 3 has."""
_STAGED = re.compile(r'"stage-create":\s*true')
_OF_ENDPOINTS = ("endpoint-format", "endpoint-spelling")
"""The symptoms of one entry of the config's list, the one that says most first."""
LISTED_WRONGLY = "listing"
"""The symptom of a list with other entries than there are."""
_IGNORED_PARENT = "listNamespaces.no-children"
_LISTS = frozenset({"listNamespaces"})
"""The operations whose missing ``parent`` is answered as one that they do not look at."""
_OF_WHAT_IS_THERE = frozenset({404, 409})
LOST_COMMIT = EFFECT_MISSING.of("commit")
LOST_UPDATE = ANOMALY.of("lost-update")
_PAGES = "pages-incomplete"
_PAGE_TOKEN = "pageToken="  # noqa: S105 - the parameter of a request for a page
TAKEN_TWICE = CauseKey.of_status(STATUS, Statuses.of(409), ANY_SUCCESS)
"""What is carried out although it conflicts with what is there."""
_NOT_EMPTY = "dropNamespace.409"
COMMITS = frozenset({"updateTable", "replaceView", "commitTransaction"})
_ASSERTING = frozenset({"assertion.assert-create.violated", "commit.requirements-before-updates"})
"""The requirements that are missed with a status of their own where no requirement is looked at."""
_OF_BODIES = ("generated.", "malformed", "identifier-required")


# ---- names


def names_mixed_up(seen: Seen) -> Iterator[Join]:
    """Join the findings about names with the same oddity: not found, altered, or another's."""
    found = [g for g in seen.groups if g.key.symptom.slug in _NAMES]
    demanded = [g for g in found if any(v.level is Level.MUST for v in g.members)]
    odd = [oddities for group in demanded if (oddities := _oddities(group))]
    if len(demanded) > 1 and odd and frozenset.intersection(*odd):
        yield Join(frozenset(g.key for g in demanded), "names are read otherwise than written")
    wanted = frozenset(g.key for g in found if g not in demanded)
    if len(wanted) > 1:
        yield Join(wanted, "paths are not read as clients write them")


def _oddities(group: Group) -> frozenset[str]:
    return frozenset(odd for f in group.findings for odd in _ODD.findall(f.detail))


def as_names(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the symptom that says most of one oddity, or one that stands for several.

    A slash that is decoded too early, and a plus that is no space, are mended in two places.
    """
    named = [g for g in groups if g.key.symptom.slug in _NAMES]
    if not frozenset.intersection(*map(_oddities, named)):
        return CauseKey(_PATHS, *(_PATHS.told or ("", "")))
    return min(named, key=lambda g: (_NAMES.index(g.key.symptom.slug), g.key.actual)).key


# ---- staging


def staged_at_once(seen: Seen) -> Iterator[Join]:
    """Join what follows where a table is made at once that was only to be staged."""
    root = frozenset(g.key for g in seen.groups if g.key.symptom == STAGED_AT_ONCE)
    after = [
        g.key
        for g in seen.groups
        if g.members
        and (g.key.symptom == STATUS or g.key.symptom in IS_THERE)
        and all(map(_met_staged, g.members))
    ]
    if root and after:
        yield Join(root.union(after), "the table is there before its first commit")


def _met_staged(verdict: Verdict) -> bool:
    """Return whether a check staged a table and then met it, or a conflict with it."""
    staged = [e for e in verdict.evidence if _STAGED.search(e.request_body) and succeeded(e)]
    last = verdict.evidence[-1] if verdict.evidence else None
    return bool(staged) and last is not None and (succeeded(last) or last.status == 409)


def succeeded(evidence: Evidence) -> bool:
    """Return whether a request was answered with a success."""
    return evidence.status is not None and 200 <= evidence.status < 300


def as_staged(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the table that was made at once."""
    return next(g.key for g in groups if g.key.symptom == STAGED_AT_ONCE)


# ---- requirements of commits


def requirements_ignored(seen: Seen) -> Iterator[Join]:
    """Join what follows where commits are carried out whose requirements do not hold.

    Concurrent commits overwrite each other then, a commit that asserts a new name takes one that
    is in use, and of a commit with several faults another one is told.
    """
    root = frozenset(g.key for g in seen.groups if g.key.symptom == REQUIREMENT_IGNORED)
    after = [
        g.key
        for g in seen.groups
        if (g.key.symptom == LOST_UPDATE and any(map(_commits, g.members)))
        or (g.key.symptom == STATUS and g.members and all(map(_asserts_in_vain, g.members)))
    ]
    if root and len(root.union(after)) > 1:
        yield Join(root.union(after), "nothing looks at the requirements of commits")


def _commits(verdict: Verdict) -> bool:
    return not COMMITS.isdisjoint(verdict.operations)


def _asserts_in_vain(verdict: Verdict) -> bool:
    return not _ASSERTING.isdisjoint(verdict.requirements)


def as_requirements(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the accepted commits that most checks have seen."""
    ignored = [g for g in groups if g.key.symptom == REQUIREMENT_IGNORED]
    return min(ignored, key=lambda g: (-len(g.members), g.key.expected, g.key.actual)).key


# ---- pages


def lists_in_pages(seen: Seen) -> Iterator[Join]:
    """Join what lists show wrongly in pages, where their pages do not have every entry once."""
    incomplete = frozenset(g.key for g in seen.groups if g.key.symptom.name == _PAGES)
    paged = (g.key for g in seen.groups if g.members and all(map(_is_shown_by_a_page, g.members)))
    together = incomplete.union(paged)
    if incomplete and len(together) > 1:
        yield Join(together, "pages do not have every entry once")


def _is_shown_by_a_page(verdict: Verdict) -> bool:
    shown = verdict.shown_by
    return shown is not None and _PAGE_TOKEN in shown.request


def as_pages(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the incomplete pages that most checks have seen."""
    pages = [g for g in groups if g.key.symptom.name == _PAGES]
    return min(pages, key=lambda g: (-len(g.members), g.key.expected, g.key.actual)).key


# ---- namespaces that are not empty


def full_namespaces_dropped(seen: Seen) -> Iterator[Join]:
    """Join drops of namespaces that are not empty with what is lost with them in a race."""
    dropped = frozenset(
        group.key
        for group in seen.groups
        if group.key == TAKEN_TWICE and any(_NOT_EMPTY in v.requirements for v in group.members)
    )
    raced = frozenset(
        group.key
        for group in seen.groups
        if group.key.symptom.is_a(ANOMALY)
        and all("dropNamespace" in v.operations for v in group.members)
    )
    if dropped and raced:
        yield Join(dropped | raced, "a namespace is dropped with what it holds")


# ---- format version 3


def version_3_in_part(seen: Seen) -> Iterator[Join]:
    """Join what a catalog leaves out that takes tables of format version 3 and does not know it."""
    defaults = [g.key for g in seen.groups if g.key.symptom == DEFAULTS_MISSING]
    rows = [
        g.key
        for g in seen.groups
        if g.key.symptom == SCHEMA_REQUIRED
        and g.findings
        and all(_NEXT_ROW in f.actual for f in g.findings)
    ]
    if defaults and rows:
        yield Join(frozenset((*defaults, *rows)), "format version 3 is taken and not known")


def as_defaults(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the columns' defaults."""
    return next(g.key for g in groups if g.key.symptom == DEFAULTS_MISSING)


# ---- server errors


def broken_refusals(seen: Seen) -> Iterator[Join]:
    """Join refusals that end as the same server error, whichever refusal was due.

    What the catalog's own code raises is turned into a status in one place, and is not there.
    """
    broken: dict[Statuses, set[CauseKey]] = {}
    for group in seen.groups:
        if group.key.came and group.key.came.all_server_errors and _is_refusal(group):
            broken.setdefault(group.key.came, set()).add(group.key)
    for keys in broken.values():
        if len(keys) > 1:
            yield Join(frozenset(keys), "what is raised for a refusal is not turned into a status")


def _is_refusal(group: Group) -> bool:
    due = group.key.due
    return group.key.symptom == STATUS and bool(due and due.all_refusal)


def as_broken_refusals(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of any refusal that was due, with all that came for one."""
    came = Statuses.union(g.key.came for g in groups if _is_refusal(g) and g.key.came)
    due = {g.key.due for g in groups if _is_refusal(g) and g.key.due}
    return CauseKey.of_status(STATUS, due.pop() if len(due) == 1 else ANY_4XX, came)


def error_bodies(seen: Seen) -> Iterator[Join]:
    """Join bodies of server errors that are not the document's with the errors that were not due.

    What breaks off outside the catalog's own handling is answered by its web server.
    """
    broken = [g for g in seen.groups if g.key.symptom == STATUS and _is_server_error(g.key)]
    bodies = [g.key for g in seen.groups if g.key.symptom == SERVER_ERROR_BODY]
    if broken and bodies:
        root = max(broken, key=lambda g: (len(g.members), g.key.expected))
        yield Join(frozenset((root.key, *bodies)), "nothing catches what breaks off")


def _is_server_error(key: CauseKey) -> bool:
    return key.came is not None and any(status >= 500 for status in key.came.single)


def as_broken(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the errors that were not due."""
    broken = [g for g in groups if g.key.symptom == STATUS and _is_server_error(g.key)]
    return max(broken, key=lambda g: (len(g.members), g.key.expected)).key


# ---- the config's list of endpoints


def listed_endpoints(seen: Seen) -> Iterator[Join]:
    """Join what is wrong with entries of the list of endpoints: one place makes them all."""
    listed = frozenset(g.key for g in seen.groups if g.key.symptom.slug in _OF_ENDPOINTS)
    if len(listed) > 1:
        yield Join(listed, "entries of the list of endpoints are not written as documented")


def as_listed(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the symptom that says most."""
    named = [g.key for g in groups if g.key.symptom.slug in _OF_ENDPOINTS]
    return min(named, key=lambda key: (_OF_ENDPOINTS.index(key.symptom.slug), key.actual))


# ---- lists


def lists_of_elsewhere(seen: Seen) -> Iterator[Join]:
    """Join lists of another namespace than the one asked for, and of one that is not there.

    A list that does not look at the namespace is the same for both.
    """
    others = [g for g in seen.groups if g.key.symptom.slug == LISTED_WRONGLY]
    ignoring = [g for g in others if any(_IGNORED_PARENT in v.requirements for v in g.members)]
    found = [g for g in seen.groups if _is_of_missing_places(g)]
    if ignoring and found:
        yield Join(
            frozenset(g.key for g in (*ignoring, *found)),
            "lists do not look at the namespace that they are asked for",
        )


def _is_of_missing_places(group: Group) -> bool:
    due, came = group.key.due, group.key.came
    lists = {name for v in group.members for name in v.operations[:1]}
    return due == Statuses.of(404) and came is not None and came.all_success and lists == _LISTS


def as_lists_of_elsewhere(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of the wrong lists."""
    wrong = (g.key for g in groups if g.key.symptom.slug == LISTED_WRONGLY)
    return min(wrong, key=lambda key: (key.expected, key.actual))


# ---- malformed requests


def unread_bodies(seen: Seen) -> Iterator[Join]:
    """Join what malformed requests are answered with where nothing looks at them.

    They are carried out, or end as a server error or an answer about something that is missing:
    that depends on what is taken for what they lack.
    """
    taken = [g for g in seen.groups if (g.key.due, g.key.came) == (ANY_4XX, ANY_SUCCESS)]
    broken = [g for g in seen.groups if _is_server_error(g.key) and g.key.due == ANY_4XX]
    unread = {
        o for g in (*taken, *broken) for v in g.members if _is_of_bodies(v) for o in v.operations
    }
    others = [
        g
        for g in seen.groups
        if _misses_a_refusal(g) and _is_unread(g.key) and all(map(_is_of_bodies, g.members))
    ]
    found = frozenset(g.key for g in (*taken, *broken, *others))
    if len(unread) >= UNREAD_OPERATIONS_MIN and taken and len(found) > 1:
        yield Join(found, "malformed requests are not read")


def _is_unread(key: CauseKey) -> bool:
    """Return whether an answer does not show that the request was read: another 4xx does."""
    came = key.came or Statuses()
    return not came.all_refusal or (bool(came.single) and came.single <= _OF_WHAT_IS_THERE)


def _misses_a_refusal(group: Group) -> bool:
    due = group.key.due
    return bool(group.members) and group.key.symptom == STATUS and bool(due and due.any_refusal)


def _is_of_bodies(verdict: Verdict) -> bool:
    return any(
        requirement.endswith(".400") or any(word in requirement for word in _OF_BODIES)
        for requirement in verdict.requirements
    )


def as_unread(_seen: Seen, groups: Sequence[Group]) -> CauseKey:
    """Return the key of a missing refusal, told with all that came for it.

    Where another refusal came, the status is told that was due instead of it.
    """
    came = Statuses.union(g.key.came for g in groups if g.key.due == ANY_4XX and g.key.came)
    key = CauseKey.of_status(STATUS, ANY_4XX, came)
    refused = [g.key for g in groups if _misses_a_refusal(g) and g.key.due != ANY_4XX]
    if not refused:
        return key
    due = Statuses.union(each.due for each in refused if each.due)
    came = Statuses.union((came, *(each.came for each in refused if each.came)))
    return replace(key, expected=str(due), actual=came.named)
