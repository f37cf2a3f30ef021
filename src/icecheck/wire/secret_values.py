"""Finds known secret values in any text, in any spelling."""

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote, quote_plus, unquote

# Shorter forms occur in texts by chance.
_FORM_CHARACTERS_MIN = 6
_HARMLESS_RUNS_MAX = 50_000
_HEAD_CHARACTERS = 8
_CUT_FORM_MIN = 12
_TEXT_PER_HEAD = 8
_DECODINGS_MAX = 4
_RUN = re.compile(r"[A-Za-z0-9+/=_.~-]{10,}")
_ENCODED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_BREAKS = re.compile(r"""([\s"'<>,{}\[\]()]+)""")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": ""}
_WORD = re.compile(r"[A-Z]+|[A-Z]?[a-z]+(?:[-_ ]?[A-Z]?[a-z]+)*[-_ ]?")
# May end a text that was cut off: half an escape, and then the end of a quotation.
_CUT = re.compile(
    r"""(?:%[0-9A-Fa-f]?|\\u?[0-9a-fA-F]{0,3}|&\#?[0-9A-Za-z]{0,6})?(?:…|\.\.\.|["'`)\]}]|\Z)"""
)


@dataclass(frozen=True, slots=True)
class _Form:
    """One spelling of a value; for an encoded one, the whole code around it is replaced."""

    text: str
    value: str
    encoded: bool


class Seen(Enum):
    """Where a value was vended or shown, with the number of values from there that are remembered.

    An answer with a new cookie each must not make the keys of tables forgotten.
    """

    IN_BODY = "body", 128
    IN_CONFIG = "config", 64
    IN_HEADER = "header", 32
    IN_SIGNED_URL = "signed URL", 64
    IN_REQUEST = "request", 64

    @property
    def most(self) -> int:
        """The number of values that are remembered."""
        return self.value[1]


class SecretValues:
    """Secret values to hide: those that were given, and the last ones that were vended.

    They are found as they are, in base64 at any alignment and in hex, and percent-encoded, escaped
    as in JSON and HTML, or with NULs between the letters as in UTF-16, also nested. ``hidden``
    returns the replacement of a value. Not safe for threads.
    """

    def __init__(self, hidden: Callable[[str], str]) -> None:
        self._hidden = hidden
        self._forms: dict[str, tuple[_Form, ...]] = {}
        self._vended: dict[Seen, dict[str, None]] = {place: {} for place in Seen}
        self._ordered: list[_Form] = []
        self._in_runs: list[str] = []
        self._elsewhere: list[str] = []
        self._heads: dict[str, list[int]] = {}
        self._harmless: set[str] = set()
        self._stale = False

    def add(self, value: str) -> None:
        """Remember a value permanently."""
        for vended in self._vended.values():
            vended.pop(value, None)
        if value not in self._forms:
            self._forms[value] = tuple(_forms_of(value))
            self._stale = True

    def add_vended(self, values: Iterable[str], seen: Seen = Seen.IN_BODY) -> None:
        """Remember values for a while: every answer may vend others, and old ones disappear."""
        vended = self._vended[seen]
        for value in values:
            if value in self._forms and value not in vended:
                continue
            vended.pop(value, None)
            vended[value] = None
            if value not in self._forms:
                self._forms[value] = tuple(_forms_of(value))
                self._stale = True
        while len(vended) > seen.most:
            oldest = next(iter(vended))
            del vended[oldest], self._forms[oldest]
            self._stale = True

    def stand_in(self, *parts: str) -> bool:
        """Return whether any value occurs in one of the parts of a text, in any spelling."""
        return self._are_in("\n".join((*parts, *(decoded(p) for p in parts if _is_spelled(p)))))

    def replaced(self, text: str, *, cut: bool = False) -> str:
        """Return a text without the values, and without their beginnings where it was ``cut``."""
        if self._are_in(text):
            text = self._without_forms(text)
        if _is_spelled(text) and self._are_in(decoded(text), cut=cut):
            text = self._without_spellings(text, cut=cut)
        return self._without_heads(text) if cut else text

    # ---- searching

    def _are_in(self, text: str, *, cut: bool = False) -> bool:
        if self._stale:
            self._sort()
        if any(map(text.__contains__, self._elsewhere)):
            return True
        if cut and self._without_heads(text) != text:
            return True
        runs = set(_RUN.findall(text)) - self._harmless
        if not runs:
            return False
        joined = "\n".join(runs)
        if any(map(joined.__contains__, self._in_runs)):
            return True
        self._harmless |= runs
        if len(self._harmless) > _HARMLESS_RUNS_MAX:
            self._harmless.clear()
        return False

    def _sort(self) -> None:
        every = [form for forms in self._forms.values() for form in forms]
        self._ordered = sorted(every, key=lambda form: (form.encoded, -len(form.text)))
        texts = {form.text for form in every}
        self._in_runs = [text for text in texts if _RUN.fullmatch(text)]
        self._elsewhere = [text for text in texts if not _RUN.fullmatch(text)]
        self._heads = {}
        for place, form in enumerate(self._ordered):
            if len(form.text) >= _CUT_FORM_MIN:
                self._heads.setdefault(form.text[:_HEAD_CHARACTERS], []).append(place)
        self._harmless.clear()
        self._stale = False

    def _longest_first(self) -> list[_Form]:
        """Return all forms, plain before encoded and longer before shorter ones.

        The order matters because a credential contains its secret.
        """
        if self._stale:
            self._sort()
        return self._ordered

    # ---- replacing

    def _without_forms(self, text: str) -> str:
        for form in self._longest_first():
            if form.text not in text:
                continue
            hidden = self._hidden(form.value)
            if form.encoded:
                text = _without_code(text, form.text, hidden)
            else:
                text = text.replace(form.text, hidden)
        return text

    def _without_spellings(self, text: str, *, cut: bool) -> str:
        """Replace other spellings of a value: the piece between blanks or quotes, or all."""
        pieces = _BREAKS.split(text)
        for at, piece in enumerate(pieces):
            if _is_spelled(piece) and self._are_in(plain := decoded(piece), cut=cut):
                plain = self._without_forms(plain)
                pieces[at] = self._without_heads(plain) if cut else plain
        text = "".join(pieces)
        plain = decoded(text)
        return self._without_forms(plain) if self._are_in(plain) else text

    def _without_heads(self, text: str) -> str:
        """Replace the beginning of a value at the end of a text that was cut off."""
        for place in sorted(place for head in self._heads_in(text) for place in self._heads[head]):
            text = self._without_heads_of(self._ordered[place], text)
        return text

    def _heads_in(self, text: str) -> list[str]:
        """Return the beginnings of values in a text: most texts are short, and have none."""
        if self._stale:
            self._sort()
        if len(text) > _TEXT_PER_HEAD * len(self._heads):
            return [head for head in self._heads if head in text]
        ends = range(_HEAD_CHARACTERS, len(text) + 1)
        return [*self._heads.keys() & {text[end - _HEAD_CHARACTERS : end] for end in ends}]

    def _without_heads_of(self, form: _Form, text: str) -> str:
        head = form.text[:_HEAD_CHARACTERS]
        parts, done, at = [], 0, text.find(head)
        while at >= 0:
            end = at + _in_common(text, at, form.text)
            # Paths are also cut at a slash, to make a location beside them.
            is_cut = text[end - 1] == "/" or _CUT.match(text, end)
            if _is_varied(text[at:end]) and is_cut:
                start = max(_start_of_code(text, at), done) if form.encoded else at
                parts += [text[done:start], self._hidden(form.value)]
                done = end
            at = text.find(head, end)
        return "".join(parts) + text[done:]


def _forms_of(value: str) -> Iterator[_Form]:
    """Yield the spellings of a value to search for; escapes are decoded in the text instead."""
    # Text from the wire may hold half of a surrogate pair, which no encoding accepts.
    encoded = [quote(value, safe="", errors="replace"), quote_plus(value, errors="replace")]
    spellings = dict.fromkeys((value, *encoded, decoded(value)))
    for spelling in spellings:
        if spelling == value or len(spelling) >= _FORM_CHARACTERS_MIN:
            yield _Form(spelling, value, encoded=False)
    if not value.isascii():
        yield _Form(value.encode("utf-8", "replace").decode("latin-1"), value, encoded=False)
    codes = dict.fromkeys(code for each in spellings for code in _codes_of(each))
    for code in codes:
        if len(code) >= _FORM_CHARACTERS_MIN:
            yield _Form(code, value, encoded=True)


def _codes_of(value: str) -> Iterator[str]:
    """Yield the part of base64 or hex that any encoded text with the value contains."""
    data = value.encode("utf-8", "replace")
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + data).decode()
        # The characters at both ends also depend on the bytes before and after the value.
        sure = encoded[-(-offset * 8 // 6) : (offset + len(data)) * 8 // 6]
        yield sure
        yield sure.translate({ord("+"): "-", ord("/"): "_"})
    yield data.hex()
    yield data.hex().upper()


def _is_varied(head: str) -> bool:
    """Return whether the beginning of a value is varied enough not to end a text by chance."""
    return _WORD.fullmatch(head) is None and len(set(head)) >= 5


def _is_spelled(text: str) -> bool:
    """Return whether a text may have escapes."""
    return "%" in text or "\\" in text or "\0" in text or "&" in text


def decoded(text: str) -> str:
    """Return a text with its escapes decoded, nested ones too."""
    for _ in range(_DECODINGS_MAX):
        before = text
        if "\0" in text:
            text = text.replace("\0", "")
        if "\\" in text:
            text = _ESCAPE.sub(_unescaped, text)
        if "&" in text:
            text = html.unescape(text)
        if "%" in text:
            text = unquote(text, errors="replace")
        if text == before:
            break
    return text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])


def _without_code(text: str, form: str, hidden: str) -> str:
    """Replace the whole of each base64 or hex text in which a form occurs."""
    parts, done = [], 0
    while (at := text.find(form, done)) >= 0:
        start = max(_start_of_code(text, at), done)
        end = at + len(form)
        while end < len(text) and text[end] in _ENCODED:
            end += 1
        while end < len(text) and text[end] == "=":
            end += 1
        parts += [text[done:start], hidden]
        done = end
    return "".join(parts) + text[done:]


def _start_of_code(text: str, at: int) -> int:
    while at > 0 and text[at - 1] in _ENCODED:
        at -= 1
    return at


def _in_common(text: str, at: int, form: str) -> int:
    """Return how many characters of a form's beginning a text has at a place."""
    count = 0
    while count < len(form) and at + count < len(text) and text[at + count] == form[count]:
        count += 1
    return count
