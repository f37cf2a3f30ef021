"""Checks of scans whose plans come with credentials for their files (1.11.0, L3599-L3608)."""

from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_table
from icecheck.client.planned_scan import Planned, expect_state, planned
from icecheck.client.sender import ASKING_FOR_CREDENTIALS, DELEGATION_HEADER
from icecheck.conformance.kit.manifest_files import POSITION_DELETES, PlannedFile, given_files
from icecheck.conformance.scans.planned_files import MANY, PLANNED_FILES, V2
from icecheck.findings.symptoms import Severity, declare
from icecheck.judging.check import check
from icecheck.objects.metadata_view import place
from icecheck.objects.reading import not_applicable, object_in
from icecheck.replies.expect import equal
from icecheck.replies.matching import show

_PLAN_WITHOUT_ACCESS = declare(
    "plan-without-access",
    "Plans files for which none of the credentials that come with the plan is",
    Severity.REFUSED,
    "Java's client: has no access to the data",
)
_CREDENTIALS_OF_A_PLAN = declare(
    "credentials-of-a-plan",
    "Gives no credentials for a plan that came with some",
    Severity.REFUSED,
    "Java's client: scans that outlast the credentials of their plan fail",
)

_SEVERAL = {DELEGATION_HEADER: "vended-credentials,remote-signing"}
_CREDENTIALS = "storage-credentials"


@check("planTableScan.access-delegation-list")
def test_several_mechanisms_are_named(catalog: Catalog) -> None:
    """Naming several access delegation mechanisms never fails a plan, nor the question for one."""
    table = shared_table(catalog)
    reply = catalog.plan_table_scan(table, _SEVERAL).expect(200)
    expect_state(reply, "completed", "submitted")
    plan_id = object_in(reply).get("plan-id")
    if not isinstance(plan_id, str):
        return
    asked = catalog.fetch_planning_result(table, plan_id, _SEVERAL)
    # What was told in one answer need not be kept: then there is no plan to ask for, ever.
    if asked.status == 200 or catalog.fetch_planning_result(table, plan_id).status == 200:
        expect_state(asked.expect(200), "completed", "submitted", "cancelled")


@check("planTableScan.storage-credentials", needs=V2)
def test_credentials_are_for_the_files_of_the_plan(catalog: Catalog) -> None:
    """A plan that comes with storage-credentials has one for each of its files."""
    with given_files(catalog) as files:
        files.append(PlannedFile("a.parquet"), PlannedFile("b.parquet", "b"))
        files.append(PlannedFile("d.parquet", content=POSITION_DELETES))
        found = planned(catalog, files.table, ASKING_FOR_CREDENTIALS)
        prefixes = [place(each.get("prefix")) for each in _credentials_in(found)]
        deletes = [path for each in found.locations for path in found.deletes_of(each)]
        for location in (*found.locations, *deletes):
            if not any(place(location).startswith(prefix) for prefix in prefixes):
                raise found.completed.violation(
                    _PLAN_WITHOUT_ACCESS,
                    "a prefix of the file's location",
                    "prefixes of other places",
                    pointer=f"/{_CREDENTIALS}",
                    detail=f"the file is {show(location)}, the prefixes are {show(prefixes)}",
                )


@check("planTableScan.every-file-with-credentials", needs=V2)
def test_credentials_cost_no_files(catalog: Catalog) -> None:
    """A plan that comes with storage-credentials has every file that it has without."""
    with given_files(catalog) as files:
        files.append(*(PlannedFile(f"{number:03}.parquet") for number in range(MANY)))
        found = planned(catalog, files.table, ASKING_FOR_CREDENTIALS)
        _credentials_in(found)
        without = planned(catalog, files.table)
        names = [files.names_of(each.locations) for each in (found, without)]
        equal(*names, symptom=PLANNED_FILES, detail="with credentials, as without")


@check("loadCredentials.of-a-plan")
def test_credentials_of_a_plan(catalog: Catalog) -> None:
    """Credentials are given again to who names the plan that came with some."""
    table = shared_table(catalog)
    found = planned(catalog, table, ASKING_FOR_CREDENTIALS)
    _credentials_in(found)
    if not isinstance(found.plan_id, str):
        raise not_applicable("the plan has no id: another check judges that")
    query = [("planId", found.plan_id)]
    reply = catalog.load_credentials(table.namespace, table.name, query)
    reply.expect(200, detail="with the plan-id of a plan")
    if not object_in(reply).get(_CREDENTIALS):
        raise reply.violation(
            _CREDENTIALS_OF_A_PLAN, "credentials", "none", pointer=f"/{_CREDENTIALS}"
        )


def _credentials_in(found: Planned) -> list[dict[str, Any]]:
    """Return the credentials that came with a plan; end the check where none did."""
    listed = object_in(found.completed).get(_CREDENTIALS)
    if not isinstance(listed, list) or not (vended := [e for e in listed if isinstance(e, dict)]):
        raise not_applicable("the catalog vends no credentials with plans")
    return vended
