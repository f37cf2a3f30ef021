"""Checks of several PyIceberg writers of one table: no append of theirs is lost."""

import contextlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from icecheck.client.catalog import Catalog
from icecheck.findings.symptoms import Severity, declare
from icecheck.replies.expect import Violation
from icecheck.replies.matching import show
from icecheck.scenarios.clients.observing import (
    accepted_snapshots,
    appended,
    created,
    expect_rows,
    main_of,
    pyiceberg_check,
    rows,
    seen,
    snapshots_in,
)
from icecheck.witnesses.pyiceberg_client import PyIceberg, another, pyiceberg

if TYPE_CHECKING:
    from pyiceberg.table import Table

    from icecheck.witnesses.relay import Carried

_LOST_APPEND = declare(
    "client-append-lost",
    "An append that a client was told is committed is not in the table's history",
    Severity.FALSE_OR_LOST,
    "PyIceberg: rows of one of several writers are gone, without an error",
)
_WRITERS = 3
_APPENDS_EACH = 2
_TRIES_MAX = 10
_WAIT_SECONDS_MAX = 60.0


@pyiceberg_check("stale-writer", needs=("snapshot-history",))
def test_stale_writer(catalog: Catalog) -> None:
    """A PyIceberg that has not seen the last append is refused, and succeeds after a refresh."""
    with pyiceberg(catalog) as first, another(first) as second:
        table = created(first)
        with second.step("load a table"):
            stale = second.rest.load_table(table.name())
        main = main_of(appended(first, table, 1))
        with second.step("append to a table that is not current") as sent:
            _append_at_last(second, stale, 2, tries=2)
        commits = [each for each in sent if snapshots_in(each)]
        if not commits or snapshots_in(commits[0])[0].get("parent-snapshot-id") == main:
            raise second.gap("looks at the table anew before it appends")
        commits[0].reply.expect(409, detail=f"{second.name}: append to what is not current")
        commits[-1].reply.expect(200, detail=f"{second.name}: append to what is current again")
        _expect_history(first, stale, first.relay.carried)
        expect_rows(first, table, 1, 2)


@pyiceberg_check("concurrent-writers", needs=("snapshot-history",))
def test_concurrent_writers(catalog: Catalog) -> None:
    """Several PyIceberg writers append at the same time and try again: each append is there."""
    with pyiceberg(catalog) as client, contextlib.ExitStack() as stack:
        table = created(client)
        writers = [stack.enter_context(another(client)) for _ in range(_WRITERS)]
        with client.step("load a table"):
            tables = [writer.rest.load_table(table.name()) for writer in writers]
        begun = threading.Barrier(_WRITERS)

        def write(at: int) -> None:
            # From the same state, so that the first commits of all but one come too late.
            begun.wait(_WAIT_SECONDS_MAX)
            for append in range(_APPENDS_EACH):
                number = at * _APPENDS_EACH + append
                if not _append_at_last(writers[at], tables[at], number, tries=_TRIES_MAX):
                    raise client.gap(f"is refused {_TRIES_MAX} times among other writers")

        with ThreadPoolExecutor(_WRITERS) as pool:
            writing = [pool.submit(write, at) for at in range(_WRITERS)]
        with client.step("refresh a table"):
            table.refresh()
        # First of all: a writer whose last append is gone stops with an error of its own.
        _expect_history(client, table, client.relay.carried)
        for written in writing:
            written.result()
        expect_rows(client, table, *range(_WRITERS * _APPENDS_EACH))


def _append_at_last(client: PyIceberg, table: "Table", number: int, *, tries: int) -> bool:
    """Append a row, again after a refresh while other writers are faster; return whether it is in.

    PyIceberg 0.12 tries a few times itself.
    """
    from pyiceberg.exceptions import CommitFailedException

    for _ in range(tries):
        with client.step("append rows among other writers"):
            try:
                table.append(rows(number))
            except CommitFailedException:
                table.refresh()
            else:
                return True
    return False


def _expect_history(client: PyIceberg, table: "Table", sent: Sequence["Carried"]) -> None:
    """Raise Violation unless main's history has every append that was accepted."""
    accepted = [each["snapshot-id"] for each in accepted_snapshots(sent)]
    metadata = seen(client, table, ())
    parents = {
        each["snapshot-id"]: each.get("parent-snapshot-id")
        for each in metadata.get("snapshots") or ()
    }
    history, at = [], main_of(metadata)
    while at is not None and at not in history:
        history.append(at)
        at = parents.get(at)
    lost = [each for each in accepted if each not in history]
    if lost:
        detail = f"{client.name}: {len(lost)} of {len(accepted)} accepted appends"
        raise Violation(
            _LOST_APPEND, "every accepted append in the history", show("missing"), detail=detail
        )
