"""A defect is a function of what it replaces; where it takes effect is said in its declaration."""

import pytest

from icecheck.mock_server.core.context import Call, Outcome, Registries
from icecheck.mock_server.core.state import WarehouseState
from icecheck.mock_server.defects.kit import declaring
from icecheck.mock_server.defects.kit.declaring import by, declare, declare_each, defect, through
from icecheck.mock_server.defects.kit.places import table_update
from icecheck.mock_server.defects.kit.rewriting import Faithful, answer_status, wrap
from icecheck.mock_server.operations.served import default_registries
from tests.kit.contracts import CONTRACT


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> dict[str, declaring.Defect]:
    monkeypatch.setattr(declaring, "_DEFECTS", {})
    return declaring.declared()


def replaced_by(install: declaring.Install) -> set[tuple[str, str]]:
    faithful, registries = (default_registries(CONTRACT.version) for _ in range(2))
    install(registries)
    return {
        (name, entry)
        for name in Registries.__struct_fields__
        for entry, served in getattr(registries, name).items()
        if served is not getattr(faithful, name)[entry]
    }


def refuse(faithful: Faithful, state: WarehouseState, call: Call) -> Outcome:
    """Is refused, without a reason.

    More is said here.
    """
    return faithful(state, call)


@pytest.mark.parametrize("on", ["renameTable", ("renameTable", "renameView")])
def test_a_defect_of_operations_replaces_these_alone(declared, on) -> None:
    assert defect("of-operations", on=on, breaks="renameTable.204", suffering="All.")(refuse)
    named = {on} if isinstance(on, str) else set(on)
    assert replaced_by(declared["of-operations"].install) == {("operations", n) for n in named}


def test_a_defect_of_a_place_replaces_what_stands_there(declared) -> None:
    place = table_update("add-schema")
    defect("of-an-update", on=place, breaks="update.add-schema.effect", suffering="All.")(
        lambda faithful, update, draft: faithful(update, draft)
    )
    assert replaced_by(declared["of-an-update"].install) == {("updates", "add-schema")}


def test_a_building_block_that_takes_a_function_is_a_place(declared) -> None:
    place = through(wrap, "dropView")
    defect("through", on=place, breaks="dropView.204", suffering="All.")(refuse)
    assert replaced_by(declared["through"].install) == {("operations", "dropView")}


def test_a_building_block_alone_is_a_defect(declared) -> None:
    install = by(answer_status, "dropTable", 200)
    declare("block", "A drop is answered 200.", install, breaks="dropTable.204", suffering="All.")
    assert replaced_by(declared["block"].install) == {("operations", "dropTable")}


def test_a_defect_has_the_first_line_as_its_title_and_knows_its_module(declared) -> None:
    defect("function", on="dropTable", breaks="dropTable.204", suffering="All.")(refuse)
    declare("block", "Is slow.", lambda _: None, breaks="dropTable.204", suffering="All.")
    declare_each(("row", "dropTable.204", "Is in a table.", "All.", lambda _: None))
    assert declared["function"].title == "Is refused, without a reason"
    assert declared["block"].title == "Is slow"
    assert declared["row"].title == "Is in a table"
    assert {each.module for each in declared.values()} == {__name__}


def test_two_defects_cannot_have_one_name(declared) -> None:
    declare("same", "Is slow.", lambda _: None, breaks="dropTable.204", suffering="All.")
    with pytest.raises(ValueError, match="same"):
        defect("same", on="dropTable", breaks="dropTable.204", suffering="All.")(refuse)
