"""Who reads what a sloppy answer lacks is blocked by its schema; a slip of ours is an error."""

import copy
import json
from dataclasses import replace
from types import SimpleNamespace

import httpx
import pytest

from icecheck.findings.verdict import Outcome
from icecheck.judging.probes import CAPABILITIES, has_capability
from tests.unit.answering import ANSWERED, judged

NAMES = {"namespace": ("a",)}
NULLS = {"namespace": None, "properties": {"a": None}}


def reading(read, *operations):
    """A check that asks, and then reads the last answer as if it were in order."""

    def body(catalog):
        for operation in operations or ("loadNamespaceMetadata",):
            answer = catalog.call(operation, NAMES)
        read(answer.json())

    return body


def answering(body):
    return lambda _: httpx.Response(200, json=body)


def first_level(body):
    namespace = body["namespace"]
    return namespace[0]


def upper_case(body):
    levels = body["namespace"]
    return [level.upper() for level in levels]


def as_keys(levels):
    return dict.fromkeys(levels)


SLOPPY = {
    "missing": ({}, lambda body: body["namespace"]),
    "missing-below": ({"namespace": ["a"], "properties": []}, lambda b: b["properties"]["owner"]),
    "missing-in-a-copy": ({}, lambda body: (body | {"more": 1})["namespace"]),
    "index": ({"namespace": [], "properties": 1}, lambda body: body["namespace"][0]),
    "null": (NULLS, first_level),
    "null-at-once": (NULLS, lambda body: body["namespace"][0]),
    "null-by-get": (NULLS, lambda body: body.get("namespace").index("a")),
    "null-inside": ({"namespace": [None]}, upper_case),
    "number": ({"namespace": [1]}, upper_case),
    "number-in-its-place": ({"namespace": 1}, first_level),
    "text-in-its-place": ("", lambda body: body.get("namespace")),
    "list-in-its-place": ([], lambda body: body["namespace"]),
    "list-with-members": ([], lambda body: body.get("namespace")),
    "object-in-its-place": ({"namespace": {}}, lambda body: body["namespace"].append("b")),
    "list-as-a-key": ({"namespace": [["a"]]}, lambda body: as_keys([*body["namespace"]])),
    "object-as-a-key": ({"namespace": [{}]}, lambda body: as_keys([*body["namespace"]])),
    "not-a-number": ({"namespace": "a"}, lambda body: int(body["namespace"])),
}


@pytest.mark.parametrize("which", SLOPPY)
def test_who_reads_what_a_sloppy_answer_lacks_is_blocked_by_its_schema_check(catalog_that, which):
    answered, read = SLOPPY[which]
    verdict = judged(catalog_that(answering(answered)), reading(read))
    assert (verdict.outcome, verdict.findings) == (Outcome.BLOCKED, ())
    assert verdict.blocked_by == ("schema.loadNamespaceMetadata.200",)


def test_the_answer_that_was_read_blocks_and_not_the_last_one(catalog_that):
    def answer(request):
        broken = request.url.path.endswith("/namespaces/a")
        return httpx.Response(200, json={"namespace": 1} if broken else [])

    def body(catalog):
        read = catalog.call("loadNamespaceMetadata", NAMES).json()
        catalog.call("listNamespaces").json()
        return read["properties"]["owner"]

    verdict = judged(catalog_that(answer), body)
    assert verdict.blocked_by == ("schema.loadNamespaceMetadata.200",)
    assert "namespace" in verdict.summary or "array" in verdict.summary
    assert [e.ordinal for e in verdict.evidence] == [1]


def test_a_broken_5xx_is_known_by_the_row_that_stands_for_it(catalog_that):
    catalog = catalog_that(lambda _: httpx.Response(507, json={"error": 1}))
    verdict = judged(catalog, reading(lambda body: body["error"]["type"]))
    assert verdict.blocked_by == ("schema.loadNamespaceMetadata.5XX",)


OURS = {"ours": {"namespace": None}}
OWN_SLIPS = {
    "key-of-ours": lambda _: OURS["theirs"],
    "key-of-ours-after-reading": lambda body: (body.get("namespace"), OURS[body["x"]]),
    "index-of-ours": lambda body: [][len(body)],
    "null-of-ours": lambda _: OURS["ours"]["namespace"]["a"],
    "member-of-ours": lambda _: catalog_of_ours().nothing,
    "number-of-ours": lambda _: ours_is_no_number(),
}


def catalog_of_ours():
    return SimpleNamespace()


def ours_is_no_number():
    return int("ours")


@pytest.mark.parametrize("which", OWN_SLIPS)
def test_a_slip_of_our_own_beside_a_sloppy_answer_is_an_error_of_ours(catalog_that, which):
    """The answer fails its schema, was read, and has nothing to do with what went wrong."""

    def body(catalog):
        catalog.call("loadNamespaceMetadata", NAMES).json().get("x")
        slip(catalog)

    def slip(catalog):
        OWN_SLIPS[which]({"x": "theirs"})

    verdict = judged(catalog_that(answering({"namespace": 1, "x": "theirs"})), body)
    assert verdict.outcome is Outcome.ERROR
    assert verdict.findings[0].symptom.slug == "suite-error"


@pytest.mark.parametrize("error", [KeyError("ours"), IndexError("ours"), TypeError("ours")])
def test_a_sloppy_answer_that_nobody_has_read_blocks_nothing(catalog_that, error):
    def body(catalog):
        catalog.call("loadNamespaceMetadata", NAMES)
        raise error

    assert judged(catalog_that(answering([])), body).outcome is Outcome.ERROR


@pytest.mark.parametrize(
    ("answered", "read"),
    [
        (ANSWERED, lambda body: body["ours"]),
        ({"next-page-token": None}, lambda body: body["only a strict reading has it"]),
        (ANSWERED, lambda body: body.ours),
    ],
    ids=["answer-in-order", "strict-reading", "attribute"],
)
def test_who_misreads_an_answer_in_order_is_an_error_of_ours(catalog_that, answered, read):
    verdict = judged(catalog_that(answering(answered)), reading(read, "listNamespaces"))
    assert verdict.outcome is Outcome.ERROR


def test_a_sloppy_body_is_what_it_was_to_whoever_only_looks(catalog_that):
    sloppy = {"namespace": 1, "properties": {"a": [1, {"b": None}]}, "more": None}

    def body(catalog):
        read = catalog.call("loadNamespaceMetadata", NAMES).json()
        assert read == sloppy
        assert json.loads(json.dumps(read)) == sloppy
        assert isinstance(read, dict)
        assert isinstance(read["properties"]["a"], list)
        assert {**read} == sloppy == copy.deepcopy(read)
        assert read.get("none") is None
        assert [*read["properties"]["a"]][1:] == read["properties"]["a"][1:]
        assert not hasattr(read, "nothing")
        match read:
            case {"properties": {"a": [1, {"b": None}]}}:
                pass
            case _:
                raise AssertionError(read)

    assert judged(catalog_that(answering(sloppy)), body).outcome is Outcome.PASS


def judged_with_probe(catalog, probe, monkeypatch):
    """Judge a check that needs a capability, which ``probe`` finds out."""
    monkeypatch.setitem(CAPABILITIES, "etag", replace(CAPABILITIES["etag"], probe=probe))
    return judged(catalog, lambda prober: has_capability(prober, "etag"))


@pytest.mark.parametrize("which", SLOPPY)
def test_a_probe_that_reads_what_a_sloppy_answer_lacks_finds_nothing_out(
    catalog_that, which, monkeypatch
):
    answered, read = SLOPPY[which]
    catalog = catalog_that(answering(answered))
    verdict = judged_with_probe(catalog, reading(read), monkeypatch)
    assert verdict.outcome is Outcome.PASS
    assert catalog.session.capabilities["etag"] is None


@pytest.mark.parametrize("which", OWN_SLIPS)
def test_a_slip_of_our_own_in_a_probe_is_an_error_of_ours(catalog_that, which, monkeypatch):
    def probe(catalog):
        OWN_SLIPS[which]({"x": "theirs"})

    assert judged_with_probe(catalog_that(answering([])), probe, monkeypatch).outcome is (
        Outcome.ERROR
    )
