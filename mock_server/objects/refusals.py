"""Refusals of the object store, in the words and the XML of S3."""

from xml.sax.saxutils import escape

from icecheck.mock_server.protocol.wire import Reply


class S3Refusal(Exception):
    """Raised for a request that the object store does not carry out; `code` is one of S3's."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def access_denied(message: str) -> S3Refusal:
    """Return the refusal of a request that its sender may not make."""
    return S3Refusal(403, "AccessDenied", message)


def invalid(message: str) -> S3Refusal:
    """Return the refusal of a request that cannot be understood."""
    return S3Refusal(400, "InvalidRequest", message)


def refusal_reply(refusal: S3Refusal) -> Reply:
    """Return the answer with S3's error document."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in refusal.message)
    body = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{refusal.code}</Code><Message>{escape(shown)}</Message></Error>"
    )
    content = body.encode(errors="replace")
    return Reply(refusal.status, (("content-type", "application/xml"),), content)
