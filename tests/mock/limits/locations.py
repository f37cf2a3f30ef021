"""A foreign directory beside a warehouse's, and every way to spell a path into it."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

SCHEMA = {
    "type": "struct",
    "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}],
}
NAMESPACES = "/namespaces"
TABLES = f"{NAMESPACES}/ns/tables"
VIEWS = f"{NAMESPACES}/ns/views"

SPELLINGS = (
    "file:{path}",
    "file://{path}",
    "file:////{path}",
    "file://localhost{path}",
    "file://LOCALHOST{path}",
    "FILE://{path}",
    "File:{path}",
    "{path}",
    "/{path}",
    "file://{root}/wh/../../foreign{rest}",
    "file://{root}/wh/./..//.././foreign{rest}",
    "{root}/wh/../../foreign{rest}",
    "file://{root}/wh/out{rest}",
    "file:{root}/wh/inner/../out{rest}",
)
"""Each names the file `{path}`, which is `{rest}` in the foreign directory; `out` is a link."""

DECODED_ELSEWHERE = (
    "file://{root}/wh/%2e%2e/%2E%2E/foreign{rest}",
    "file://{root}/wh/%2e%2e%2f..%2Fforeign{rest}",
    "file://{root}/wh/o%75t{rest}",
    "file://{encoded}",
)
"""Each names that file to a client that decodes escapes: for the mock they are names as any."""

ANY_SPELLING = (*SPELLINGS, *DECODED_ELSEWHERE)

MALFORMED = (
    "file:foreign",
    "file:../../foreign",
    "file://foreign",
    "file://elsewhere.example/foreign",
    "file://{path}\0",
    "file://{root}/wh/\0/../../foreign{rest}",
    "file://{root}/wh/%00{rest}",
    "file://{root}/wh/" + "x/" * 4000,
    "file:",
    "file:/",
    "file:///",
    "/",
)
"""Each names no file that the mock could reach, or the root directory of the machine."""


class Ground:
    """`root`, with the warehouse `wh` in it, and `foreign` beside it: nobody may touch that."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self.foreign = directory / "foreign"
        (self.root / "wh" / "inner").mkdir(parents=True)
        (self.foreign / "kept").mkdir(parents=True)
        (self.foreign / "precious.metadata.json").write_text("{}")
        (self.root / "wh" / "out").symlink_to(self.foreign)

    def spelled(self, form: str, rest: str) -> str:
        """One way to name `rest` (it begins with a slash) of the foreign directory."""
        path = f"{self.foreign}{rest}"
        encoded = f"/{quote(path[1:], safe='')}"
        return form.format(path=path, root=self.root, rest=rest, encoded=encoded)

    def foreign_files(self) -> dict[str, bytes | None]:
        """What is in the foreign directory now: relative path to content, None for directories."""
        return {
            str(path.relative_to(self.foreign)): path.read_bytes() if path.is_file() else None
            for path in sorted(self.foreign.rglob("*"))
        }


def commit(http: httpx.Client, path: str, *updates: dict[str, Any]) -> httpx.Response:
    """Commit updates to a table or view without any requirement."""
    return http.post(path, json={"requirements": [], "updates": list(updates)})


def snapshot(number: int, **members: Any) -> dict[str, Any]:
    """A snapshot as an update that adds it."""
    added = {
        "snapshot-id": number,
        "sequence-number": number,
        "timestamp-ms": 1_700_000_000_000 + number,
        "summary": {"operation": "append"},
        **members,
    }
    return {"action": "add-snapshot", "snapshot": added}


def view_body(name: str, **members: Any) -> dict[str, Any]:
    """The body that creates a view."""
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": ["ns"],
        "representations": [{"type": "sql", "sql": "SELECT 1", "dialect": "spark"}],
    }
    return {"name": name, "schema": SCHEMA, "view-version": version, "properties": {}} | members


def refused(answer: httpx.Response) -> str:
    """The message of a refusal, once it was found to be an Iceberg error of status 400."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (400, 400, "BadRequestException")
    return str(error["message"])
