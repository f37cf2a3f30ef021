"""A check made by hand, judged on a catalog whose answers a test makes up; and such an answer."""

import json

from icecheck.findings.verdict import Group
from icecheck.judging.check import check, check_of
from icecheck.judging.judge import judge
from icecheck.replies.expect import Reply
from icecheck.replies.schema import schema_judge
from icecheck.wire.exchange import Exchange, Step
from tests.kit.contracts import CONTRACT

TOKEN = "tok-canary-1"
PROVES = ("createNamespace.409", "createNamespace.200")
ORDINAL = 3
ANSWERED = {"namespaces": []}


def declared(body, **settings):
    def test_something(catalog, **resources):
        """Something holds."""
        body(catalog, **resources)

    given = {"proves": PROVES, "group": Group.SCENARIOS, **settings}
    return check_of(check("some.check", **given)(test_something), CONTRACT)


def judged(catalog, body, **settings):
    return judge(declared(body, **settings), catalog)


def reply(body, status=200, operation="getConfig", media="application/json"):
    """An answer to be judged, the third exchange of a check."""
    exchange = Exchange(
        check="some.check",
        ordinal=ORDINAL,
        step=Step.DO,
        operation=operation,
        method="GET",
        url="http://h/v1/config",
        request_headers=(),
        request_body=None,
        status=status,
        response_headers=(("Content-Type", media),),
        response_body=body if isinstance(body, bytes) else json.dumps(body).encode(),
    )
    return Reply(exchange, schema_judge(CONTRACT))
