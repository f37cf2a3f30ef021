"""The freedoms that other tests try one by one, with the lines of the document for each."""

from tests.lawful.capabilities.designs import QUIET, designs
from tests.lawful.freedom import Freedom
from tests.lawful.lawful import LAWFUL, OPEN
from tests.lawful.lawful_commits import LAWFUL_COMMITS
from tests.lawful.lawful_later import LAWFUL_LATER
from tests.lawful.lawful_tables import LAWFUL_TABLES, secretive
from tests.lawful.lawful_views import LAWFUL_VIEWS, plain_definitions_only

_ALLOWED: dict[str, tuple[str, str]] = {
    "one-level-namespaces": ("L2015-L2019: one or more levels", "levels"),
    "no-namespace-properties": ("L467, L3955: need not be supported", "namespace-properties"),
    "no-pagination": ("L2038-L2039: pagination is optional", "pages"),
    "counting-tokens": ("L2023-L2024: tokens are opaque", "pages"),
    "own-properties": ("L297-L298: the server may add properties", ""),
    "plain-text-400": ("L4512-L4513: text/plain", ""),
    "no-endpoints-listed": ("L112-L118: an optional field", "endpoints"),
    "no-head": ("L112-L118: endpoints says what is served", ""),
    "read-only": ("L112-L118: endpoints says what is served", ""),
    "narrow-names": ("silent: which names there may be", "names"),
    "lower-case-names": ("silent: the case of names", "names"),
    "open-reading": ("L4530-L4531: 401 is for tokens that are bad", "strangers"),
    "hidden-from-strangers": ("L403, L4548: what may be shown is the server's", "strangers"),
    "later-members": ("silent: the schemas are open", ""),
    "vending-credentials": ("L1861-L1866: the server may choose", "vending"),
    "busy-metadata": ("silent: properties of the server", "busy"),
    "other-spelling": ("silent: a location is any string", "empty"),
    "client-ids": ("silent: who numbers columns", "ids"),
    "unsorted-order-too": ("silent: further orders", ""),
    "no-etags": ("L1903-L1909: the header is optional", "etag"),
    "weak-etags": ("L1906, RFC 9110 8.8.1: a tag may be weak", "etag"),
    "current-snapshot-only": ("L973-L977: those that are currently valid", "snapshots"),
    "no-rename": ("L1271: renameTable has 406", "rename"),
    "no-move": ("L1236-L1237: not required", "rename"),
    "one-table-a-location": ("silent: what a location may hold", ""),
    "no-overwrite": ("silent: 409 for a table that exists", ""),
    "no-staging": ("L4547-L4548: the right may lack", "staging"),
    "main-only": ("silent: which refs there may be", "refs"),
    "version-1-by-default": ("silent: the version", "version"),
    "version-2-only": ("L33-L34: both v1 and v2 ideally", "version"),
    "version-3-by-default": ("silent: the version", "version"),
    "views-undeclared": ("L112-L118: endpoints says what is served", "views"),
    "no-view-rename": ("L1786: renameView has 406", "view-rename"),
    "own-view-versions": ("silent: whose time and summary", "view-versions"),
    "busy-views": ("silent: properties of the server", ""),
    "other-view-spelling": ("silent: the case of a uuid", ""),
    "bare-view-errors": ("L1514: the schema is a bare ErrorModel", ""),
    "sparse-ids": ("silent: which ids", "ids"),
    "newest-first": ("silent: lists have no order", ""),
    "marks-versions": ("silent: properties of the server", "busy"),
    "empty-commit-is-a-version": ("silent: commits of nothing", ""),
    "refs-guard-snapshots": ("silent: snapshots that a ref names", ""),
    "taken-ids-refused": ("silent: a definition under the id of another", ""),
    "fixed-location": ("silent: whether tables move", "relocation"),
    "absent-properties-stay-absent": ("silent: removal of what is absent", ""),
    "tables-are-unsupported": ("silent: which 4xx a view's foreign update has", ""),
    "views-are-unsupported": ("L1009-L1010, rule 6", ""),
    "one-change-a-table": ("silent: a table named twice", "transactions"),
    "staged-tables-conflict": ("L1049: one or more requirements failed", "staging"),
    "no-transactions": ("L112-L118: endpoints says what is served", "transactions"),
    "lists-later-endpoints": ("rule 10: a later document", "endpoints"),
    "warehouse-not-found": ("rule 10: a later document", "warehouse"),
    "announces-later-members": ("rule 10: a later document", ""),
    "repeats-safely": ("rule 10: a later document", ""),
    "tags-commits": ("rule 10: a later document", "etag"),
    "knows-more-of-tables": ("rule 10: a later document", ""),
    "plans-with-credentials": ("rule 10: a later document", ""),
    "keeps-cancelled-plans": ("L769-L770: what a plan holds can be released", ""),
    "other-media-refused": ("silent: other content types", ""),
    "nothing-empty": ("rule 21: an absent container", "empty"),
    "nulls": ("rule 21: null where the schema allows it", "empty"),
    "values-are-unprocessable": ("L1009-L1010: which 4xx", "unfit"),
    "new-predicates": ("rule 10: a later document", "residuals"),
}
"""Name -> the lines that allow it, and what it is about ("" where nothing excludes it)."""

_SAID = {
    "nested-namespaces": ("L2015-L2019: one or more levels", "levels"),
    "deep-namespaces": ("L2015-L2019: one or more levels", "levels"),
    "stage-create": ("L4547-L4548: the right may lack", "staging"),
    "client-location": ("silent: who places tables", "location"),
    "client-view-location": ("silent: who places views", "view-location"),
    "table-relocation": ("silent: whether tables move", "relocation"),
    "view-relocation": ("silent: whether views move", "view-relocation"),
    "cross-namespace-rename": ("L1236-L1237: not required", "rename"),
    "cross-namespace-view-rename": ("L1750-L1751: not required", "view-rename"),
    "metadata-only-snapshots": ("silent: files that are not there", "snapshots"),
    "branches": ("silent: which refs there may be", "branches"),
    "tags": ("silent: which refs there may be", "tags"),
    "format-version-1": ("L33-L34: ideally", ""),
    "format-version-2": ("L33-L34: ideally", ""),
    "format-version-3": ("L33-L34: v1 and v2", ""),
    "purge": ("L4547-L4548: the right may lack", "purge"),
    "view-dialects": ("silent: how many", "dialects"),
    "snapshots-refs": ("L973-L977: would load", "snapshots-mode"),
    "case-distinct-names": ("silent: the case of names", "names"),
    "mixed-case-names": ("silent: the case of names", "names"),
}
_OUTSIDE = {"plain-text-400", "bare-view-errors", "later-members", "warehouse-not-found"}
_NAMES = ("silent: which names there may be", "")
_TOLD = {**LAWFUL, **LAWFUL_TABLES, **LAWFUL_VIEWS, **LAWFUL_COMMITS, **LAWFUL_LATER}
_TRIED = {*QUIET} - {"every-snapshot", "one-case"}

KNOWN: dict[str, Freedom] = {
    **{
        name: Freedom(lines, _TOLD[name], about=about, outside=name in _OUTSIDE)
        for name, (lines, about) in _ALLOWED.items()
    },
    **{
        name: Freedom(lines, install, about=about)
        for name, (capability, install) in designs().items()
        if name not in _TRIED
        for lines, about in [_SAID.get(capability, _NAMES)]
    },
    "plain-definitions-only": Freedom("silent: odd definitions", plain_definitions_only),
    "any-token": Freedom("L4530-L4531: 401 is for tokens that are bad", OPEN, about="strangers"),
    "locations-untold": Freedom("L3284: metadata-location is a SHOULD", secretive),
}
"""Name -> the freedom."""
