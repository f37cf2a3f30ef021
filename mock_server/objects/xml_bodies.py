"""The bodies that S3 has in XML, read without entities and written again from what was read."""

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, TreeBuilder, tostring
from xml.parsers import expat

import msgspec

from icecheck.mock_server.objects.refusals import S3Refusal
from icecheck.mock_server.objects.values import is_number

_OBJECTS_MAX = 1000
_PARTS_MAX = 10_000
_DEPTH_MAX = 8
_ELEMENTS_MAX = 10 * _PARTS_MAX


class ObjectToDelete(msgspec.Struct, frozen=True):
    """One object of a request that deletes several."""

    key: str
    version: str | None = None


def objects_to_delete(body: bytes) -> tuple[ObjectToDelete, ...]:
    """Return the objects that a body names."""
    root = _read(body, "Delete")
    found = []
    for each in _children(root, "Object"):
        key = _text(each, "Key")
        if not key:
            raise _malformed("an Object has no Key")
        found.append(ObjectToDelete(key, _text(each, "VersionId")))
    if not 0 < len(found) <= _OBJECTS_MAX:
        raise _malformed(f"it names 1 to {_OBJECTS_MAX} objects")
    return tuple(found)


def deletion_body(objects: Iterable[ObjectToDelete]) -> bytes:
    """Return the body that deletes these objects."""
    root = Element("Delete")
    for each in objects:
        child = SubElement(root, "Object")
        SubElement(child, "Key").text = each.key
        if each.version is not None:
            SubElement(child, "VersionId").text = each.version
    return _written(root)


def parts_body(body: bytes) -> bytes:
    """Return the body that completes an upload, written again."""
    root = Element("CompleteMultipartUpload")
    parts = _children(_read(body, "CompleteMultipartUpload"), "Part")
    if not 0 < len(parts) <= _PARTS_MAX:
        raise _malformed(f"it names 1 to {_PARTS_MAX} parts")
    for each in parts:
        number, tag = (_text(each, "PartNumber") or "").strip(), _text(each, "ETag")
        if not is_number(number, 1, _PARTS_MAX) or not tag or not tag.strip():
            raise _malformed("a Part has no PartNumber or no ETag")
        child = SubElement(root, "Part")
        SubElement(child, "PartNumber").text = number
        SubElement(child, "ETag").text = tag
    return _written(root)


def _read(body: bytes, name: str) -> Element:
    builder = TreeBuilder()
    depth = elements = 0

    def begin(tag: str, _attributes: object) -> None:
        nonlocal depth, elements
        depth += 1
        elements += 1
        if depth > _DEPTH_MAX or elements > _ELEMENTS_MAX:
            raise _malformed("it is nested too deeply, or has too many elements")
        builder.start(_local(tag), {})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def refuse(*_: object) -> None:
        raise _malformed("a document type cannot stand there")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(body, True)
        root = builder.close()
    except (expat.ExpatError, AssertionError, LookupError, ValueError):
        raise _malformed("it is no XML") from None
    if root.tag != name:
        raise _malformed(f"it is no {name}")
    return root


def _children(element: Element, name: str) -> list[Element]:
    return [child for child in element if child.tag == name]


def _text(element: Element, name: str) -> str | None:
    """Return the text of the only child of this name; None without one."""
    found = _children(element, name)
    if len(found) > 1 or any(len(child) for child in found):
        raise _malformed(f"{name} is repeated, or no text")
    return (found[0].text or "") if found else None


def _written(root: Element) -> bytes:
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    # A reader takes a bare carriage return for a line feed: that would be another key.
    return written.replace(b"\r", b"&#13;")


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _malformed(why: str) -> S3Refusal:
    return S3Refusal(400, "MalformedXML", f"The XML of the body cannot be used: {why}")
