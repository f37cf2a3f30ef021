"""Generated schemas, partition specs and sort orders, bound to what exists or nearly so."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.interop.oracle.answer import Json
from tests.interop.oracle.choices import Choices

PLAIN = ("long", "string", "int", "date", "timestamptz", "boolean", "double", "decimal(9, 2)",
         "timestamp", "time", "uuid", "binary", "float", "fixed[4]")  # fmt: skip
NEWER = ("timestamp_ns", "timestamptz_ns", "variant", "unknown", "geometry", "geography")
ODD = ("decimal(9,2)", "fixed[ 4 ]", "decimal(39, 2)", "decimal(2, 3)", "nonsense", "LONG",
       "geometry(srid:3857)", "geography(srid:4269, karney)", "fixed[0]",
       "decimal(0, 0)")  # fmt: skip
NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")
ODD_NAMES = ("A", "a.x", "", "element", "é", "a")
FIELD_NAMES = ("x", "y", "z")
TRANSFORMS = ("identity", "bucket[4]", "void", "day", "truncate[3]", "year", "month", "hour")
ODD_TRANSFORMS = ("bucket[0]", "Identity", "zorder", "truncate[ 3 ]", "bucket[4294967296]", "")
DEFAULTS: dict[str, tuple[Any, ...]] = {
    "long": (5, 2**40, "5", 1.5), "int": (7, 2**40), "string": ("s", 4), "boolean": (True, "true"),
    "double": (1.5, 2, "x"), "float": (0.5, 1), "date": ("2024-02-29", "2023-02-29", 3),
    "timestamp": ("2024-01-02T03:04:05.000006", "2024-01-02"), "time": ("10:11:12", "25:00:00"),
    "timestamptz": ("2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05+02:00"),
    "uuid": ("f79c3e09-677c-4bbd-a479-3f349cb785e7", "x"), "fixed[4]": ("00ff00ff", "00"),
    "binary": ("00ff", "0"), "decimal(9, 2)": ("14.20", "14.2", 14.2),
    "timestamp_ns": ("2024-01-02T03:04:05.000006789",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Column:
    """A field at any depth: id, dotted name and JSON type."""

    id: int
    name: str
    type: Any


def columns(fields: list[Json], prefix: str = "") -> Iterator[Column]:
    """All fields, those within others too."""
    for field in fields:
        yield from _column(field["id"], prefix + field["name"], field["type"])


def _column(field_id: int, name: str, field_type: Any) -> Iterator[Column]:
    yield Column(field_id, name, field_type)
    if not isinstance(field_type, dict):
        return
    match field_type["type"]:
        case "struct":
            yield from columns(field_type["fields"], f"{name}.")
        case "list":
            yield from _column(field_type["element-id"], f"{name}.element", field_type["element"])
        case "map":
            yield from _column(field_type["key-id"], f"{name}.key", field_type["key"])
            yield from _column(field_type["value-id"], f"{name}.value", field_type["value"])


class Drawing:
    """Draws parts of a table for one format version; new fields are numbered from `next_id`."""

    def __init__(self, choices: Choices, format_version: int, next_id: int) -> None:
        self._choices = choices
        self._version = format_version
        self._next_id = next_id

    def _id(self) -> int:
        if self._choices.seldom(60):
            return self._choices.one([1, 0, -1])
        self._next_id += 1
        return self._next_id - 1

    def _primitive(self) -> str:
        choices = self._choices
        if choices.seldom(40):
            return choices.one(ODD)
        newer = choices.seldom(4 if self._version > 2 else 60)
        return choices.one(NEWER if newer else PLAIN)

    def _type(self, depth: int) -> Any:
        choices = self._choices
        if depth >= 2 or not choices.seldom(4):
            return self._primitive()
        match choices.one(["struct", "list", "map"]):
            case "struct":
                names = choices.some(FIELD_NAMES, 2)
                return {"type": "struct", "fields": [self.field(n, depth + 1) for n in names]}
            case "list":
                return {"type": "list", "element-id": self._id(),
                        "element": self._type(depth + 1),
                        "element-required": choices.seldom(3)}  # fmt: skip
            case _:
                return {"type": "map", "key-id": self._id(), "key": self._type(depth + 1),
                        "value-id": self._id(), "value": self._type(depth + 1),
                        "value-required": choices.seldom(3)}  # fmt: skip

    def field(self, name: str, depth: int = 0) -> Json:
        """A field with a new id."""
        choices = self._choices
        if choices.seldom(60):
            name = choices.one(ODD_NAMES)
        field_id = self._id()
        field_type = self._type(depth)
        field: Json = {"id": field_id, "name": name,
                       "required": choices.seldom(3) and field_type != "unknown",
                       "type": field_type}  # fmt: skip
        if choices.seldom(8):
            field["doc"] = choices.one(["d", "", None])
        if choices.seldom(4 if self._version > 2 else 60):
            values = DEFAULTS.get(field_type) if isinstance(field_type, str) else None
            value = choices.mostly(values[:1], values, 5) if values else choices.one([None, 1])
            field[choices.one(["initial-default", "write-default"])] = value
        return field

    def schema(self) -> Json:
        """A schema of one to four columns."""
        size = self._choices.number(1, 4)
        fields = [self.field(name) for name in NAMES[:size]]
        return self._with_identifiers({"type": "struct", "schema-id": 0, "fields": fields})

    def evolved(self, schema: Json) -> Json:
        """A schema near to one that exists: the same, or one change away."""
        choices = self._choices
        fields = [dict(field) for field in schema["fields"]]
        at = choices.number(0, max(0, len(fields) - 1))
        how = choices.one(["add", "same", "drop", "rename", "retype", "optional", "doc", "move"])
        if how == "add" or not fields:
            fields.append(self.field(choices.one(NAMES[len(fields) % 8 :])))
        elif how == "drop":
            del fields[at]
        elif how == "rename":
            fields[at]["name"] = choices.one(NAMES)
        elif how == "retype":
            fields[at]["type"] = self._primitive()
        elif how == "optional":
            fields[at]["required"] = not fields[at]["required"]
        elif how == "doc":
            fields[at]["doc"] = choices.one(["e", "f"])
        elif how == "move":
            fields.insert(0, fields.pop(at))
        evolved = {**schema, "fields": fields}
        return self._with_identifiers(evolved) if choices.seldom(6) else evolved

    def _with_identifiers(self, schema: Json) -> Json:
        choices = self._choices
        if not choices.seldom(6):
            return schema
        fit = [f["id"] for f in schema["fields"] if f["required"] and isinstance(f["type"], str)]
        ids = [column.id for column in columns(schema["fields"])]
        chosen = [choices.mostly(fit, [*ids, 99], 5) for _ in range(choices.number(0, 2))]
        return {**schema, "identifier-field-ids": chosen}

    def spec(self, schema: Json, known: list[Json], last_field_id: int) -> Json:
        """A partition spec over a schema; `known` are the partition fields that exist."""
        choices = self._choices
        fields = []
        for number in range(choices.number(0, 2)):
            source = self._source(schema)
            transform = self._transform()
            name = choices.mostly([f"p{last_field_id}_{number}", f"p{number}"], ["a", "b", ""], 8)
            fields.append({"name": name, "transform": transform, "source-id": source})
        ids = choices.one(["new", "none", "known", "some"])
        for number, field in enumerate(fields):
            same = [k for k in known if k["source-id"] == field["source-id"]]
            if ids == "new":
                first = 1000 if self._version == 1 else last_field_id + 1
                field["field-id"] = first + number
            elif ids == "known" and same:
                known_field = choices.one(same)
                field.update(known_field if choices.seldom(2) else
                             {"field-id": known_field["field-id"]})  # fmt: skip
            elif ids == "known" or (ids == "some" and number == 0):
                field["field-id"] = choices.mostly([1000 + number], [1, -1, 0], 6)
        spec: Json = {"spec-id": choices.one([0, 1, 7]), "fields": fields}
        return choices.damaged(spec) if choices.seldom(40) else spec

    def order(self, schema: Json) -> Json:
        """A sort order over a schema."""
        choices = self._choices
        fields = [
            {"transform": self._transform(), "source-id": self._source(schema),
             "direction": choices.mostly(["asc", "desc"], ["ASC", "up"], 30),
             "null-order": choices.mostly(["nulls-first", "nulls-last"], ["nulls", None], 40)}
            for _ in range(choices.number(0, 2))
        ]  # fmt: skip
        usual = [1, 3] if fields else [0]
        return {"order-id": choices.mostly(usual, [0, 1, -1], 20), "fields": fields}

    def _source(self, schema: Json) -> int:
        plain: list[int] = [f["id"] for f in schema["fields"] if isinstance(f["type"], str)]
        every = [column.id for column in columns(schema["fields"])]
        return self._choices.mostly(plain, [*every, 99], 16)

    def _transform(self) -> str:
        usual = ["identity", "identity", "identity", "bucket[4]", "void"]
        return self._choices.mostly(
            usual, self._choices.mostly([TRANSFORMS], [ODD_TRANSFORMS], 6), 8
        )
