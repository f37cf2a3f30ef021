"""Problems: statuses and type names as the document's examples have them."""

import pytest

from icecheck.mock_server.protocol import problem

NAMESPACE = ("sales", "eu")


@pytest.mark.parametrize(
    ("made", "status", "type_name", "message"),
    [
        (problem.bad_request("m"), 400, "BadRequestException", "m"),
        (problem.bad_request("m", type="IllegalArgumentException"), 400,
         "IllegalArgumentException", "m"),
        (problem.not_authorized("m"), 401, "NotAuthorizedException", "m"),
        (problem.forbidden("m"), 403, "ForbiddenException", "m"),
        (problem.no_such_namespace(NAMESPACE), 404, "NoSuchNamespaceException",
         "Namespace does not exist: sales.eu"),
        (problem.no_such_table(NAMESPACE, "t"), 404, "NoSuchTableException",
         "Table does not exist: sales.eu.t"),
        (problem.no_such_view(NAMESPACE, "v"), 404, "NoSuchViewException",
         "View does not exist: sales.eu.v"),
        (problem.unsupported("m"), 406, "UnsupportedOperationException", "m"),
        (problem.already_exists("m"), 409, "AlreadyExistsException", "m"),
        (problem.namespace_not_empty(NAMESPACE), 409, "NamespaceNotEmptyException",
         "Namespace sales.eu is not empty."),
        (problem.commit_failed("m"), 409, "CommitFailedException", "m"),
        (problem.unprocessable("m"), 422, "UnprocessableEntityException", "m"),
    ],
)  # fmt: skip
def test_a_problem_carries_status_type_and_message(made, status, type_name, message):
    assert (made.status, made.type, made.message) == (status, type_name, message)
    assert str(made) == message
    assert repr(made) == f"Problem({status}, {type_name!r}, {message!r})"
