"""The browser of the machine, for tests that look at pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield the system's chromium, without a window."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    assert path, "no chromium on this machine: apt-get install chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()
