"""The designs: each a whole catalog, such as a product could be, and the freedoms that it takes.

A freedom that takes operations away comes last: the others are installed on operations that exist.
"""

from dataclasses import dataclass

from tests.lawful.answers import ANSWERS
from tests.lawful.freedom import Freedom
from tests.lawful.known import KNOWN
from tests.lawful.plans import PLANS
from tests.lawful.refusing import REFUSING
from tests.lawful.servers import SERVERS

FREEDOMS: dict[str, Freedom] = {**ANSWERS, **REFUSING, **SERVERS, **PLANS, **KNOWN}


@dataclass(frozen=True, slots=True)
class Design:
    """A catalog: its story in one sentence, and the names of its freedoms."""

    story: str
    freedoms: tuple[str, ...]


DESIGNS: dict[str, Design] = {
    "bucket-for-each-table": Design(
        "A cloud service gives each table a bucket, and keys for it that last a quarter of an "
        "hour.",
        ("root-on-s3", "bucket-of-its-own", "vends-s3", "client-location-400", "purge-403",
         "title-case-headers", "empty-first-page", "no-etags", "plans-later",
         "format-version-2-501", "no-token-endpoint",),
    ),
    "hadoop-veteran": Design(
        "An old Hadoop metastore speaks REST through a gateway: lower-case names, one level, "
        "HDFS.",
        ("root-on-hdfs", "lower-case-names", "nested-namespaces-400", "cookies",
         "version-1-by-default", "plain-text-400", "empty-first-page", "tags-commits",
         "plans-at-the-third-poll", "staged-tables-conflict", "no-views-served",),
    ),
    "google-warehouse": Design(
        "A warehouse on Google Cloud makes its own places, and hides what strangers may not see.",
        ("root-on-gs", "vends-gcs", "hidden-from-strangers", "client-location-403", "gzip",
         "charset", "short-pages", "no-etags", "plans-at-the-third-poll", "format-version-3-400",
         "tables-are-unsupported",),
    ),
    "azure-lake": Design(
        "A lake on Azure sits behind a gateway that adds headers and compresses.",
        ("root-on-abfss", "vends-adls", "gzip", "cookies", "title-case-headers", "strangers-403",
         "short-pages", "weak-etags", "plans-later", "version-2-only", "slows-down",
         "tables-are-unsupported",),
    ),
    "files-over-https": Design(
        "A vendor serves table files over HTTPS, and signs each request of a client.",
        ("root-on-https", "signs", "chunked", "trailing-slash", "errors-with-stack", "short-pages",
         "tags-commits", "plans-ready-at-once", "format-version-3-406", "tags-422",),
    ),
    "opaque-volumes": Design(
        "A vendor's own volumes hold the tables: locations mean nothing to anybody else.",
        ("root-of-its-own", "no-prefix", "own-error-types", "metadata-only-snapshots-422",
         "client-location-501", "client-view-location-501", "no-pagination", "weak-etags",
         "plans-at-the-third-poll", "format-version-3-501", "locations-untold",
         "staged-tables-conflict",),
    ),
    "many-accounts": Design(
        "A service for many accounts has long prefixes and says little of strangers.",
        ("long-prefix", "hidden-from-strangers", "own-error-types", "settings-for-clients",
         "any-warehouse", "no-pagination", "tags-commits", "plans-later",
         "empty-commit-is-a-version", "names-with-plus-400", "slows-down",),
    ),
    "one-warehouse": Design(
        "A single-tenant server has one warehouse, whatever a client asks for, and no prefix.",
        ("no-prefix", "any-warehouse", "open-reading", "no-namespace-properties", "counting-tokens",
         "no-etags", "plans-ready-at-once", "table-relocation-501", "view-dialects-422",
         "format-version-3-406",),
    ),
    "relational-tables": Design(
        "A relational database keeps the catalog: short logs, ids from sequences, whole seconds.",
        ("first-ids", "short-metadata-log", "clock-of-seconds", "touched-namespaces",
         "parents-first-404", "unfit-updates-409", "counting-tokens", "weak-etags",
         "one-file-a-task", "version-3-by-default",),
    ),
    "key-value-store": Design(
        "A key-value store answers lists in its own order, and pages that may be empty.",
        ("unsorted-lists", "empty-first-page", "weak-etags", "one-error-type",
         "plans-ready-at-once", "no-empty-namespace-properties", "tags-406", "view-dialects-422",
         "repeats-safely", "no-listing-of-views-served", "unsorted-tasks",),
    ),
    "git-like": Design(
        "A catalog with branches of its own keeps no table refs but main, and marks each version.",
        ("main-only", "marks-versions", "no-snapshot-log", "current-snapshot-only",
         "empty-commit-is-a-version", "empty-first-page", "no-rename", "no-empty-view-members",
         "no-view-rename", "no-register-served",),
    ),
    "streaming-sink": Design(
        "A sink of streams serves only what appends need: no views, no renames, no transactions.",
        ("no-pagination", "names-with-dot-400", "names-with-slash-422",
         "absent-properties-stay-absent", "lists-later-endpoints", "no-views-served",
         "no-renames-served", "no-transactions", "no-planning", "no-credentials-served",),
    ),
    "planner": Design(
        "A service for scans plans everything later, one file in a task, and leaves residuals "
        "to clients.",
        ("plans-later-one-file-a-task", "no-residuals", "empty-task-lists", "vends-s3",
         "no-incremental-plans", "counting-tokens", "prefix-in-defaults", "view-relocation-400",
         "metadata-only-snapshots-422", "version-3-by-default", "uuids-of-version-7",),
    ),
    "patient-planner": Design(
        "A slow planner is asked three times before it has an answer.",
        ("plans-at-the-third-poll", "tasks-behind-tasks", "new-predicates", "one-error-type",
         "counting-tokens", "vending-credentials", "no-incremental-plans", "one-case",
         "cross-namespace-view-rename-406", "no-staging",),
    ),
    "quick-planner": Design(
        "A planner gives each plan an id and has it ready when it is asked for the first time.",
        ("plans-ready-at-once", "plans-with-credentials", "knows-more-of-tables", "root-on-s3",
         "no-pagination", "view-dialects-406", "trailing-slash", "short-metadata-log",
         "nested-namespaces-501", "metadata-only-snapshots-400", "format-version-2-501",
         "statistics-unasked",),
    ),
    "deep-planner": Design(
        "Plans without ids hand out tasks behind tasks.",
        ("tasks-behind-tasks", "no-plan-ids", "one-file-a-task", "chunked", "empty-first-page",
         "no-etags", "no-namespace-properties", "purge-403", "no-move", "format-version-3-409",
         "unsorted-tasks",),
    ),
    "proxy-in-front": Design(
        "A proxy rewrites headers, spells media types in its way and answers bad requests as "
        "text.",
        ("plain-text-400", "cookies", "other-media-type-spelling", "title-case-headers",
         "escaped-json", "chunked", "one-file-a-task", "stage-create-403", "client-location-501",
         "purge-403", "two-view-versions",),
    ),
    "javascript-server": Design(
        "A server in a dynamic language sends nulls for what it has not, sorted and indented.",
        ("pretty-json", "missing-null", "nulls-and-empty-beside", "charset", "no-etags",
         "plans-later-one-file-a-task", "cross-namespace-rename-406", "names-with-dot-409",
         "no-replacing-of-views-served", "no-metrics-served",),
    ),
    "terse-server": Design(
        "A server leaves out whatever is empty or optional.",
        ("no-empty-namespace-properties", "missing-left-out", "no-statistics-shown",
         "no-empty-view-members", "no-metadata-log", "no-snapshot-log", "no-plan-ids",
         "no-residuals", "empty-first-page", "weak-etags", "plans-later-one-file-a-task",),
    ),
    "ahead-of-time": Design(
        "A catalog follows the next document already.",
        ("lists-later-endpoints", "announces-later-members", "repeats-safely", "tags-commits",
         "knows-more-of-tables", "warehouse-not-found", "plans-with-credentials", "new-predicates",
         "later-members", "short-pages", "one-file-a-task", "own-separator",
         "names-with-dot-400",),
    ),
    "governed": Design(
        "A catalog with governance adds owners and policies to everything, and guards what "
        "refs name.",
        ("busy-metadata", "busy-views", "own-properties", "refs-guard-snapshots",
         "reserved-namespace-properties", "added-properties", "short-pages", "tags-commits",
         "taken-ids-refused", "plans-later-one-file-a-task", "stage-create-403", "root-on-abfss",
         "format-version-2-422",),
    ),
    "strict": Design(
        "A strict catalog refuses each doubtful request that no sentence demands.",
        ("one-change-a-table", "absent-properties-stay-absent", "plain-definitions-only",
         "parents-first-400", "refs-guard-snapshots", "taken-ids-refused", "unfit-updates-422",
         "views-are-unsupported", "no-overwrite", "plans-at-the-third-poll", "vends-adls",
         "root-on-hdfs",),
    ),
    "immovable": Design(
        "A service places everything once: nothing is moved, and nothing renamed across "
        "namespaces.",
        ("fixed-location", "no-move", "client-location-400", "view-relocation-400",
         "cross-namespace-view-rename-406", "plans-ready-at-once", "lower-case-names",
         "format-version-3-422", "names-with-plus-409", "keeps-cancelled-plans",
         "other-media-refused",),
    ),
    "no-renaming": Design(
        "A catalog whose names are keys renames nothing.",
        ("no-rename", "no-view-rename", "names-with-slash-400", "names-with-percent-400",
         "sparse-ids", "no-pagination", "one-file-a-task", "unfit-updates-422",
         "format-version-2-400", "one-level-namespaces", "keeps-cancelled-plans",),
    ),
    "narrow": Design(
        "A query service allows lower-case identifiers only, in one level.",
        ("narrow-names", "nested-namespaces-422", "names-with-unicode-400", "version-2-only",
         "no-pagination", "plans-later-one-file-a-task", "client-location-400", "stage-create-403",
         "no-head", "no-transactions", "other-media-refused", "nothing-empty",),
    ),
    "reader": Design(
        "A published catalog is read only, and asks nobody who he is.",
        ("open-reading", "later-members", "chunked", "no-metadata-log", "unsorted-lists",
         "pretty-json", "weak-etags", "root-on-https", "vends-gcs", "read-only",),
    ),
    "reader-of-shares": Design(
        "A sharing server shows the current snapshot of each table, and needs a token for "
        "everything.",
        ("current-snapshot-only", "vends-unasked", "no-etags", "strangers-419", "cookies",
         "escaped-json", "long-prefix", "root-of-its-own", "missing-null", "read-only",
         "locations-untold",),
    ),
    "first-release": Design(
        "A young catalog sends no endpoints and serves just what clients then assume.",
        ("no-endpoints-listed", "no-pagination", "no-etags", "main-only", "parents-first-400",
         "missing-left-out", "one-change-a-table", "minus-one-for-no-snapshot",
         "names-with-space-404", "purge-403", "any-token",),
    ),
    "second-release": Design(
        "A young catalog in its next version sends no endpoints still, and serves more.",
        ("no-endpoints-listed", "counting-tokens", "tags-commits", "vending-credentials",
         "client-ids", "plans-later", "fixed-location", "view-relocation-406",
         "names-with-slash-400", "tags-501", "uuids-of-version-7",),
    ),
    "keeps-ids": Design(
        "A catalog keeps the ids that a client sends, and the unsorted order beside each.",
        ("client-ids", "unsorted-order-too", "newest-first", "short-pages",
         "names-with-percent-400", "format-version-2-406", "narrow-names", "clock-ahead",
         "names-with-unicode-400", "branches-501", "nothing-empty",),
    ),
    "sparse": Design(
        "A distributed catalog draws its ids from ranges, so they have gaps.",
        ("sparse-ids", "own-view-versions", "newest-first", "other-spelling", "short-pages",
         "purge-403", "stage-create-403", "strangers-419", "client-view-location-406",
         "one-level-namespaces",),
    ),
    "old-clock": Design(
        "A machine's clock is an hour behind, and nobody has noticed.",
        ("clock-behind", "vends-s3", "marks-versions", "tags-commits", "counting-tokens",
         "empty-task-lists", "cross-namespace-rename-406", "format-version-1-501",
         "client-view-location-501", "no-credentials-served", "nulls", "format-version-3-409",),
    ),
    "new-clock": Design(
        "A machine's clock is two hours ahead.",
        ("clock-ahead", "plans-later", "busy-metadata", "no-snapshot-log", "tags-commits",
         "parents-first-404", "format-version-1-422", "plain-definitions-only",
         "metadata-only-snapshots-400", "views-undeclared", "nulls",),
    ),
    "version-three-only": Design(
        "A new engine's catalog makes tables of format version 3 alone.",
        ("format-version-1-422", "format-version-2-422", "added-properties", "plans-later",
         "announces-later-members", "nested-namespaces-422", "mixed-case-names-422",
         "table-relocation-400", "no-views-served", "no-head", "own-separator",
         "names-with-dot-400",),
    ),
    "version-one-museum": Design(
        "An archive makes tables of version 1, and upgrades none to version 3.",
        ("version-1-by-default", "format-version-3-501", "purge-403", "no-staging",
         "client-view-location-403", "view-relocation-501", "no-overwrite", "names-with-space-400",
         "other-spelling", "client-location-400",),
    ),
    "warehouse-product": Design(
        "A database product shows its managed tables: no places, purges or versions by clients.",
        ("stage-create-403", "purge-403", "client-location-406", "tags-422", "branches-422",
         "table-relocation-422", "view-relocation-422", "view-dialects-501", "name-mapping-added",
         "cross-namespace-view-rename-406",),
    ),
    "wide-refusals": Design(
        "A product answers everything it lacks with 501.",
        ("stage-create-403", "tags-501", "branches-501", "table-relocation-501",
         "view-relocation-501", "view-dialects-501", "metadata-only-snapshots-501",
         "nested-namespaces-501", "format-version-1-406", "clock-behind",),
    ),
    "polite-refusals": Design(
        "A product answers everything it lacks with 406, as the document does elsewhere.",
        ("stage-create-403", "tags-406", "branches-406", "table-relocation-406",
         "view-relocation-406", "view-dialects-406", "purge-403", "nested-namespaces-406",
         "client-location-406", "client-view-location-406",),
    ),
    "plain-refusals": Design(
        "A product answers everything it lacks with 400.",
        ("stage-create-403", "tags-400", "branches-400", "table-relocation-400",
         "view-relocation-400", "view-dialects-400", "purge-403", "client-view-location-400",
         "format-version-3-400", "unfit-updates-409",),
    ),
    "forbidding": Design(
        "A product says of everything that it lacks that it is forbidden.",
        ("client-location-403", "client-view-location-403", "purge-403", "one-table-a-location",
         "reserved-namespace-properties", "strangers-403", "root-on-gs", "names-by-kind",
         "format-version-1-501", "metadata-only-snapshots-406",),
    ),
    "names-of-words": Design(
        "A catalog for spreadsheets refuses odd characters in names, with 422.",
        ("names-with-plus-409", "names-with-percent-422", "names-with-slash-422",
         "names-with-dot-409", "names-with-space-404", "names-with-unicode-422",
         "mixed-case-names-422", "deep-namespaces-400", "format-version-1-400",
         "metadata-only-snapshots-501", "view-relocation-422", "any-token",),
    ),
    "case-blind": Design(
        "A catalog keeps the case of names and finds them in any.",
        ("one-case", "names-with-dot-400", "names-with-space-400", "names-with-plus-400",
         "deep-namespaces-400", "views-are-unsupported", "bare-view-errors", "format-version-3-422",
         "format-version-1-406", "branches-400", "values-are-unprocessable",),
    ),
    "upper-hand": Design(
        "A product from the mainframe refuses mixed case, and shows every snapshot always.",
        ("mixed-case-names-400", "every-snapshot", "format-version-2-400", "settings-for-clients",
         "signs", "one-table-a-location", "branches-406", "touched-namespaces", "tags-400",
         "no-token-endpoint", "values-are-unprocessable", "deep-namespaces-501",),
    ),
    "views-by-name": Design(
        "A catalog keeps tables and views apart: each may have the other's name.",
        ("names-by-kind", "own-view-ids", "bare-view-errors", "other-view-spelling", "busy-views",
         "client-view-location-400", "names-with-percent-422", "bucket-of-its-own",
         "table-relocation-422", "view-dialects-400", "no-cancelling-served",
         "two-view-versions", "deep-namespaces-501",),
    ),
    "views-promised": Design(
        "A catalog claims views that it does not have yet.",
        ("first-ids", "table-relocation-406", "format-version-2-406",
         "nested-namespaces-406", "own-properties", "branches-422", "no-metrics-served",
         "no-register-served", "no-renames-served",),
    ),
    "half-of-views": Design(
        "A catalog lists no views and replaces none.",
        ("own-view-versions", "nested-namespaces-400", "names-with-unicode-422",
         "no-statistics-shown", "cross-namespace-view-rename-406", "metadata-only-snapshots-406",
         "no-listing-of-views-served", "no-replacing-of-views-served", "no-cancelling-served",
         "no-namespace-updates-served",),
    ),
    "mapped-names": Design(
        "A migration tool adds mappings of names, and dates, to what it makes.",
        ("name-mapping-added", "dated-namespaces", "prefix-in-defaults",
         "minus-one-for-no-snapshot", "other-media-type-spelling", "names-with-plus-409",
         "format-version-1-400", "clock-of-seconds", "views-undeclared",
         "no-namespace-updates-served",),
    ),
    "everything-shown": Design(
        "A catalog for developers adds stacks to errors, and shows every snapshot, ref and "
        "default.",
        ("errors-with-stack", "every-snapshot", "dated-namespaces", "unsorted-order-too",
         "nulls-and-empty-beside", "root-on-s3", "vends-unasked", "warehouse-not-found",
         "mixed-case-names-400",
         "own-view-ids", "other-view-spelling", "no-planning", "statistics-unasked",),
    ),
}  # fmt: skip
"""Name -> the design."""
