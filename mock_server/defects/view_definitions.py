"""Ways in which servers lose parts of what a view is, or what a commit to it demands."""

from typing import Any

from msgspec.structs import replace

from icecheck.mock_server.context import Registries
from icecheck.mock_server.defects import defect
from icecheck.mock_server.defects.rewriting import alter_request_body

Json = dict[str, Any]


@defect(
    "view-commit-default-catalog-lost",
    breaks="view-update.add-view-version.effect",
    suffering="A view reads tables of another catalog than it was written for.",
)
def _default_catalog_lost(registries: Registries) -> None:
    """A version that a commit adds has no default catalog."""
    faithful = registries.view_updates["add-view-version"]

    def altered(update: Any, draft: Any) -> None:
        version = replace(update.view_version, default_catalog=None)
        faithful(replace(update, view_version=version), draft)

    registries.view_updates["add-view-version"] = altered


@defect(
    "view-commit-skips-unknown-requirements",
    breaks="view-assertion.unknown-refused",
    suffering="A condition that a newer client relies on is ignored.",
)
def _skips_unknown_requirements(registries: Registries) -> None:
    """Requirements on a view that the server does not know count as satisfied."""

    def known(body: Json) -> Json:
        requirements = body.get("requirements") or []
        kept = [r for r in requirements if r.get("type") == "assert-view-uuid"]
        return {**body, "requirements": kept}

    alter_request_body(registries, "replaceView", known)
