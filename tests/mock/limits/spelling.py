"""How a text may be spelled so that a reader knows it, and a plain search does not find it."""

import base64
import html
from collections.abc import Iterator
from urllib.parse import quote, quote_plus


def written(secret: str) -> Iterator[str]:
    """Yield a secret as a catalog may write it into a string of an answer."""
    data = secret.encode()
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield "".join(f"%{byte:02X}" for byte in data)
    yield "".join(f"%{byte:02x}" for byte in data)
    yield quote("".join(f"%{byte:02X}" for byte in data))
    yield quote(quote(secret, safe=""))
    yield "".join(f"%25{byte:02x}" for byte in data)
    yield data.hex()
    yield data.hex().upper()
    for before in (b"", b"i", b"id", b"id:"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            code = encode(before + data).decode()
            yield code
            yield code.rstrip("=")
            yield f"Basic {code}"
        yield quote(base64.b64encode(before + data + b"tail").decode(), safe="")
    yield "".join(f"\\u{ord(c):04x}" for c in secret)
    yield "".join(f"\\u{ord(c):04X}" for c in secret)
    yield "".join(f"&#{ord(c)};" for c in secret)
    yield "".join(f"&#x{ord(c):x};" for c in secret)
    yield html.escape(secret)
    for code in ("utf-16-le", "utf-16-be", "utf-16"):
        yield secret.encode(code).decode("latin-1")


def traces(secret: str, characters: int = 8) -> Iterator[bytes]:
    """Yield what is in a file that tells the beginning of a secret, in whatever spelling."""
    data = secret[:characters].encode()
    yield data
    yield "".join(f"%{byte:02X}" for byte in data).encode()
    yield "".join(f"%{byte:02x}" for byte in data).encode()
    yield "".join(f"%25{byte:02X}" for byte in data).encode()
    yield "".join(f"%25{byte:02x}" for byte in data).encode()
    yield data.hex().encode()
    yield data.hex().upper().encode()
    # What a longer text has in common with this, wherever in it the secret begins.
    for offset in range(3):
        code = base64.b64encode(b"\0" * offset + data)
        sure = code[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        yield from (sure, sure.translate(bytes.maketrans(b"+/", b"-_")))
    for spelled in (
        "".join(f"\\u{byte:04x}" for byte in data),
        "".join(f"\\u{byte:04X}" for byte in data),
        "".join(f"&#{byte};" for byte in data),
        "".join(f"&#x{byte:x};" for byte in data),
        "\0".join(data.decode()),
        "\\u0000".join(data.decode()),
    ):
        yield spelled.encode()
        yield spelled.replace("\\", "\\\\").encode()
        yield spelled.replace("&", "&amp;").encode()
