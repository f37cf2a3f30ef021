"""A catalog that answers as a test tells it, and remembers what came."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.kit.serving import Answer, Sent, serving


@dataclass(slots=True)
class ToldCatalog:
    """What a catalog at ``url`` does.

    ``answer`` is what every request is answered, unless ``answers`` has its method and path. With
    ``cut`` it closes the connection instead.
    """

    url: str = ""
    answer: Answer = (200, {}, b"{}")
    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    came: list[Sent] = field(default_factory=list)
    cut: bool = False

    def answered(self, sent: Sent) -> Answer:
        """Answer a request."""
        self.came.append(sent)
        if self.cut:
            raise ConnectionAbortedError
        return self.answers.get((sent.method, sent.path), self.answer)


@contextlib.contextmanager
def told_catalog() -> Iterator[ToldCatalog]:
    """Serve a catalog that can be told what to answer."""
    told = ToldCatalog()
    with serving(told.answered) as url:
        told.url = url
        yield told
