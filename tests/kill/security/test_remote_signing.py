"""Remote signing: a defect proves each check, and no catalog is blamed for another design."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from icecheck.client.catalog import Catalog
from icecheck.client.opening import open_session
from icecheck.client.session import Session
from icecheck.contract import first_with, load
from icecheck.findings.verdict import Level, SkipKind, Verdict
from icecheck.findings.verdict import Outcome as Ending
from icecheck.judging.judge import judge
from icecheck.mock_server import Client, MockCatalog, OAuth2Settings, Permissions, VendingSettings
from icecheck.mock_server.core.context import Registries
from icecheck.mock_server.defects import defects
from icecheck.mock_server.defects.kit.rewriting import refuse_as
from icecheck.proof.defective import READER, defective_session
from icecheck.targets.target import Target
from tests.kill.killing import ADDRESS, CREDENTIAL, WAREHOUSE, checks_of, defects_of, words
from tests.lawful.lawful import OPEN
from tests.lawful.lawful_1_11_signing import SHORT_OF_A_SHOULD, SIGNS, SIGNS_NOT

SPEC = "1.11.0"
CHECKS = checks_of("test_remote_signing", contract=load(SPEC))
DEFECTS = defects_of("security.remote_signing")
REQUESTS_MAX = 50

Install = Callable[[Registries], None]


def verdicts_of(session: Session) -> dict[str, Verdict]:
    return {check.id: judge(check, Catalog(session, check.id)) for check in CHECKS}


def verdicts_with(*installs: Install, from_the_start: bool = True) -> dict[str, Verdict]:
    with defective_session(installs, from_the_start=from_the_start, spec=SPEC) as (_, session):
        found = verdicts_of(session)
    assert session.residue == []
    return found


def failed(verdicts: dict[str, Verdict]) -> set[str]:
    return {id_ for id_, v in verdicts.items() if v.outcome in {Ending.FAIL, Ending.ERROR}}


def skipped(verdicts: dict[str, Verdict]) -> set[str]:
    """Return the skipped checks; everything else must have passed."""
    wrong = [v for v in verdicts.values() if v.outcome not in {Ending.PASS, Ending.SKIP}]
    assert words(wrong) == []
    return {id_ for id_, v in verdicts.items() if v.outcome is Ending.SKIP}


# ------------------------------------------------------------------------- the mock


def test_the_faithful_mock_passes_within_the_budget() -> None:
    with defective_session(spec=SPEC) as (mock, session):
        before = mock.journal.count()
        assert words(verdicts_of(session).values()) == []
        session.close()
        assert mock.journal.count() - before <= REQUESTS_MAX


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_fails_its_check_and_no_graver_one(name: str) -> None:
    defect = defects()[name]
    assert first_with(defect.breaks).version == SPEC
    broken = load(SPEC).requirements[defect.breaks]
    verdicts = verdicts_with(defect.install, from_the_start=False)
    proofs = {check.id for check in CHECKS if defect.breaks in check.proves}
    assert proofs & failed(verdicts)
    levels = {check.id: check.level for check in CHECKS}
    graver = {id_ for id_ in failed(verdicts) if levels[id_] is Level.MUST}
    assert broken.level is Level.MUST or not graver


def test_no_secret_is_recorded() -> None:
    with defective_session(spec=SPEC) as (_, session):
        verdicts_of(session)
        recorded = repr(session.exchanges)
    assert "AWS4-HMAC-SHA256" in recorded
    assert "kill-secret" not in recorded
    assert "ICECHECK" not in recorded  # the beginning of the mock's key ids


# ------------------------------------------------------------------------- lawful catalogs


@pytest.mark.parametrize("name", SIGNS)
def test_a_catalog_that_signs_otherwise_is_not_blamed(name: str) -> None:
    due = {
        "at-another-server": {"loadTable.signer-endpoint-signs"},
        "for-readers-alone-otherwise-malformed": {"signRequest.reader-cannot-write"},
    }
    assert skipped(verdicts_with(SIGNS[name])) == due.get(name, set())


@pytest.mark.parametrize("name", SHORT_OF_A_SHOULD)
def test_a_catalog_short_of_a_should_fails_that_alone(name: str) -> None:
    install, check_id = SHORT_OF_A_SHOULD[name]
    verdicts = verdicts_with(install)
    assert failed(verdicts) == {check_id}
    assert verdicts[check_id].level is not Level.MUST


@pytest.mark.parametrize("name", SIGNS_NOT)
def test_a_catalog_that_offers_no_signing_is_not_judged(name: str) -> None:
    assert skipped(verdicts_with(SIGNS_NOT[name])) == {check.id for check in CHECKS}


def test_a_catalog_that_is_open_to_everybody_is_not_asked_for_401() -> None:
    assert "signRequest.bad-token" in skipped(verdicts_with(OPEN))


def test_nothing_is_sent_to_a_signer_of_another_server() -> None:
    installs = (SIGNS["at-another-server"],)
    with defective_session(installs, spec=SPEC) as (_, session):
        verdicts_of(session)
        assert {each.url.partition("/v1/")[0] for each in session.exchanges} == {ADDRESS}


def test_an_endpoint_that_is_another_operation_is_not_asked() -> None:
    def install(registries: Registries) -> None:
        SIGNS["at-absolute-endpoints"](registries)
        loaded = registries.operations["loadTable"]

        def renamed(*args: Any) -> Any:
            outcome = loaded(*args)
            body = outcome.reply.body.replace(b"/sign?", b"?")
            reply = type(outcome.reply)(outcome.reply.status, outcome.reply.headers, body)
            return type(outcome)(outcome.state, reply)

        registries.operations["loadTable"] = renamed

    verdicts = verdicts_with(install, from_the_start=False)
    assert failed(verdicts) == {"loadTable.signer-endpoint-signs"}


def test_what_fails_for_every_request_is_one_finding() -> None:
    def install(registries: Registries) -> None:
        refuse_as(registries, "signRequest", 403, 400)
        refuse_as(registries, "signRequest", 404, 400)
        defects()["signing-only-what-writes"].install(registries)

    verdicts = verdicts_with(install)
    assert {id_ for id_ in failed(verdicts) if verdicts[id_].level is Level.MUST} == {
        "signRequest.succeeds"
    }


# ------------------------------------------------------------------------- other servers


@contextmanager
def session_on(vending: VendingSettings | None, **options: Any) -> Iterator[Session]:
    """Yield a session with a server that has these credentials, and tables at a root."""
    client_id, _, secret = CREDENTIAL.partition(":")
    mock = MockCatalog(
        spec=SPEC,
        seed=1,
        vending=vending,
        root=options.pop("root", "s3://lake/warehouse"),
        oauth2=OAuth2Settings(
            clients=(
                Client(client_id, secret),
                Client("reader", "reader-secret", permissions=Permissions(read_only=True)),
            )
        ),
    )
    target = Target(ADDRESS, warehouse=WAREHOUSE, credential=CREDENTIAL, reader=READER, **options)
    session = open_session(target, run_id="kill", spec=SPEC, transport=mock.httpx_transport())
    try:
        yield session
    finally:
        session.close()
        mock.stop()


@pytest.mark.parametrize(
    "more",
    [
        {"config": {"s3.endpoint": "http://minio:9000", "s3.path-style-access": "true"}},
        {"table_config": {"s3.endpoint": "https://store.example.org"}},
        {"table_config": {"s3.endpoint": "http://127.0.0.1:9000"}},
        {"region": "cn-north-1"},
        {"prefixes": ("s3",)},
    ],
)
def test_every_address_of_a_store_is_found(more: dict[str, Any]) -> None:
    with session_on(VendingSettings(storage="s3", **more)) as session:
        assert words(verdicts_of(session).values()) == []


def test_a_bucket_with_dots_stands_in_the_path() -> None:
    with session_on(VendingSettings(storage="s3"), root="s3://lake.of.example/a b") as session:
        assert words(verdicts_of(session).values()) == []


@pytest.mark.parametrize(
    ("vending", "root"),
    [
        (None, "s3://lake/w"),
        (VendingSettings(storage="s3"), None),
        (VendingSettings(storage="gcs"), "gs://lake/w"),
        (VendingSettings(storage="adls"), "abfss://data@lake.dfs.core.windows.net/w"),
        (VendingSettings(storage="s3", signer_uri="https://signer.example.org"), "s3://lake/w"),
    ],
)
def test_tables_that_nobody_signs_for_here_are_not_judged(
    vending: VendingSettings | None, root: str | None
) -> None:
    with session_on(vending, root=root) as session:
        verdicts = verdicts_of(session)
    assert skipped(verdicts) == {check.id for check in CHECKS}
    kinds = {SkipKind.NOT_APPLICABLE, SkipKind.NOT_DECLARED, SkipKind.MISSING_FIXTURE}
    assert {v.skip.kind for v in verdicts.values() if v.skip} <= kinds
