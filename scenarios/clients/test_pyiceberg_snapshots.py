"""Checks of PyIceberg's branches, tags and expired snapshots."""

from icecheck.client.catalog import Catalog
from icecheck.scenarios.clients.observing import (
    appended,
    created,
    expect,
    expect_rows,
    main_of,
    pyiceberg_check,
    ref_of,
    rows,
    seen,
)
from icecheck.witnesses.pyiceberg_client import pyiceberg


@pyiceberg_check("branch", needs=("branches",))
def test_branch(catalog: Catalog) -> None:
    """PyIceberg writes to a branch, which main does not notice, and removes the branch."""
    with pyiceberg(catalog) as client:
        table = created(client)
        main = main_of(appended(client, table, 1))
        with client.step("create a branch", capability="branches") as sent:
            table.manage_snapshots().create_branch(main, "audit").commit()
        metadata = seen(client, table, sent, "set-snapshot-ref")
        expect("the branch begins at main", main, ref_of(metadata, "audit"), client)
        with client.step("append to a branch") as sent:
            table.append(rows(2), branch="audit")
        metadata = seen(client, table, sent, "add-snapshot", "set-snapshot-ref")
        expect("main stays", main, main_of(metadata), client)
        expect_rows(client, table, 1)
        expect_rows(client, table, 1, 2, snapshot_id=ref_of(metadata, "audit"))
        with client.step("remove a branch") as sent:
            table.manage_snapshots().remove_branch("audit").commit()
        metadata = seen(client, table, sent, "remove-snapshot-ref")
        expect("no branch", None, ref_of(metadata, "audit"), client)
        expect("main stays", main, main_of(metadata), client)


@pyiceberg_check("tag", needs=("tags", "snapshot-history"))
def test_tag(catalog: Catalog) -> None:
    """PyIceberg tags a snapshot, which stays readable while main goes on, and removes the tag."""
    with pyiceberg(catalog) as client:
        table = created(client)
        first = main_of(appended(client, table, 1))
        with client.step("create a tag", capability="tags") as sent:
            table.manage_snapshots().create_tag(first, "v1").commit()
        seen(client, table, sent, "set-snapshot-ref")
        metadata = appended(client, table, 2)
        expect("the tag stays", first, ref_of(metadata, "v1"), client)
        expect_rows(client, table, 1, snapshot_id=first)
        expect_rows(client, table, 1, 2)
        with client.step("remove a tag") as sent:
            table.manage_snapshots().remove_tag("v1").commit()
        metadata = seen(client, table, sent, "remove-snapshot-ref")
        expect("no tag", None, ref_of(metadata, "v1"), client)


@pyiceberg_check("expire-snapshots", needs=("snapshot-history",))
def test_expire_snapshots(catalog: Catalog) -> None:
    """PyIceberg expires a snapshot: that one is gone, and no other, and all rows are there."""
    with pyiceberg(catalog) as client:
        table = created(client)
        first, gone, last = (main_of(appended(client, table, each)) for each in (1, 2, 3))
        with client.step("expire a snapshot") as sent:
            table.maintenance.expire_snapshots().by_id(gone).commit()
        metadata = seen(client, table, sent, "remove-snapshots")
        left = sorted(str(each["snapshot-id"]) for each in metadata.get("snapshots") or ())
        expect("the snapshots left", sorted(map(str, (first, last))), left, client)
        expect("main stays", last, main_of(metadata), client)
        expect_rows(client, table, 1, 2, 3)
