"""Warehouses are filled by a short description, and written out and read again as a document."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from icecheck.mock_server import MockCatalog
from icecheck.mock_server.protocol.problem import Problem
from icecheck.mock_server.serving.seeding import SeedUnusable
from icecheck.mock_server.serving.state_documents import StateUnreadable

SEED: dict[str, Any] = {
    "warehouses": {
        "wh": [
            {
                "name": "sales.eu",
                "properties": {"owner": "me"},
                "tables": [
                    {
                        "name": "orders",
                        "columns": {
                            "id": "long",
                            "at": "timestamptz",
                            "tags": {"type": "list", "element-id": 9, "element": "string",
                                     "element-required": False},
                        },
                        "required": ["at"],
                        "identifier": ["id"],
                        "partition": ["day(at)", "bucket[16](id)"],
                        "properties": {"k": "v"},
                    },
                    {"name": "plain", "columns": {"id": "long", "word": "string"}},
                ],
                "views": [{"name": "recent", "sql": "SELECT 1 AS a", "columns": {"a": "int"}}],
            },
            {"name": ["with.dot", "below"]},
        ]
    }
}  # fmt: skip


@pytest.fixture
def mock():
    with MockCatalog() as running:
        yield running


@pytest.mark.parametrize("form", ["mapping", "yaml", "json"])
def test_a_seed_makes_what_it_describes(mock: MockCatalog, tmp_path: Path, form: str) -> None:
    given: Any = SEED
    if form != "mapping":
        given = tmp_path / f"seed.{form}"
        given.write_text(
            json.dumps(SEED) if form == "json" else yaml.safe_dump(SEED, sort_keys=False)
        )
    mock.states.seed(given)
    catalog = mock.pyiceberg("wh")
    table = catalog.load_table("sales.eu.orders")
    assert [(f.name, f.required) for f in table.schema().fields] == [
        ("id", True), ("at", True), ("tags", False),
    ]  # fmt: skip
    assert table.schema().identifier_field_ids == [1]
    assert [(f.name, str(f.transform)) for f in table.spec().fields] == [
        ("at_day", "day"), ("id_bucket", "bucket[16]"),
    ]  # fmt: skip
    assert table.properties["k"] == "v"
    assert catalog.list_views(("sales", "eu")) == [("sales", "eu", "recent")]
    assert catalog.load_namespace_properties(("sales", "eu"))["owner"] == "me"
    assert ("with.dot", "below") in catalog.list_namespaces(("with.dot",))
    catalog.load_table("sales.eu.plain").append(pa.table({"id": [1], "word": ["x"]}))


def test_what_there_is_already_stays(mock: MockCatalog) -> None:
    mock.states.seed(SEED)
    uuid = mock.pyiceberg("wh").load_table("sales.eu.plain").metadata.table_uuid
    more = {"name": "sales.eu", "tables": [{"name": "more", "columns": {"id": "int"}}]}
    mock.states.seed({"warehouses": {"wh": [more], "another": [{"name": "db"}]}})
    assert mock.pyiceberg("wh").load_table("sales.eu.plain").metadata.table_uuid == uuid
    assert mock.pyiceberg("wh").table_exists("sales.eu.more")
    assert mock.state("another").namespace(("db",)) is not None
    before = mock.states.export()
    mock.states.seed({"warehouses": {"wh": [more]}})
    assert mock.states.export() == before
    view = {"name": "sales.eu", "views": [{"name": "more", "sql": "SELECT 1", "columns": {}}]}
    with pytest.raises(SeedUnusable, match=r"wh\[0\]\.views\[0\]: .*already exists"):
        mock.states.seed({"warehouses": {"wh": [view]}})


@pytest.mark.parametrize(("prefix", "names"), [(True, ("", "warehouse")), (False, ("a", "b"))])
def test_two_names_may_mean_one_warehouse(prefix: bool, names: tuple[str, str]) -> None:
    mock = MockCatalog(prefix=prefix, root="memory://root")
    mock.states.seed({"warehouses": {name: [{"name": f"in{at}"}] for at, name in enumerate(names)}})
    assert len(mock.state().namespaces) == 2


def test_a_warehouse_that_was_forgotten_comes_back_with_a_snapshot(mock: MockCatalog) -> None:
    mock.states.seed(SEED)
    snapshot = mock.snapshot()
    mock.remove("wh")
    mock.restore(snapshot)
    assert mock.pyiceberg("wh").namespace_exists(("sales", "eu"))


TABLE = {"name": "t", "columns": {"id": "long"}}


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        ({}, "warehouses"),
        ([], "object"),
        (
            {"warehouses": {"wh": [{"name": "x", "tabels": []}]}},
            r"^\$\.warehouses\.wh\[0\]: .*tabels",
        ),
        (
            {"warehouses": {"wh": [{"name": "x", "tables": [{"columns": {}}]}]}},
            r"^\$\.warehouses\.wh\[0\]\.tables\[0\]: .*name",
        ),
        ([{"columns": {"id": "lnog"}}], r"\$\.warehouses\.wh\[1\]\.tables\[0\]: .*lnog"),
        ([{"partition": ["day(at)"]}], r"tables\[0\]: table t: no partition by 'day\(at\)'"),
        ([{"required": ["di"]}], "there is no column 'di'"),
        ([{"location": "s3://elsewhere/x"}, {"name": ""}], r"tables\[1\]"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_made(mock: MockCatalog, seed: Any, said: str) -> None:
    if isinstance(seed, list) and seed:
        tables = [TABLE | changed for changed in seed]
        seed = {"warehouses": {"wh": [{"name": "good"}, {"name": "bad", "tables": tables}]}}
    with pytest.raises(SeedUnusable, match=said):
        mock.states.seed(seed)
    assert len(mock.state("wh").namespaces) == 0
    root = Path(mock.warehouses.open("wh").context.location.removeprefix("file://"))
    assert list(root.rglob("*.metadata.json")) == []


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("seed.yaml", "warehouses: [", "line 1"),
        ("seed.json", "{", "no JSON: .*line 1 column 2"),
        ("seed.json", '{"warehouses":\n{"a": [],\n"a": []}}', "'a' stands twice"),
        ("seed.yaml", "warehouses:\n  a: []\n  b: []\n  a: []", "'a' stands there twice.*line 4"),
        (
            "seed.yaml",
            "warehouses:\n  a: []\n  b:\n  - name: x\n    tables:\n    - {name: t, oops: 1}",
            r"seed\.yaml, line 6: \$\.warehouses\.b\[0\]\.tables\[0\]: .*oops",
        ),
        (
            "seed.json",
            '{"warehouses":\n{"a":\n[{"name": "x",\n"views": 5}]}}',
            r"seed\.json, line 4: \$\.warehouses\.a\[0\]\.views: .*array",
        ),
        (
            "seed.yaml",
            "warehouses:\n  a:\n  - name: x\n    tables:\n    - name: t\n      columns: {id: lnog}",
            r"seed\.yaml, line 5: \$\.warehouses\.a\[0\]\.tables\[0\]: .*lnog",
        ),
        ("seed.toml", "", "a .yaml or a .json file"),
        ("missing.yaml", None, "cannot be read"),
        ("seed.yaml", "- 1", "object"),
    ],
)
def test_a_file_that_is_none_is_named(
    mock: MockCatalog, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(SeedUnusable, match=said):
        mock.states.seed(tmp_path / name)


def test_a_declared_warehouse_is_the_only_one_that_is_filled() -> None:
    mock = MockCatalog(warehouses=["one"])
    with pytest.raises(Problem, match="Unknown warehouse"):
        mock.states.seed({"warehouses": {"one": [{"name": "db"}], "two": [{"name": "db"}]}})
    assert len(mock.state("one").namespaces) == 0


def test_a_state_is_read_again_here_and_elsewhere(mock: MockCatalog) -> None:
    mock.states.seed(SEED)
    catalog = mock.pyiceberg("wh")
    catalog.load_table("sales.eu.plain").append(pa.table({"id": [1, 2], "word": ["x", "y"]}))
    document = mock.states.export()
    catalog.drop_table("sales.eu.plain")
    catalog.create_namespace("later")
    mock.states.load(document)
    assert mock.states.export() == document
    assert catalog.load_table("sales.eu.plain").scan().to_arrow().num_rows == 2
    assert not catalog.namespace_exists("later")
    with MockCatalog() as other:
        other.states.load(json.loads(document))
        table = other.pyiceberg("wh").load_table("sales.eu.plain")
        assert len(table.snapshots()) == 1
        root = other.warehouses.open("wh").context.location
        assert table.metadata_location.startswith(f"{root}/")
        assert table.location().startswith(f"{root}/")
        assert Path(table.metadata_location.removeprefix("file://")).exists()
        table.append(pa.table({"id": [3], "word": ["z"]}))
        assert table.scan().to_arrow().num_rows == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.update({"icecheck-state": 9}), "version 9"),
        (lambda d: d.update({"more": 1}), "more"),
        (lambda d: d["warehouses"]["wh"].pop("location"), "location"),
        (lambda d: table_of(d).pop("metadata"), "metadata"),
        (lambda d: table_of(d)["metadata"].pop("table-uuid"), "cannot be served"),
        (lambda d: table_of(d).update({"metadata-location": "file:///etc/x"}), "file:///etc/x"),
        (lambda d: table_of(d).update({"metadata": 5}), "cannot be served"),
        (lambda d: table_of(d).update({"metadata-location": "x/y"}), "no place"),
        (lambda d: table_of(d).update({"name": ""}), "cannot be empty"),
        (lambda d: d["warehouses"]["wh"]["namespaces"][0].update({"namespace": []}), "level"),
        (
            lambda d: d["warehouses"]["wh"]["namespaces"][0].update({"namespace": ["a", ""]}),
            "level",
        ),
    ],
)
def test_a_state_with_a_mistake_changes_nothing(mock: MockCatalog, change: Any, said: str) -> None:
    mock.states.seed(SEED)
    before = mock.states.export()
    document = json.loads(before)
    change(document)
    with pytest.raises(StateUnreadable, match=said):
        mock.states.load(document)
    assert mock.states.export() == before


@pytest.mark.parametrize("why", ["place", "full disk"])
def test_a_refused_state_has_written_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    mock = MockCatalog(root=tmp_path)
    mock.states.seed(SEED)
    mock.states.seed({"warehouses": {"zz": SEED["warehouses"]["wh"]}})
    document = json.loads(mock.states.export())
    for name in ("wh", "zz"):
        for space in document["warehouses"][name]["namespaces"]:
            for each in space["tables"]:
                each["metadata"]["properties"]["k"] = "from the refused document"
    if why == "place":
        refused = table_of({"warehouses": {"wh": document["warehouses"]["zz"]}})
        refused["metadata-location"] = "file:///etc/x.metadata.json"
    files = {each: each.read_bytes() for each in tmp_path.rglob("*.metadata.json")}
    before = mock.states.export()
    replace, replaced = os.replace, []

    def full_at_last(source: str, target: str) -> None:
        replaced.append(target)
        if len(replaced) > 2:
            raise OSError("no space left")
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full_at_last)
        with pytest.raises(StateUnreadable, match="/etc/x" if why == "place" else "no space"):
            mock.states.load(document)
    assert len(replaced) == (0 if why == "place" else 3)
    assert {each: each.read_bytes() for each in tmp_path.rglob("*.metadata.json")} == files
    assert mock.states.export() == before


def test_two_tables_of_a_document_at_one_place_get_a_file_each(tmp_path: Path) -> None:
    mock = MockCatalog(root=tmp_path)
    mock.states.seed(SEED)
    document = json.loads(mock.states.export())
    mock.stop()
    first, second = next(
        each["tables"] for each in document["warehouses"]["wh"]["namespaces"] if each["tables"]
    )
    second["metadata-location"] = first["metadata-location"]
    other = MockCatalog(root=tmp_path / "other", keep=True)
    other.states.load(document)
    loaded = json.loads(other.states.export())["warehouses"]["wh"]["namespaces"]
    other.stop()
    again = MockCatalog(root=tmp_path / "other", keep=True)
    assert json.loads(again.states.export())["warehouses"]["wh"]["namespaces"] == loaded
    tables = next(each["tables"] for each in loaded if each["tables"])
    assert len({each["metadata-location"] for each in tables}) == 2
    assert len({each["metadata"]["table-uuid"] for each in tables}) == 2
    again.stop()


def table_of(document: Any) -> Any:
    spaces = document["warehouses"]["wh"]["namespaces"]
    return next(each for each in spaces if each["tables"])["tables"][0]
