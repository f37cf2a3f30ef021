"""A check made by hand, judged on a catalog whose answers a test makes up."""

from icecheck.findings.verdict import Group
from icecheck.judging.check import check, check_of
from icecheck.judging.judge import judge
from tests.kit.contracts import CONTRACT

TOKEN = "tok-canary-1"
PROVES = ("createNamespace.409", "createNamespace.200")
ANSWERED = {"namespaces": []}


def declared(body, **settings):
    def test_something(catalog, **resources):
        """Something holds."""
        body(catalog, **resources)

    given = {"proves": PROVES, "group": Group.SCENARIOS, **settings}
    return check_of(check("some.check", **given)(test_something), CONTRACT)


def judged(catalog, body, **settings):
    return judge(declared(body, **settings), catalog)
