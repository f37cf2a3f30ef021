"""The templates of all pages: they are escaped, and need nothing but what stands in them."""

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icecheck.findings.telling.finding_card import legible
from icecheck.reports.tables import words_of

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATES = Path(__file__).with_name("templates")


@cache
def template(name: str, **constants: int) -> "Template":
    """Return a compiled template: compiling takes longer than rendering a short report.

    Every value of a run is escaped by the template engine. ``constants`` are known in its parts
    too, which do not see what the page itself is rendered with.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.globals.update(constants)
    environment.filters["anchor"] = _anchor
    environment.filters["prose"] = _prose
    environment.filters["standing"] = words_of
    return environment.get_template(name)


@dataclass(frozen=True, slots=True)
class Inline:
    """A file of the templates that stands in the page, and its hash as a policy names it."""

    text: str
    hash: str


@cache
def inline(name: str) -> Inline:
    """Return a style or a script of ours, to stand in a page."""
    from markupsafe import Markup

    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Inline(Markup(text), f"sha256-{digest}")  # noqa: S704 - our own file


def _anchor(name: str) -> str:
    """Return a name as the end of an element's id; a digest replaces unusual characters."""
    if re.fullmatch(r"[A-Za-z0-9._:-]+", name):
        return name
    return hashlib.blake2s(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _prose(text: str) -> Any:
    """Return the register's text as markup: escaped, with `names` set as code."""
    from markupsafe import Markup, escape

    parts = legible(text).split("`")
    if len(parts) % 2 == 0:
        return escape(legible(text))
    marked = [
        Markup("<code>{}</code>").format(part) if odd % 2 else escape(part)
        for odd, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def _finalize(value: Any) -> Any:
    # Text that a macro rendered is markup already and is not escaped again.
    return legible(value) if type(value) is str else value
