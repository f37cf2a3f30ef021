"""URLs in running text that give access: signed ones, and those with a user or a password."""

import base64
import re
from collections.abc import Callable

from icecheck.targets.secret_names import is_secret_key, names_signature

_SIGNATURE = re.compile(
    r"(?:(?<![a-z])|(?<=%3f)|(?<=253f))sig(?:nature)?(?:=|%(?:25)*3d)", re.IGNORECASE
)
# The beginning of a URL in base64 and in hex.
_CODED = re.compile(r"aHR0c[A-Za-z0-9+/_-]{20,}=*|68747470(?:[0-9a-fA-F]{2}){12,}")
_PIECES = re.compile(r"""([\s"'<>\\]+)""")
_PARAMETER_NAME = re.compile(r"""[?&;]([^?&;=#\s"'<>\\]+)=""")
_PARAMETER = re.compile(r"([?&;])([^?&;=#]+)=([^&;#]+)")


def may_give_access(text: str) -> bool:
    """Return whether a text may hold a URL that gives access; of most texts this is told fast.

    Whole bodies are asked about, and those of tables are full of locations.
    """
    if names_signature(text.lower()):
        return True
    if "://" in text and ("@" in text or any(map(is_secret_key, _PARAMETER_NAME.findall(text)))):
        return True
    return ("aHR0c" in text or "68747470" in text) and _CODED.search(text) is not None


def without_access(text: str, mark_of: Callable[[str], str]) -> str:
    """Return a text with marks in place of what its URLs give access by."""
    return "".join(_unsigned(piece, mark_of) for piece in _PIECES.split(text))


def _unsigned(piece: str, mark_of: Callable[[str], str]) -> str:
    """Return a piece of text without the signed query, the user or the passwords of a URL."""
    piece = _CODED.sub(lambda match: _without_coded(match[0], mark_of), piece)
    if _SIGNATURE.search(piece):
        place, mark, query = piece.partition("?")
        return f"{place}?{mark_of(query)}" if mark else mark_of(piece)
    scheme, found, rest = piece.partition("://")
    if not found:
        return piece
    user = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[0]
    if ":" in user:
        rest = f"{mark_of(user)}@{rest[len(user) + 1 :]}"
    # Addresses of databases have parameters behind a semicolon too, without a question mark.
    rest = _PARAMETER.sub(
        lambda match: (
            f"{match[1]}{match[2]}={mark_of(match[3])}" if is_secret_key(match[2]) else match[0]
        ),
        rest,
    )
    return f"{scheme}://{rest}"


def _without_coded(code: str, mark_of: Callable[[str], str]) -> str:
    """Return base64 or hex as it is, or hidden if it is a URL that gives access."""
    if code.startswith("aHR0c"):
        letters = code.rstrip("=")
        url = base64.b64decode(letters[: len(letters) // 4 * 4], altchars=b"-_")
    else:
        url = bytes.fromhex(code)
    shown = url.decode("latin-1")
    return mark_of(code) if "@" in shown or without_access(shown, mark_of) != shown else code
