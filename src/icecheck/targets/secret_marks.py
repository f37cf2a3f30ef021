"""The marks that stand for secrets in what is shown, and texts compared without them."""

import re
from hashlib import blake2s
from secrets import token_bytes

_KEY_BYTES = 32
_DIGEST_BYTES = 4
_MARK = re.compile(rf"<redacted:(?:[a-z]+:)?[0-9a-f]{{{2 * _DIGEST_BYTES}}}>")
# Also where a text was cut, in a form or a query, and with the shorter digests of earlier versions.
_ANY_MARK = re.compile(
    r"(?:<|%3C)redacted(?::|%3A)(?:[a-z]+(?::|%3A))?[0-9a-f]*(?:>|%3E)?", re.IGNORECASE
)


class SecretMarks:
    """Makes a mark for each secret: a MAC of it under a key, so that equal secrets stay equal.

    The key is random unless it is given, and written nowhere: who has only a report cannot try
    which secret a mark stands for. All processes of one run share the key.
    """

    __slots__ = ("_empty", "_key")

    def __init__(self, key: bytes | None = None) -> None:
        self._key = token_bytes(_KEY_BYTES) if key is None else key
        self._empty = blake2s(key=self._key, digest_size=_DIGEST_BYTES)

    @property
    def handed(self) -> str:
        """The key as text, to be handed to another process of the run and shown nowhere."""
        return self._key.hex()

    @classmethod
    def from_handed(cls, text: str) -> "SecretMarks":
        """Return the marks of the process that has handed this text."""
        return cls(bytes.fromhex(text))

    def of(self, secret: str, whose: str = "") -> str:
        """Return the mark of a secret; a mark is returned as it is.

        ``whose`` says in the mark whose secret it is, in a word.
        """
        if is_mark(secret):
            return secret
        made = self._empty.copy()
        made.update(secret.encode("utf-8", "backslashreplace"))
        return f"<redacted:{f'{whose}:' if whose else ''}{made.hexdigest()}>"


def is_mark(text: str) -> bool:
    """Return whether a text is a mark and nothing else."""
    return text.startswith("<redacted:") and _MARK.fullmatch(text) is not None


def without_marks(text: str) -> str:
    """Return a text with the same words for every secret: its mark differs from run to run."""
    return _ANY_MARK.sub("<redacted>", text) if "redacted" in text else text
