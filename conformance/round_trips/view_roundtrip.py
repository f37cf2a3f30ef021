"""A view for edge values with a bystander, and the judgement of what must stay unchanged."""

from collections.abc import Mapping
from typing import Any

from icecheck.client.catalog import Catalog
from icecheck.client.given import shared_object
from icecheck.conformance.kit.bisection import expect_kept
from icecheck.findings.shared_symptoms import EFFECT_ON_ANOTHER
from icecheck.objects import metadata_view
from icecheck.objects.reading import supported
from icecheck.objects.views import (
    MARK,
    View,
    current_versions,
    given_view,
    loaded_view,
    replace_view,
    settled_view,
    view_version,
)
from icecheck.replies.expect import Reply
from icecheck.targets.target import Namespace

Json = dict[str, Any]


def given_two(catalog: Catalog, **properties: str) -> tuple[View, View]:
    """Make a view to change, and return it with the bystander view that checks share."""
    view = loaded_view(catalog, given_view(catalog, properties={MARK: "first", **properties}))

    def make(maker: Catalog, namespace: Namespace) -> View:
        return loaded_view(maker, given_view(maker, namespace, properties={MARK: "beside"}))

    return view, shared_object(catalog, "bystander-view", make)


def metadata_of(catalog: Catalog, view: View) -> tuple[Reply, Json]:
    """Load a view that must exist, and return the answer and its metadata."""
    reply = catalog.load_view(view.namespace, view.name).expect(200)
    return reply, metadata_view.metadata_in(reply)


def current_version(metadata: Mapping[str, Any]) -> Json:
    """Return the current version of a view, or an empty object."""
    return next((dict(each) for each in current_versions(metadata)), {})


def view_properties(metadata: Mapping[str, Any]) -> Json:
    """Return the properties of a view, or an empty object."""
    properties = metadata.get("properties")
    return properties if isinstance(properties, dict) else {}


def expect_frame(catalog: Catalog, before: View, *changed: str) -> None:
    """Judge that only these members of a view have changed."""
    reply, metadata = metadata_of(catalog, before)
    was, now = settled_view(before.metadata, MARK), settled_view(metadata, MARK)
    if "versions" in changed:
        # Versions that are still there must be unchanged; older ones may have expired.
        kept = {key: value for key, value in was["versions"].items() if key in now["versions"]}
        now["versions"] = {key: now["versions"][key] for key in kept}
        was["versions"] = kept
    for member in {*changed} - {"versions"}:
        was.pop(member, None)
        now.pop(member, None)
    expect_kept(reply, was, now, EFFECT_ON_ANOTHER.of("view"), "what was not named")


def commit_version(catalog: Catalog, view: View, *versions: Json) -> Reply:
    """Add versions to a view, the last as the current one; end the check on an answer of 406."""
    updates: list[Json] = [{"action": "add-view-version", "view-version": v} for v in versions]
    updates.append({"action": "set-current-view-version", "view-version-id": -1})
    return supported(replace_view(catalog, view, updates))


def next_version(view: View, number: int, **members: Any) -> Json:
    """Return a version that differs from all others, with the next version id."""
    made = view_version(f"SELECT {number} AS id, 'a' AS data", namespace=view.namespace)
    made["version-id"] = number + 1
    made["schema-id"] = current_version(view.metadata).get("schema-id", 0)
    return made | members
