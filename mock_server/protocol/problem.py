"""A refused request as a value: the status, type name and message of a documented error reply."""

from collections.abc import Sequence

_MESSAGE_LENGTH_MAX = 1000


class Problem(Exception):
    """An error reply of the Iceberg REST protocol (document L1915, `ErrorModel`).

    `status` is the HTTP status and the body's `code`; `type` is the body's `type`. A message that
    contains a very long name is cut off. `is_malformed`: the request could not even be read.
    """

    def __init__(
        self,
        status: int,
        type: str,  # noqa: A002
        message: str,
        *,
        is_malformed: bool = False,
    ) -> None:
        if len(message) > _MESSAGE_LENGTH_MAX:
            message = f"{message[:_MESSAGE_LENGTH_MAX]}..."
        super().__init__(message)
        self.status = status
        self.type = type
        self.message = message
        self.is_malformed = is_malformed

    def __repr__(self) -> str:
        """Show the content of the reply."""
        return f"Problem({self.status}, {self.type!r}, {self.message!r})"


def _dotted(namespace: Sequence[str]) -> str:
    return ".".join(namespace)


def bad_request(message: str, type: str = "BadRequestException") -> Problem:  # noqa: A002
    """Return 400: the request is malformed or asks for something invalid (L4512)."""
    return Problem(400, type, message)


def malformed(why: object) -> Problem:
    """Return 400: the request cannot be read as what the document describes (L4512)."""
    message = f"Malformed request: {why}"
    return Problem(400, "BadRequestException", message, is_malformed=True)


def not_authorized(message: str) -> Problem:
    """Return 401: credentials are missing or wrong (L4540)."""
    return Problem(401, "NotAuthorizedException", message)


def forbidden(message: str) -> Problem:
    """Return 403, with the reference's type: the credentials do not permit this (L4548)."""
    return Problem(403, "ForbiddenException", message)


def no_such_warehouse(name: str) -> Problem:
    """Return 404: the server has no warehouse of this name (1.11.0, L165)."""
    return Problem(404, "NoSuchWarehouseException", f"Unknown warehouse: {name}")


def no_such_namespace(namespace: Sequence[str]) -> Problem:
    """Return 404: the namespace, given as its levels, does not exist (L4865)."""
    return Problem(
        404, "NoSuchNamespaceException", f"Namespace does not exist: {_dotted(namespace)}"
    )


def no_such_table(namespace: Sequence[str], name: str) -> Problem:
    """Return 404: no table has this name (L4845)."""
    identifier = _dotted((*namespace, name))
    return Problem(404, "NoSuchTableException", f"Table does not exist: {identifier}")


def no_such_view(namespace: Sequence[str], name: str) -> Problem:
    """Return 404: no view has this name (L4855)."""
    identifier = _dotted((*namespace, name))
    return Problem(404, "NoSuchViewException", f"View does not exist: {identifier}")


def already_exists(message: str) -> Problem:
    """Return 409: the name is taken; the message says what kind of object has it (L4815, L4899)."""
    return Problem(409, "AlreadyExistsException", message)


def namespace_not_empty(namespace: Sequence[str]) -> Problem:
    """Return 409: the namespace is not empty (L4875)."""
    return Problem(
        409, "NamespaceNotEmptyException", f"Namespace {_dotted(namespace)} is not empty."
    )


def commit_failed(message: str) -> Problem:
    """Return 409: an assertion of a commit does not hold; the client may retry (L1049)."""
    return Problem(409, "CommitFailedException", message)


def unprocessable(message: str) -> Problem:
    """Return 422: well-formed but contradictory, e.g. a key both set and removed (L4922)."""
    return Problem(422, "UnprocessableEntityException", message)


def unsupported(message: str) -> Problem:
    """Return 406: the catalog does not offer this (L4572)."""
    return Problem(406, "UnsupportedOperationException", message)
