"""Metadata of either side with what may differ (uuids, times, file names) replaced by names."""

import copy
import re
from dataclasses import dataclass, field
from typing import Any

from tests.interop.oracle.answer import Answer, Json

LOCATION, UUID, TIME = "$location", "$uuid", "$time"
NO_UUID_YET = "11111111-2222-4333-8444-55555555555a"
"""The uuid that is sent for that of a table which has none yet."""
_FILE = re.compile(r"(?P<folder>.*)/[^/]*?(?P<ending>(\.gz)?\.metadata\.json)")


@dataclass(slots=True)
class Names:
    """How one side calls things: what it chose itself, and the moment the sequence started.

    `files` is shared by both sides: a metadata file by the number of the version in it.
    """

    start_ms: int
    files: dict[str, str]
    uuid: str | None = None
    location: str | None = None
    sent_ms: set[int] = field(default_factory=set)

    def written(self, body: Json) -> Json:
        """A body as it is sent: uuids of this side, times from the start on."""
        body = self._with_uuid(copy.deepcopy(body))
        for update in body.get("updates", ()):
            snapshot = update.get("snapshot")
            moment = snapshot.get("timestamp-ms") if isinstance(snapshot, dict) else None
            if isinstance(moment, int) and not isinstance(moment, bool):
                snapshot["timestamp-ms"] = self.start_ms + moment
                self.sent_ms.add(self.start_ms + moment)
        return body

    def _with_uuid(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._with_uuid(each) for key, each in value.items()}
            case list():
                return [self._with_uuid(each) for each in value]
            case "$uuid":
                return self.uuid or NO_UUID_YET
            case "$UUID":
                return (self.uuid or NO_UUID_YET).upper()
            case _:
                return value

    def learn(self, answer: Answer, *, own_location: bool) -> None:
        """Take note of what this side called its table."""
        assert answer.metadata is not None
        self.uuid = answer.metadata["table-uuid"]
        if own_location:
            self.location = answer.metadata["location"]

    def normal(self, metadata: Json) -> Json:
        """Metadata that can be compared with that of the other side."""
        table = copy.deepcopy(metadata)
        if table["table-uuid"] == self.uuid:
            table["table-uuid"] = UUID
        table["location"] = self._place(table["location"])
        table["last-updated-ms"] = self._time(table["last-updated-ms"])
        for snapshot in table["snapshots"]:
            snapshot["timestamp-ms"] = self._time(snapshot["timestamp-ms"])
        for entry in (*table["snapshot-log"], *table["metadata-log"]):
            entry["timestamp-ms"] = self._time(entry["timestamp-ms"])
        for entry in table["metadata-log"]:
            entry["metadata-file"] = self.files.get(entry["metadata-file"], "$unknown")
        # The document gives these lists no order; Java keeps them in maps and sets.
        for schema in (*table["schemas"], *([table["schema"]] if "schema" in table else ())):
            if "identifier-field-ids" in schema:
                schema["identifier-field-ids"].sort()
        for files in (table["statistics"], table["partition-statistics"]):
            files.sort(key=lambda each: each["snapshot-id"])
        return table

    def _time(self, moment: int) -> int | str:
        return moment - self.start_ms if moment in self.sent_ms else TIME

    def _place(self, location: str) -> str:
        if self.location is not None and location.startswith(self.location):
            return LOCATION + location.removeprefix(self.location)
        return location

    def place_of_file(self, metadata_location: str) -> str:
        """Where a metadata file is and how its name ends."""
        match = _FILE.fullmatch(metadata_location)
        assert match is not None, metadata_location
        return f"{self._place(match['folder'])}/*{match['ending']}"
