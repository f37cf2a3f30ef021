"""The pages in a browser: every width, light and dark, with and without script, and on paper."""

import io
from itertools import product

import pytest

from icecheck.contract import load
from icecheck.reports import html
from icecheck.reports.many import matrix, trend
from icecheck.reports.many.stored import stored_runs
from tests.kit.browsers import chromium
from tests.unit.reports.golden_runs import RUNS, documents_of

pytestmark = pytest.mark.complete("needs the system's chromium and the extra `browser`")

REGISTER = load("1.10.0").requirements
PAGES = {
    **{name: lambda run=run: html.render(run) for name, run in RUNS.items()},
    "matrix": lambda: matrix.as_html(matrix.matrix(stored_runs(documents_of(*RUNS)), REGISTER)),
    "trend": lambda: trend.as_html(
        trend.trend(documents_of("all-pass", "one-failure", "forty-failures"))
    ),
}
WIDTHS = (1440, 768, 380)
SCHEMES = ("light", "dark")
SERIOUS = {"serious", "critical"}
PRINTED_PAGES_MAX = 6


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page of this text; it notes what the console says and what is fetched."""
    contexts = []

    def opening(text, **options):
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.noted = []
        page.on("console", lambda message: page.noted.append(message.text))
        page.on("pageerror", lambda error: page.noted.append(str(error)))
        page.on("request", lambda sent: page.noted.append(sent.url))
        page.goto(file.as_uri())
        assert page.noted.pop(0) == file.as_uri()
        return page

    yield opening
    for context in contexts:
        context.close()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_says_no_error_and_fetches_nothing(opened, name, script):
    text = PAGES[name]()
    for width, scheme in product(WIDTHS, SCHEMES):
        page = opened(
            text,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        assert page.noted == []
        # A page without script cannot be asked; its boxes can.
        box = page.locator("html").bounding_box()
        widest = max(
            page.locator(each).first.bounding_box()["width"] for each in ("body", "main", ".strip")
        )
        assert (box["width"], widest <= width) == (width, True)
        if script:
            assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_serious_violation(opened, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = opened(PAGES[name](), color_scheme=scheme, bypass_csp=True)
    found = Axe().run(page).response["violations"]
    assert [
        (each["id"], [node["target"] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in SERIOUS
    ] == []


def test_checks_are_found_by_words_and_by_outcome(opened):
    page = opened(PAGES["forty-failures"]())
    page.fill("#filter input[type=search]", "updateTable conflict-1")
    assert page.inner_text("#filter output") == "3 of 46 checks"  # conflict-1, -10 and -11
    page.check("#filter input[value=pass]")
    assert page.inner_text("#filter output") == "0 of 46 checks"
    page.fill("#filter input[type=search]", "")
    assert page.inner_text("#filter output") == "5 of 46 checks"
    assert page.locator("#checks [data-outcome=fail]:visible").count() == 0


def test_a_link_to_a_check_opens_what_hides_it(opened):
    page = opened(PAGES["forty-failures"]())
    target = page.locator("[id='check-getConfig.answered']")
    assert not target.is_visible()
    page.locator("[id='check-getConfig.answered'] .permalink").evaluate("link => link.click()")
    assert target.is_visible()
    assert page.url.endswith("#check-getConfig.answered")


def test_a_curl_line_is_copied_whole(opened):
    page = opened(PAGES["one-failure"](), permissions=["clipboard-read", "clipboard-write"])
    block = page.locator("pre.copy").first
    page.locator("button").first.click()
    page.wait_for_function("document.querySelector('button').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == block.text_content()


def test_a_run_of_five_causes_is_printed_on_six_pages_and_an_appendix(browser, opened):
    from pypdf import PdfReader

    page = opened(PAGES["forty-failures"]())
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    texts = [each.extract_text() for each in printed.pages]
    (appendix,) = (at for at, text in enumerate(texts) if "The response table" in text)
    assert appendix <= PRINTED_PAGES_MAX
    causes = "\n".join(texts[:appendix])
    for number in range(1, 6):
        assert f"\n{number}. " in causes
