"""Writes down how a run's target was described, without secrets, and reads it again."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from icecheck.targets.target import Given, Principal, SigV4, Target

_PLAIN = (
    "url",
    "warehouse",
    "prefix",
    "oauth2_server_uri",
    "scope",
    "timeout_seconds",
    "isolation",
    "accept_residue",
    "read_only",
    "location_root",
    "second_warehouse",
    "race_rounds",
    "fuzz_cases",
    "fuzz_seconds",
    "disruptive",
    "thorough",
    "name_pattern",
)
_LISTS = ("namespace", "claims", "allow_hosts")


def recorded_target(target: Target) -> dict[str, Any]:
    """Return what decides which requests a run on this target sends; no secret is in it.

    Facts that have their default are left out. Of principals only the kind of what identifies them
    is told, of headers the names, of objects that the user gave their names.
    """
    usual = {field.name: field.default for field in fields(Target)}
    facts: dict[str, Any] = {
        name: getattr(target, name) for name in _PLAIN if getattr(target, name) != usual[name]
    }
    facts |= {name: [*getattr(target, name)] for name in _LISTS if getattr(target, name)}
    own = Principal(target.token, target.credential)
    people = {"own": own, "second": target.second, "reader": target.reader}
    kinds = {whose: _kind_of(each) for whose, each in people.items() if each and _kind_of(each)}
    given = target.given
    objects: dict[str, Any] = {"namespace": [*given.namespace]} if given.namespace else {}
    for kind, named in (("table", given.table), ("view", given.view)):
        if named is not None:
            objects[kind] = [[*named[0]], named[1]]
    signing = target.sigv4 and {"region": target.sigv4.region, "service": target.sigv4.service}
    rest = {
        "principals": kinds,
        "given": objects,
        "headers": sorted(target.headers),
        "sigv4": signing,
    }
    return facts | {name: value for name, value in rest.items() if value}


def target_from(facts: Mapping[str, Any], secrets: Mapping[str, str]) -> Target:
    """Return the target of recorded facts; ``secrets`` are what its principals show, by whose.

    Raises KeyError, TypeError, ValueError and UsageError for facts that nobody has recorded so.
    """
    known: dict[str, Any] = {name: facts[name] for name in _PLAIN if name in facts}
    known |= {name: tuple(map(str, facts[name])) for name in _LISTS if name in facts}
    people: dict[str, Any] = {
        whose: Principal(**{_checked(kind): secrets[whose]})
        for whose, kind in facts.get("principals", {}).items()
    }
    if own := people.pop("own", None):
        known |= {"token": own.token, "credential": own.credential}
    objects = dict(facts.get("given", {}))
    given: dict[str, Any] = {"namespace": tuple(map(str, objects.get("namespace", ())))}
    for kind in ("table", "view"):
        if kind in objects:
            levels, name = objects[kind]
            given[kind] = (tuple(map(str, levels)), str(name))
    if signing := facts.get("sigv4"):
        keys = {"access_key_id": secrets["own"], "secret_access_key": secrets["own"]}
        known["sigv4"] = SigV4(signing["region"], signing["service"], **keys)
    names = {str(name): secrets["headers"] for name in facts.get("headers", ())}
    return Target(**known, **people, given=Given(**given), headers=names)


def _kind_of(principal: Principal) -> str:
    if principal.credential:
        return "credential"
    return "token" if principal.token else ""


def _checked(kind: str) -> str:
    if kind not in {"token", "credential"}:
        raise ValueError(f"no principal is identified by {kind!r}")
    return kind
