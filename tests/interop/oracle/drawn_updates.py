"""Generated updates: one method for each action, drawn near to what the table has."""

from collections.abc import Callable

from tests.interop.oracle.answer import Json
from tests.interop.oracle.choices import Choices
from tests.interop.oracle.drawn_schemas import Drawing
from tests.interop.oracle.known import UUID_OF_TABLE, Known

SECONDS = (-10, 30, 70, -50, -90)
"""When a snapshot was made, from the start of the sequence. Against the server's time, and against
each other, these are far from the 60 seconds that logs tolerate, on either side."""
NEW_UUID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
LOCATION = "s3://bucket/table"
PROPERTIES = {
    "comment": ("x", "y"), "owner": ("me",), "format-version": ("2", "9"),
    "write.metadata.previous-versions-max": ("2", "1", "0", "-3", "x"),
    "write.metadata.delete-after-commit.enabled": ("true", "no"),
    "write.metadata.path": ("s3://bucket/other",),
    "write.metadata.compression-codec": ("gzip", "none", "GZIP", "zip"),
    "commit.retry.num-retries": ("3", "0", "-1", "x"),
    "write.metadata.metrics.column.a": ("counts",), "write.metadata.metrics.column.zz": ("full",),
    "current-schema": ("{}",), "write.parquet.compression-codec": ("snappy",),
}  # fmt: skip
WEIGHTS = {
    "add-snapshot": 14, "set-snapshot-ref": 12, "add-schema": 8, "set-current-schema": 6,
    "add-spec": 8, "set-default-spec": 5, "add-sort-order": 6, "set-default-sort-order": 5,
    "remove-snapshots": 5, "remove-snapshot-ref": 4, "set-properties": 5, "remove-properties": 3,
    "upgrade-format-version": 4, "set-location": 3, "assign-uuid": 3, "set-statistics": 4,
    "remove-statistics": 3, "set-partition-statistics": 4, "remove-partition-statistics": 3,
    "remove-partition-specs": 4, "remove-schemas": 4, "add-encryption-key": 4,
    "remove-encryption-key": 3, "add-view-version": 1, "set-current-view-version": 1,
}  # fmt: skip


class Updates:
    """Draws the updates of one commit; what each would add is known to the next."""

    def __init__(self, choices: Choices, known: Known) -> None:
        self._choices = choices
        self._known = known

    def any(self) -> Json:
        """An update of any action, once in a while damaged."""
        action = self._choices.weighted(WEIGHTS)
        if action == "set-snapshot-ref" and not self._known.snapshot_ids:
            action = self._choices.mostly(["add-snapshot"], [action], 8)
        body = self.of(action)
        if self._choices.seldom(60):
            return {"action": action, **self._choices.damaged(body)}
        if self._choices.seldom(200):
            return {"action": self._choices.one(["no-such-update", None])}
        return {"action": action, **body}

    def of(self, action: str) -> Json:
        """The members of an update of this action."""
        draw: Callable[[], Json] = getattr(self, "_" + action.replace("-", "_"))
        return draw()

    def drawing(self) -> Drawing:
        """For new parts of the table as it is now."""
        known = self._known
        return Drawing(self._choices, known.format_version, known.last_column_id + 1)

    def _pick(self, usual: list[int], one_in: int = 16) -> int:
        return self._choices.mostly(usual, [-1, 77, 0, 2**31 - 1], one_in)

    def _assign_uuid(self) -> Json:
        return {"uuid": self._choices.mostly([UUID_OF_TABLE, "$UUID"], [NEW_UUID, "x", ""], 4)}

    def _upgrade_format_version(self) -> Json:
        version = self._known.format_version
        chosen = self._choices.mostly([version, version, version + 1], [1, 2, 3, 4, 0], 4)
        self._known.format_version = max(version, min(chosen, 3))
        return {"format-version": chosen}

    def _add_schema(self) -> Json:
        known, choices = self._known, self._choices
        near = choices.one(known.schemas) if known.schemas else None
        schema = self.drawing().evolved(near) if near else self.drawing().schema()
        if choices.seldom(12):
            schema = self.drawing().schema()
        added = {**schema, "schema-id": max(known.schema_ids(), default=-1) + 1}
        if all(each["fields"] != schema["fields"] for each in known.schemas):
            known.schemas.append(added)
        body: Json = {"schema": {**schema, "schema-id": choices.one([0, 5, -1])}}
        if choices.seldom(3):
            body["last-column-id"] = choices.one([known.last_column_id, 0, 99, None])
        return body

    def _set_current_schema(self) -> Json:
        chosen = self._pick(self._known.schema_ids()[::-1])
        if self._known.schemas and self._choices.seldom(6):
            chosen = -1
        self._known.current_schema_id = (
            self._known.schema_ids()[-1] if chosen == -1 and self._known.schemas else chosen
        )
        return {"schema-id": chosen}

    def _add_spec(self) -> Json:
        known = self._known
        if known.specs and self._choices.seldom(6):
            return {"spec": self._choices.one(known.specs)}
        spec = self.drawing().spec(known.schema, known.partition_fields, known.last_partition_id)
        if isinstance(spec.get("fields"), list):
            number = max(known.spec_ids(), default=-1) + 1
            if all("field-id" in each for each in spec["fields"]):
                known.specs.append({"spec-id": number, "fields": spec["fields"]})
        return {"spec": spec}

    def _set_default_spec(self) -> Json:
        chosen = -1 if self._choices.seldom(6) else self._pick(self._known.spec_ids()[::-1])
        return {"spec-id": chosen}

    def _add_sort_order(self) -> Json:
        known = self._known
        if known.orders and self._choices.seldom(6):
            return {"sort-order": self._choices.one(known.orders)}
        order = self.drawing().order(known.schema)
        number = max(known.order_ids(), default=0) + 1 if order["fields"] else 0
        known.orders.append({**order, "order-id": number})
        return {"sort-order": order}

    def _set_default_sort_order(self) -> Json:
        chosen = -1 if self._choices.seldom(6) else self._pick(self._known.order_ids()[::-1])
        return {"sort-order-id": chosen}

    def _add_snapshot(self) -> Json:
        known, choices = self._known, self._choices
        free = [n for n in range(1, 12) if n not in known.snapshot_ids]
        number = choices.mostly(free[:3], [1, 2, 2**62, -5, 0], 16)
        last = known.last_sequence_number
        sequence = 0 if known.format_version == 1 else last + 1
        sequence = choices.mostly([sequence], [0, last, last + 5, -1, last + 1], 16)
        parents = [known.current_snapshot_id, *known.snapshot_ids[-2:]]
        operation = choices.mostly(["append", "delete", "overwrite", "replace"], ["x", ""], 40)
        snapshot: Json = {
            "snapshot-id": number,
            "parent-snapshot-id": choices.mostly(parents, [None, 55, -1], 8),
            "sequence-number": sequence,
            "timestamp-ms": 1000 * choices.mostly(SECONDS[:2], SECONDS, 16),
            "summary": {"operation": operation, "added-files": "1"},
            "manifest-list": f"{LOCATION}/metadata/snap-{number}.avro",
            "schema-id": choices.mostly([known.current_schema_id], [None, 44], 8),
        }
        if known.format_version > 2 or choices.seldom(16):
            snapshot["first-row-id"] = known.next_row_id + choices.mostly([0], [3, -1], 10)
            snapshot["added-rows"] = choices.mostly([4, 0], [-1, None], 16)
            known.next_row_id = snapshot["first-row-id"] + (snapshot["added-rows"] or 0)
        if choices.seldom(12):
            snapshot["key-id"] = choices.one(["k1", "none"])
        if choices.seldom(16):
            snapshot = self._unusual(snapshot)
        for name in ("parent-snapshot-id", "schema-id"):
            if snapshot.get(name) is None and not choices.seldom(20):
                snapshot.pop(name, None)
        known.snapshot_ids.append(number)
        known.last_sequence_number = max(last, sequence)
        return {"snapshot": snapshot}

    def _unusual(self, snapshot: Json) -> Json:
        match self._choices.number(0, 7):
            case 6:
                snapshot["future-member"] = 1
            case 7:
                snapshot["manifests"] = ["s3://bucket/m.avro"]
            case 0:
                snapshot.pop("summary")
            case 1:
                snapshot["summary"] = {"added-files": "1"}
            case 2:
                snapshot["manifests"] = ["s3://bucket/m.avro"]
                snapshot.pop("manifest-list")
            case 3:
                snapshot["summary"]["total"] = 5
            case 4:
                snapshot.pop("sequence-number")
            case _:
                return self._choices.damaged(snapshot)
        return snapshot

    def _set_snapshot_ref(self) -> Json:
        known, choices = self._known, self._choices
        name = choices.one(["main", "main", "b", "t"])
        usual = "tag" if name == "t" else "branch"
        chosen = choices.mostly(known.snapshot_ids[::-1], [77, -1], 24)
        other = ["branch", "tag", "TAG", "x"]
        body: Json = {
            "ref-name": name,
            "type": choices.mostly([usual], other, 16),
            "snapshot-id": chosen,
        }
        values = [3, 1, None, 0, -1]
        for member in ("min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"):
            if choices.seldom(10 if usual == "branch" else 24):
                body[member] = choices.mostly(values[:2], values, 4)
        if name == "t" and choices.seldom(3):
            body["max-ref-age-ms"] = 10
        known.refs[name] = {"snapshot-id": chosen, "type": usual}
        if name == "main":
            known.current_snapshot_id = chosen
        return body

    def _remove_snapshots(self) -> Json:
        usual = self._choices.some(self._known.snapshot_ids[:3], 2)
        if self._choices.seldom(6):
            usual.append(self._pick(self._known.snapshot_ids))
        return {"snapshot-ids": usual}

    def _remove_snapshot_ref(self) -> Json:
        return {"ref-name": self._choices.mostly(sorted(self._known.refs), ["main", "nope"], 6)}

    def _set_location(self) -> Json:
        usual = ["s3://bucket/moved", LOCATION, "s3://bucket/moved//"]
        return {"location": self._choices.mostly(usual, ["", "/", "s3://"], 10)}

    def _some_properties(self) -> Json:
        keys = self._choices.some(list(PROPERTIES), 2)
        return {key: self._choices.one(PROPERTIES[key]) for key in keys}

    def _set_properties(self) -> Json:
        updates = self._some_properties()
        if self._choices.seldom(20):
            updates["comment"] = self._choices.one([None, 1])
        self._known.properties.extend(updates)
        return {"updates": updates}

    def _remove_properties(self) -> Json:
        known = self._known.properties
        usual = self._choices.some(known, 2)
        return {"removals": [*usual, "absent"] if self._choices.seldom(4) else usual}

    def _a_snapshot(self) -> int:
        return self._choices.mostly(self._known.snapshot_ids, [77, -1], 6)

    def _set_statistics(self) -> Json:
        choices = self._choices
        number = self._a_snapshot()
        blob: Json = {"type": "apache-datasketches-theta-v1", "snapshot-id": number,
                      "sequence-number": 1, "fields": [1]}  # fmt: skip
        if choices.seldom(4):
            blob["properties"] = {"ndv": "5"}
        statistics: Json = {
            "snapshot-id": number, "statistics-path": choices.one(["s3://b/1.puffin", "x"]),
            "file-size-in-bytes": 10, "file-footer-size-in-bytes": 5,
            "blob-metadata": [blob] * choices.number(0, 2),
        }  # fmt: skip
        if choices.seldom(8):
            statistics["key-metadata"] = choices.one(["AAEC", None])
        if choices.seldom(16):
            statistics = choices.damaged(statistics)
        self._known.statistics.append(number)
        outer = {"snapshot-id": choices.one([number, 1, None])} if choices.seldom(3) else {}
        return {"statistics": statistics, **outer}

    def _remove_statistics(self) -> Json:
        return {"snapshot-id": self._pick(self._known.statistics, 5)}

    def _set_partition_statistics(self) -> Json:
        number = self._a_snapshot()
        statistics: Json = {"snapshot-id": number, "statistics-path": "s3://b/1.parquet",
                            "file-size-in-bytes": self._choices.one([10, 0, -1])}  # fmt: skip
        self._known.partition_statistics.append(number)
        if self._choices.seldom(16):
            statistics = self._choices.damaged(statistics)
        return {"partition-statistics": statistics}

    def _remove_partition_statistics(self) -> Json:
        return {"snapshot-id": self._pick(self._known.partition_statistics, 5)}

    def _others(self, ids: list[int], kept: int) -> list[int]:
        free = [each for each in ids if each != kept]
        return [self._choices.mostly(free, [kept, 77, -1], 5)
                for _ in range(self._choices.number(0, 2))]  # fmt: skip

    def _remove_partition_specs(self) -> Json:
        return {"spec-ids": self._others(self._known.spec_ids(), self._known.default_spec_id)}

    def _remove_schemas(self) -> Json:
        return {"schema-ids": self._others(self._known.schema_ids(), self._known.current_schema_id)}

    def _add_encryption_key(self) -> Json:
        choices = self._choices
        data = choices.mostly(["AAEC", "Zm9v"], ["%", "a"], 10)
        key: Json = {"key-id": choices.one(["k1", "k2", "k3"]), "encrypted-key-metadata": data}
        if choices.seldom(4):
            key["encrypted-by-id"] = choices.one(["k1", None])
        if choices.seldom(4):
            key["properties"] = choices.one([{"a": "b"}, {}, None])
        self._known.keys.append(key["key-id"])
        return {"encryption-key": choices.damaged(key) if choices.seldom(16) else key}

    def _remove_encryption_key(self) -> Json:
        return {"key-id": self._choices.mostly(self._known.keys, ["nope"], 4)}

    def _add_view_version(self) -> Json:
        version = {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
                   "default-namespace": [], "representations": [
                       {"type": "sql", "sql": "SELECT 1", "dialect": "spark"}]}  # fmt: skip
        return {"view-version": version}

    def _set_current_view_version(self) -> Json:
        return {"view-version-id": 1}
