"""Every command and snippet of the documents: fenced blocks, and commands inside of sentences."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", *(
    str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))
))  # fmt: skip

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"`([^`]+)`")
_PROGRAMS = frozenset({"icecheck", "pytest", "python", "tox", "pip", "uvx"})
_VARIABLE = re.compile(r"[A-Z_]+=\S+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A block or a command, as it is written, and where."""

    document: str
    line: int
    language: str
    text: str

    @property
    def start(self) -> str:
        """The first line of it, which tables know it by."""
        return self.text.strip().splitlines()[0]

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def fenced() -> list[Snippet]:
    """Return every fenced block of every document, in order."""
    found = []
    for document in DOCUMENTS:
        text = (ROOT / document).read_text()
        for match in _FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append(Snippet(document, line, match[1], match[2]))
    return found


def commands() -> list[Snippet]:
    """Return every command that stands in a sentence or a table between backquotes.

    The name of a program alone is a word and no command, as is one that begins so.
    """
    found = []
    for document in DOCUMENTS:
        # Blocks are found by themselves; lines stay where they are.
        text = _FENCE.sub(lambda m: "\n" * m[0].count("\n"), (ROOT / document).read_text())
        for match in _QUOTED.finditer(text):
            words = match[1].split()
            while words and _VARIABLE.fullmatch(words[0]):
                del words[0]
            if len(words) > 1 and words[0] in _PROGRAMS:
                line = text.count("\n", 0, match.start()) + 1
                found.append(Snippet(document, line, "sh", " ".join(match[1].split())))
    return found
