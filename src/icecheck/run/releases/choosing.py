"""The release that a run holds to: named by the user, or found out from the catalog's config."""

from dataclasses import dataclass

import httpx

from icecheck.client.opening import preflight
from icecheck.contract import DEFAULT_SPEC_VERSION, load
from icecheck.contract.releases import number
from icecheck.findings.release import shown_version
from icecheck.run.releases.demands import release_to_hold_to
from icecheck.targets.offer import Offer
from icecheck.targets.target import Target, UsageError
from icecheck.wire.connection import TargetUnusable
from icecheck.wire.redaction import Redactor

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class ChosenRelease:
    """A release, why it was chosen if the user did not name it, and older ones told beside it."""

    spec: str
    reason: str = ""
    beside: tuple[str, ...] = ()


def chosen_release(
    text: str | None,
    target: Target,
    redactor: Redactor,
    option: str = "--spec",
    transport: httpx.BaseTransport | None = None,
) -> ChosenRelease:
    """Return what a user's text means: a release, several with commas between, "auto" or None.

    "auto" asks the catalog for its config. A catalog that cannot be asked gets the default release:
    the run itself says why. Raises UsageError for a release that cannot be held to.
    """
    if text == AUTO:
        return _shown(target, redactor, transport)
    spec, *beside = named_releases(text, option)
    return ChosenRelease(spec, beside=tuple(beside))


def named_releases(text: str | None, option: str = "--spec") -> tuple[str, ...]:
    """Return the releases in a user's text, the newest first; the default one without any.

    So it is for "auto", as nothing is asked here. Raises UsageError as `chosen_release`, and for a
    release that is named twice.
    """
    if text is None or text == AUTO:
        return (release_to_hold_to(DEFAULT_SPEC_VERSION, option),)
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1 and AUTO in parts:
        raise UsageError(f"{option} {text}: auto stands alone")
    found = [release_to_hold_to(part, option) for part in parts]
    if len(set(found)) < len(found):
        raise UsageError(f"{option} {text}: name each release once")
    return tuple(sorted(found, key=number, reverse=True))


def _shown(
    target: Target, redactor: Redactor, transport: httpx.BaseTransport | None
) -> ChosenRelease:
    try:
        config = preflight(target, load(DEFAULT_SPEC_VERSION), transport, redactor)
    except TargetUnusable:
        return ChosenRelease(DEFAULT_SPEC_VERSION, "auto: the catalog has shown no config")
    return ChosenRelease(*shown_version(config, Offer.read(config, target)))
