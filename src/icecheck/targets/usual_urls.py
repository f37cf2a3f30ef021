"""URLs at which a catalog may be when there is none at the given one."""

from collections.abc import Iterator

import httpx

_USUAL_PATHS = ("/api/catalog", "/catalog", "/iceberg")


def usual_urls(url: str) -> Iterator[str]:
    """Yield other URLs where the catalog may be: without ``/v1``, or at a usual path."""
    parts = httpx.URL(url)
    path = parts.path.rstrip("/")
    if path.endswith(("/v1", "/v1/config")):
        yield str(parts.copy_with(path=path.removesuffix("/config").removesuffix("/v1"))).rstrip(
            "/"
        )
        return
    if not path:
        for usual in _USUAL_PATHS:
            yield f"{url}{usual}"
