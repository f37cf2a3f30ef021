"""Checks of token answers in every way to ask for one, and of refused token requests."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from icecheck.client.catalog import Catalog
from icecheck.conformance.kit.other_principals import bearer
from icecheck.conformance.security.forged_tokens import claims_of, own_token
from icecheck.conformance.security.token_requests import (
    ACCESS_TOKEN,
    JWT,
    TOKEN_NOT_ACCEPTED,
    basic,
    exchange_form,
    own_form,
    token_in,
)
from icecheck.findings.shared_symptoms import LEAK, SPELLING_CHANGES_THE_ANSWER
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import generated_check
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import Reply
from icecheck.targets.secret_names import is_plain

_ISSUED_TOKEN_TYPE = declare(
    "issued-token-type", "Answers a token exchange without the type of the token", Severity.SHAPE
)
_TOKEN_LIFETIME = declare(
    "token-lifetime", "expires_in is not the lifetime of the token in seconds", Severity.SHAPE
)

Form = Mapping[str, str]

_MADE_UP = "icecheck-made-up"
_FACTOR = 2
_MARGIN_SECONDS = 60
_UNKNOWN = {"icecheck-unknown": "a b&c", "x": ""}
_FORM_WITH_CHARSET = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}


def _asks_nobody(catalog: Catalog) -> bool:
    return catalog.call("listNamespaces", headers={"Authorization": ""}).ok


# ------------------------------------------------------------------------- answers


@generated_check("getToken.lifetime", proves="getToken.lifetime-in-seconds")
def test_the_lifetime_of_a_token_is_in_seconds(catalog: Catalog) -> None:
    """expires_in is the lifetime of the token in seconds, whichever grant gave the token."""
    judged = 0
    for what, reply in _given(catalog):
        claims = claims_of(token_in(reply)) or {}
        told: Any = object_in(reply).get("expires_in")
        begin: Any = claims.get("iat")
        end: Any = claims.get("exp")
        if not all(_is_number(each) for each in (told, begin, end)):
            continue  # without an end there is nothing to compare
        judged += 1
        lasts = end - begin
        if not 0 < told <= lasts * _FACTOR + _MARGIN_SECONDS:
            raise reply.violation(
                _TOKEN_LIFETIME,
                "the seconds for which the token is valid",
                "another number",
                detail=f"{what}: expires_in is {told}, the token is for {lasts} seconds",
                pointer="/expires_in",
            )
    if not judged:
        raise not_applicable("nothing tells how long the tokens are valid")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _given(catalog: Catalog) -> Iterator[tuple[str, Reply]]:
    """Yield a token from each way to ask for one that the catalog accepts."""
    form = own_form(catalog)
    first = catalog.get_token(form).expect(200)
    yield "the client's token", first
    token = token_in(first)
    renewed = catalog.get_token(exchange_form(catalog, token), bearer(token))
    if renewed.ok:
        yield "the renewed token", renewed
        again = token_in(renewed)
        twice = catalog.get_token(exchange_form(catalog, again), bearer(again))
        if twice.ok:
            yield "the token that was renewed twice", twice
    by_header = catalog.get_token(*basic(form))
    if by_header.ok:
        yield "the token for a Basic header", by_header


@generated_check("getToken.issued-type", proves="getToken.issued-token-type")
def test_an_exchange_tells_what_it_gave(catalog: Catalog) -> None:
    """An exchanged token comes with its type, whether or not one was asked for."""
    token = token_in(catalog.get_token(own_form(catalog)))
    form = exchange_form(catalog, token)
    given = 0
    for wanted in (None, ACCESS_TOKEN, JWT):
        more = {} if wanted is None else {"requested_token_type": wanted}
        reply = catalog.get_token({**form, **more}, bearer(token))
        if not reply.ok:
            continue  # a server may choose the types that it offers
        given += 1
        if object_in(reply).get("issued_token_type") is None:
            raise reply.violation(
                _ISSUED_TOKEN_TYPE,
                "the type of the token",
                "none",
                detail=f"{wanted or 'no type'} was asked for",
                pointer="/issued_token_type",
            )
    if not given:
        raise not_applicable("the catalog exchanges no tokens")


@generated_check("getToken.spelled-otherwise", proves="getToken.unknown-parameters")
def test_a_token_is_given_however_it_is_asked_for(catalog: Catalog) -> None:
    """Unknown parameters, order, charset and encoding of spaces do not affect a token request."""
    form = own_form(catalog)
    token_in(catalog.get_token(form))
    detail = "with unknown parameters"
    token_in(catalog.get_token({**_UNKNOWN, **form}).expect(200, detail=detail))
    turned = dict(reversed([*form.items()]))
    token_in(catalog.get_token(turned).expect(200, detail="with its parameters in another order"))
    detail = "with a charset in its content type"
    token_in(catalog.get_token(form, _FORM_WITH_CHARSET).expect(200, detail=detail))
    # Nothing says whether a scope may be named twice; a plus is a blank in forms.
    twice = {**form, "scope": " ".join([form.get("scope", "catalog")] * 2)}
    escaped = catalog.get_token(twice, blank="%20")
    if escaped.ok:
        detail = "with a blank that is written as a plus, as forms write it"
        reply = catalog.get_token(twice).expect(200, detail=detail)
        due = "the answer to the same request"
        if object_in(reply).get("scope") != object_in(escaped).get("scope"):
            raise reply.violation(SPELLING_CHANGES_THE_ANSWER, due, "another one", detail=detail)


@generated_check("auth.scheme-in-any-letters")
def test_the_scheme_of_a_token_is_read_in_any_letters(catalog: Catalog) -> None:
    """The authentication scheme Bearer is accepted in small letters and in capitals."""
    token = None if catalog.target.sigv4 else own_token(catalog)
    if token is None:
        raise not_applicable("the run has no token to send")
    listed = catalog.call("listNamespaces", headers=bearer(token))
    if not listed.ok:
        raise not_applicable(f"namespaces are not listed for it: {listed.status}")
    for scheme in ("bearer", "BEARER"):
        reply = catalog.call("listNamespaces", headers={"Authorization": f"{scheme} {token}"})
        if not reply.ok:
            raise reply.violation(
                TOKEN_NOT_ACCEPTED,
                "an answer",
                reply.status,
                detail=f"the same token after {scheme} instead of Bearer",
            )


# ----------------------------------------------------------------------- refusals


@generated_check("getToken.no-wrong-client", proves="getToken.401")
def test_no_wrong_client_gets_a_token(catalog: Catalog) -> None:
    """A wrong secret or an unknown client gets no token, in the form or in a Basic header."""
    form = own_form(catalog)
    right = catalog.get_token(form).expect(200)
    token_in(right)
    for what, wrong in _wrong(form).items():
        if not is_plain(wrong["client_secret"]):  # most of the right one may be in it
            catalog.session.connection.redactor.add(wrong["client_secret"])
        for where, (sent, headers) in (("form", (wrong, {})), ("header", basic(wrong))):
            reply = catalog.get_token(sent, headers)
            if reply.ok and _asks_nobody(catalog):
                raise not_applicable("the catalog asks for no credentials")
            if reply.ok:
                detail = f"getToken gave a token for {what}, in the {where}"
                raise reply.violation(
                    LEAK.of("wrong-secret"), "400 or 401", "a success", detail=detail
                )
            reply.expect(400, 401, detail=f"with {what}, in the {where}")


def _wrong(form: Form) -> dict[str, Form]:
    secret = form["client_secret"]
    wrong: dict[str, Form] = {
        "a secret that begins like the right one": {**form, "client_secret": f"{secret}0"},
        "another secret of its length": {**form, "client_secret": "0" * len(secret)},
    }
    if len(secret) > 1:
        wrong["a part of the secret"] = {**form, "client_secret": secret[:-1]}
    if secret.swapcase() != secret:
        wrong["the secret in other letters"] = {**form, "client_secret": secret.swapcase()}
    if "client_id" in form:
        wrong["the secret of another client"] = {**form, "client_id": "icecheck-nobody"}
    return wrong


@generated_check("getToken.incomplete", proves="getToken.incomplete-refused")
def test_an_incomplete_token_request_is_refused(catalog: Catalog) -> None:
    """A token request without what its grant needs, or with a part of it twice, is refused."""
    form = own_form(catalog)
    token = token_in(catalog.get_token(form))
    whole = exchange_form(catalog, token)
    incomplete: dict[str, tuple[Form | Sequence[tuple[str, str]], Form]] = {
        "no client": ({k: v for k, v in form.items() if not k.startswith("client_")}, {}),
        "no secret": ({k: v for k, v in form.items() if k != "client_secret"}, {}),
        "an empty body": ({}, {}),
        "no subject_token": (_without(whole, "subject_token"), bearer(token)),
        "no subject_token_type": (_without(whole, "subject_token_type"), bearer(token)),
        "an unreadable Basic header": (basic(form)[0], {"Authorization": "Basic %%%"}),
    }
    # Of two values some servers take the first one, and some the last.
    for name in ("client_secret", "grant_type"):
        first, last = [(name, _MADE_UP), *form.items()], [*form.items(), (name, _MADE_UP)]
        incomplete[f"{name} twice, made up the first time"] = (first, {})
        incomplete[f"{name} twice, made up the last time"] = (last, {})
    for what, (sent, headers) in incomplete.items():
        reply = _expect_no_token(catalog, catalog.get_token(sent, headers))
        reply.expect(400, 401, detail=f"sent {what}")
    wrong = {**form, "client_secret": _MADE_UP}
    for content, body in (
        ("application/json", json.dumps(wrong).encode()),
        ("text/plain", urlencode(wrong).encode()),
        ("application/x-www-form-urlencoded", b"\xff\xfe=%zz&&=" + b"&" * 9),
    ):
        sent_as = {"Content-Type": content, "Authorization": ""}
        reply = _expect_no_token(catalog, catalog.call("getToken", body=body, headers=sent_as))
        reply.expect_refused(detail=f"sent {content} that is no form of a client")


def _expect_no_token(catalog: Catalog, reply: Reply) -> Reply:
    """End the check where a catalog that asks for no credentials gives tokens to anybody."""
    if reply.ok and _asks_nobody(catalog):
        raise not_applicable("the catalog asks for no credentials")
    return reply


def _without(form: Form, name: str) -> Form:
    return {key: value for key, value in form.items() if key != name}
