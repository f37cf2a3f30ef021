"""Who gave credentials is told, on the first screen, where the catalog does not need them."""

from pathlib import Path
from typing import Any

import pytest

from icecheck.cli.closing import closing_lines
from icecheck.mock_server import MockCatalog
from icecheck.reports import html, summary
from icecheck.run.options import RunOptions
from icecheck.run.runner import run_checks
from icecheck.targets.target import Target


@pytest.mark.parametrize(
    ("server", "target", "answered"),
    [
        ({}, {"token": "t"}, {"without credentials", "with a made-up token"}),
        ({"token": "t"}, {"token": "t"}, set()),
        ({}, {}, set()),
    ],
)
def test_the_first_screen_says_that_credentials_are_not_needed(
    server: dict[str, Any], target: dict[str, Any], answered: set[str]
) -> None:
    mock = MockCatalog(seed=1, **server)
    options = RunOptions(
        target=Target("http://m", **target),
        run_id="access",
        globs=("auth.bad-token-refused", "auth.no-success-without-credentials"),
    )
    try:
        run = run_checks(options, transport=mock.httpx_transport())
    finally:
        mock.stop()
    assert set(run.facts["target"]["auth"]["answered"]) == answered
    said = {
        "screen": "\n".join(closing_lines(run, Path("index.html"))),
        "summary": summary.render(run)[:1_000],
        "page": html.render(run).partition("</nav>")[0],
    }
    for text in said.values():
        assert all(f"answers {how}: createNamespace" in text for how in answered)
        assert bool(answered) == ("the catalog answers" in text)
