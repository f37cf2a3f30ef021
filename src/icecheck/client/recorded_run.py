"""What a session asks about the recording that it is replayed from."""

from pathlib import Path
from typing import Protocol


class RecordedRun(Protocol):
    """The recording of a run, where its answers are given to the same checks again.

    A run decides some things by the order in which its threads come, or by the files of the machine
    that it is on. A replay takes them from the recording.
    """

    def names(self, check_id: str, name: str) -> bool:
        """Return whether a request of the check names the object."""

    def names_one_of(self, check_id: str, beginning: str) -> bool:
        """Return whether a request of the check names an object whose name begins like this."""

    def goes_on(self, check_id: str) -> bool:
        """Return whether the check has sent requests that were not replayed yet."""

    def folder_for(self, check_id: str, table: str) -> Path | None:
        """Return a folder in place of that of a table's files; None if the run could not read it.

        No file beside it is ever written: where a recording says that files are, is not trusted.
        """
