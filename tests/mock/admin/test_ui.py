"""The page of a running mock: what is there is shown, what is pressed is done, all can use it."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.admin.ui.pages import ROOT
from tests.kit.browsers import chromium
from tests.mock.admin.conftest import COMMIT, TABLE

WIDTHS = (1440, 768, 380)
BROWSER = pytest.mark.complete("needs the system's chromium and the extra `browser`")
AWKWARD = "<b>&\"'"


@pytest.fixture(scope="module")
def stocked() -> Iterator[MockCatalog]:
    """A server with something of everything that is shown."""
    with MockCatalog() as mock:
        catalog = mock.pyiceberg("wh")
        catalog.create_namespace("db", {"owner": AWKWARD})
        catalog.create_namespace(f"odd {AWKWARD}")
        table = catalog.create_table("db.orders", pa.schema([("id", pa.int64())]))
        for value in range(3):
            table.append(pa.table({"id": pa.array([value], pa.int64())}))
        table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "v1").commit()
        mock.faults.add("throttled", table="db.orders", times=2)
        mock.gates.add("dropTable")
        mock.defects.switch_on("namespace-drop-cascades")
        httpx.get(f"{mock.uri}/v1/wh/namespaces/db/tables/orders", trust_env=False)
        yield mock


def pages_of(mock: MockCatalog) -> dict[str, str]:
    """Return the path of each page by its name."""
    newest = mock.journal.last_sequence
    return {
        "overview": ROOT,
        "warehouse": f"{ROOT}/warehouse?warehouse=wh",
        "table": f"{ROOT}/table?warehouse=wh&namespace=db&name=orders",
        "request": f"{ROOT}/request?sequence={newest}",
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as launched:
        yield launched


def test_what_is_there_is_shown(stocked: MockCatalog) -> None:
    pages = pages_of(stocked)
    with httpx.Client(base_url=stocked.uri, trust_env=False) as http:
        shown = {name: http.get(path) for name, path in pages.items()}
    assert {answer.status_code for answer in shown.values()} == {200}
    assert "namespace-drop-cascades" in shown["overview"].text
    assert "throttled (f-1)" in shown["overview"].text
    assert "orders" in shown["warehouse"].text
    assert len(re.findall(r"added-records 1\b", shown["table"].text)) == 3
    assert "v1" in shown["table"].text
    assert "429" in shown["request"].text
    for answer in shown.values():
        assert AWKWARD not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_what_is_not_there_is_refused(mock: MockCatalog, http: httpx.Client) -> None:
    for path in (
        "/nothing", "/table?warehouse=wh&namespace=db&name=u", "/table", "/warehouse?warehouse=x",
        "/request?sequence=0", "/faults/add",
    ):  # fmt: skip
        assert http.get(f"{ROOT}{path}").status_code == 404, path
    assert http.post(f"{ROOT}/nothing", data={"a": "b"}).status_code == 404
    assert http.post(f"{ROOT}/faults/add", json={"fault": "slow"}).status_code == 415
    assert mock.faults.rules == ()


def test_a_form_does_what_it_says_or_tells_why_not(mock: MockCatalog, http: httpx.Client) -> None:
    def press(path: str, **form: str) -> str:
        answer = http.post(f"{ROOT}/{path}", data=form)
        assert answer.status_code == 303
        return http.get(answer.headers["location"]).text

    press("faults/add", fault="throttled", operation="loadTable", table="", times="2")
    (rule,) = mock.faults.rules
    assert (rule.operation, rule.times) == ("loadTable", 2)
    press("faults/remove", id=rule.id)
    assert mock.faults.rules == ()
    assert "throttled: " in press("faults/add", fault="throttled", times="many")
    press("defects/on", name="namespace-drop-cascades")
    assert mock.defects.active == ("namespace-drop-cascades",)
    press("defects/off", name="namespace-drop-cascades")
    assert mock.defects.active == ()
    assert "no defect &#39;nope&#39;" in press("defects/on", name="nope")
    gate = mock.gates.add("loadTable")
    press("gates/open", id=gate.id)
    assert mock.gates.all() == ()


def test_a_page_of_another_site_presses_nothing(mock: MockCatalog, http: httpx.Client) -> None:
    form = {"fault": "slow"}
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert http.post(f"{ROOT}/faults/add", data=form, headers=headers).status_code == 403
    assert mock.faults.rules == ()


def test_a_browser_is_asked_for_the_token() -> None:
    with MockCatalog(admin_token="boss") as mock:
        asked = httpx.get(f"{mock.uri}{ROOT}", trust_env=False)
        assert (asked.status_code, "Basic" in asked.headers["www-authenticate"]) == (401, True)
        for password, status in (("boss", 200), ("bos", 401)):
            answer = httpx.get(f"{mock.uri}{ROOT}", auth=("any", password), trust_env=False)
            assert answer.status_code == status


@BROWSER
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_axe_finds_nothing(
    stocked: MockCatalog, browser: Any, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for name, path in pages_of(stocked).items():
        for width in WIDTHS:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            noted: list[str] = []
            page.on("console", lambda message, noted=noted: noted.append(message.text))
            page.on("pageerror", lambda error, noted=noted: noted.append(str(error)))
            page.goto(f"{stocked.uri}{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
            found = Axe().run(page).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], name
            assert noted == []
            context.close()


@BROWSER
def test_the_journal_follows_and_the_keyboard_is_enough(mock: MockCatalog, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    noted: list[str] = []
    page.on("console", lambda message: noted.append(message.text))
    page.goto(f"{mock.uri}{ROOT}")
    httpx.post(f"{mock.uri}{TABLE}", json=COMMIT, trust_env=False)
    page.get_by_text("updateTable", exact=True).locator("visible=true").first.wait_for(timeout=5000)
    page.locator("select[name=fault]").focus()
    page.keyboard.type("throttled")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("throttled (f-1)").wait_for(timeout=5000)
    assert mock.faults.rules[0].fault == "throttled"
    assert noted == []
    context.close()
