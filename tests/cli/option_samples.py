"""For every option of every command: values that have to make a difference, and where.

A sample is run twice, with and without what its option adds; something that can be seen (a request,
a line, a file, an exit code) has to differ.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """``given`` is the option as it is typed, ``beside`` what both runs have too.

    ``otherwise`` is typed in its place in the other run, ``catalog`` names the mock that both meet.
    """

    given: tuple[str, ...]
    beside: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()
    catalog: str = "plain"


_CREDENTIAL = ("--credential", "me:secret")
_READING = ("--read-only",)

_SHARED = {
    "url": Sample(("URL",), catalog="unnamed"),
    "--catalog-url": Sample(("--catalog-url", "URL"), catalog="unnamed"),
    "--warehouse": Sample(("--warehouse", "other")),
    "--prefix": Sample(("--prefix", "other")),
    "--token": Sample(("--token", "t")),
    "--credential": Sample(_CREDENTIAL, catalog="oauth2"),
    "--oauth2-server-uri": Sample(
        ("--oauth2-server-uri", "URL/v1/elsewhere"), beside=_CREDENTIAL, catalog="oauth2"
    ),
    "--scope": Sample(("--scope", "mine"), beside=_CREDENTIAL, catalog="oauth2"),
    "--allow-host": Sample(("--allow-host", "127.0.0.1:1"), catalog="leading"),
    "--header": Sample(("--header", "x-mine: yes")),
    "--ca-bundle": Sample(("--ca-bundle", "not.pem")),
    "--client-cert": Sample(("--client-cert", "not.pem")),
    "--client-key": Sample(
        ("--client-key", "not.pem"), beside=("--client-cert", "both.pem"), catalog="plain"
    ),
    "--sigv4": Sample(("--sigv4", "eu-west-1/execute-api")),
    "--timeout": Sample(("--timeout", "7")),
    "--rate-limit": Sample(("--rate-limit", "4000")),
    "--config": Sample(("--config", "header.toml")),
    "--pyiceberg-catalog": Sample(("--pyiceberg-catalog", "mine")),
    "--spark-conf": Sample(("--spark-conf", "spark.conf", "--spark-catalog", "a")),
    "--spark-catalog": Sample(("--spark-catalog", "a"), beside=("--spark-conf", "spark.conf")),
    "--namespace": Sample(("--namespace", "theirs")),
    "--location-root": Sample(("--location-root", "s3://bucket/tests")),
    "--reader-token": Sample(("--reader-token", "theirs")),
    "--reader-credential": Sample(
        ("--reader-credential", "nobody:secret"), beside=("--token", "t"), catalog="oauth2"
    ),
    "--second-warehouse": Sample(("--second-warehouse", "other")),
    "--name-pattern": Sample(("--name-pattern", "orders_{run}")),
    "--isolation": Sample(("--isolation", "flat")),
    "--accept-residue": Sample(("--accept-residue",)),
    "--read-only": Sample(_READING),
    "--given-namespace": Sample(("--given-namespace", "theirs"), beside=_READING),
    "--given-table": Sample(("--given-table", "theirs.t"), beside=_READING),
    "--given-view": Sample(("--given-view", "theirs.v"), beside=_READING),
    "--claim": Sample(("--claim", "listViews"), catalog="hiding"),
    "--second-token": Sample(("--second-token", "theirs")),
    "--second-credential": Sample(
        ("--second-credential", "nobody:secret"), beside=("--token", "t"), catalog="oauth2"
    ),
}

_OF_A_RUN = {
    "--given-namespace": ("--check", "loadNamespaceMetadata.loaded"),
    "--given-table": ("--check", "loadTable.succeeds"),
    "--given-view": ("--check", "loadView.*"),
    "--claim": ("--check", "listViews.*"),
    "--second-token": ("--check", "auth.second-principal-is-told"),
    "--second-credential": ("--check", "auth.second-principal-is-told"),
    "--reader-token": ("--check", "auth.reader-on-every-route"),
    "--reader-credential": ("--check", "auth.reader-on-every-route"),
    "--second-warehouse": ("--check", "auth.second-warehouse-on-every-route"),
    "--location-root": ("--check", "createTable.succeeds"),
    "--isolation": ("--check", "createTable.succeeds"),
    "--name-pattern": ("--check", "createTable.succeeds"),
    "--namespace": ("--check", "createTable.succeeds"),
    "--accept-residue": ("--check", "createTable.succeeds"),
}


def _selecting(of: dict[str, Sample]) -> dict[str, Sample]:
    """Add to samples the checks that make their difference."""
    return {
        name: Sample(s.given, (*s.beside, *_OF_A_RUN.get(name, ())), s.otherwise, s.catalog)
        for name, s in of.items()
    }


_SMALL = ("--check", "getConfig.answered")
_CHOOSING = {
    "--race-rounds": Sample(("--race-rounds", "1"), beside=("--check", "race.create-namespace")),
    "--fuzz-cases": Sample(
        ("--fuzz-cases", "1"), beside=("--check", "generated.reportMetrics.fuzzed")
    ),
    "--fuzz-seconds": Sample(
        ("--fuzz-seconds", "0.001"), beside=("--check", "generated.reportMetrics.fuzzed")
    ),
    "--disruptive": Sample(("--disruptive",), beside=("--check", "updateTable.large-commit")),
    "--only": Sample(("--only", "scenarios"), beside=("--check", "*.tables", "--check", "get*")),
    "--check": Sample(_SMALL, beside=("--check", "getConfig.bad-token")),
    "--run-id": Sample(("--run-id", "mine"), beside=("--check", "createNamespace.created")),
    "--seed": Sample(("--seed", "7"), beside=("--check", "scenario.namespaces-and-tables")),
}
_MOCK = {"catalog": "unnamed"}
_FAILING = ("--check", "dropNamespace.holds-table", "--check", "loadTable.succeeds")

OF_COMMAND: dict[str, dict[str, Sample]] = {
    "run": _selecting(_SHARED)
    | _CHOOSING
    | {
        "--thorough": Sample(("--thorough",), beside=("--check", "scenario.namespaces-and-tables")),
        "--mock": Sample(("--mock",), beside=_SMALL, **_MOCK),
        "--clients": Sample(("--clients",), beside=("--check", "*.answered")),
        "--spark": Sample(("--spark",), beside=("--check", "*.answered")),
        "--smoke": Sample(("--smoke",), beside=("--only", "checks"), catalog="reading"),
        "--last-failed": Sample(("--last-failed",), beside=("--output", "failed")),
        "--spec": Sample(("--spec", "1.6.0"), beside=("--check", "listViews.all")),
        "--fail-fast": Sample(("--fail-fast",), beside=_FAILING, catalog="defective"),
        "--implementation": Sample(("--implementation", "Mine"), beside=_SMALL),
        "--output": Sample(("--output", "mine"), beside=_SMALL),
        "--workers": Sample(("--workers", "2"), beside=_SMALL),
        "--expectations": Sample(
            ("--expectations", "known.toml"), beside=_FAILING, catalog="defective"
        ),
        "--update-expectations": Sample(
            ("--update-expectations",), beside=_FAILING, catalog="defective"
        ),
        "--witnessed-only": Sample(("--witnessed-only",), beside=_SMALL),
        "--requirement-set": Sample(("--requirement-set", "iceberg-rest/1.10.0@0.0.0")),
        "--iceberg-jar": Sample(("--iceberg-jar", "a.jar"), beside=("--only", "spark")),
        "--iceberg-packages": Sample(("--iceberg-packages", "a:b:c"), beside=("--only", "spark")),
        "--regressions": Sample(
            ("--regressions", "kept"), beside=("--check", "scenario.namespaces-and-tables")
        ),
        "--quiet": Sample(("--quiet",), beside=_SMALL),
        "--verbose": Sample(("--verbose",), beside=_SMALL),
    },
    "plan": _selecting(_SHARED)
    | _CHOOSING
    | {"--spec": Sample(("--spec", "1.8.0"), beside=("--check", "dropNamespace.*"))},
    "explore": {
        "--minutes": Sample(("--minutes", "0.002"), beside=("URL",), **_MOCK),
        "--spec": Sample(("--spec", "99.0.0")),
        "--findings": Sample(("--findings", "mine")),
    },
    "replay": _SHARED
    | {
        "file": Sample(("other.json",)),
        "--check": Sample(("--check", "getConfig.answered")),
        "--claim": Sample(("--claim", "loadNamespaceMetadata"), catalog="keeping"),
        "--mock": Sample(("--mock",), **_MOCK),
        "--run-id": Sample(("--run-id", "mine")),
        "--seed": Sample(("--seed", "7")),
        "--output": Sample(("--output", "mine")),
    },
    "spark-matrix": _SHARED
    | {
        "--mock": Sample(("--mock",), **_MOCK),
        "--combination": Sample(("--combination", "spark-4.0-iceberg-1.11.0")),
        "--list": Sample(("--list",)),
        "--check": Sample(("--check", "spark.merge")),
        "--environments": Sample(("--environments", "mine")),
        "--output": Sample(("--output", "mine")),
    },
    "doctor": _SHARED,
    "clean": _SHARED
    | {
        "--claim": Sample(("--claim", "loadNamespaceMetadata"), catalog="keeping"),
        "--ledger": Sample(("--ledger", "ledger.jsonl"), otherwise=("--ledger", "none.jsonl")),
    },
    "pipeline": _SHARED
    | {
        "--prefix": Sample(("--prefix", "other"), beside=("--namespace", "theirs")),
        "--mock": Sample(("--mock",), **_MOCK),
        "--scale": Sample(("--scale", "0.2")),
        "--seed": Sample(("--seed", "7")),
        "--state": Sample(("--state", "mine")),
        "--keep": Sample(("--keep",), beside=("--state", "mine")),
        "--master": Sample(("--master", "local[1]"), otherwise=("--master", "here")),
    },
    "compare": {
        "runs": Sample(("passed", "failed"), otherwise=("passed", "passed"), **_MOCK),
        "--format": Sample(("--format", "json"), beside=("passed", "failed"), **_MOCK),
    },
    "gate": {
        "report": Sample(("failed",), otherwise=("passed",), **_MOCK),
        "--require": Sample(("--require", "views"), beside=("passed",), **_MOCK),
        "--max-age": Sample(("--max-age", "0h"), beside=("passed",), **_MOCK),
    },
    "bundle": {
        "directory": Sample(("passed",), otherwise=("failed",), **_MOCK),
        "--output": Sample(("--output", "mine.zip"), beside=("passed",), **_MOCK),
        "--organization": Sample(("--organization", "Acme"), beside=("passed",), **_MOCK),
        "--product": Sample(("--product", "Catalog"), beside=("passed",), **_MOCK),
        "--product-version": Sample(("--product-version", "7"), beside=("passed",), **_MOCK),
        "--contact": Sample(("--contact", "a@b.example"), beside=("passed",), **_MOCK),
    },
    "verify": {"bundle": Sample(("known.zip",), otherwise=("missing.zip",), **_MOCK)},
    "list": {
        "what": Sample(("operations",), **_MOCK),
        "--group": Sample(("--group", "spark"), **_MOCK),
        "--format": Sample(("--format", "json"), beside=("operations",), **_MOCK),
        "--diff": Sample(("--diff", "1.8.0", "1.9.0"), beside=("requirements",), **_MOCK),
        "--spec": Sample(("--spec", "1.11.0"), **_MOCK),
    },
    "explain": {"id_": Sample(("createTable",), otherwise=("dropTable",), **_MOCK)},
    "self-test": {
        "--defect": Sample(
            ("--defect", "namespace-drop-cascades"),
            otherwise=("--defect", "accept-compared"),
            **_MOCK,
        ),
        "--quiet": Sample(("--quiet",), beside=("--defect", "namespace-drop-cascades"), **_MOCK),
    },
    "serve": {
        name: Sample(given, beside, **_MOCK)
        for name, given, beside in (
            ("--host", ("--host", "127.0.0.2"), ()),
            ("--port", ("--port", "0"), ()),
            ("--warehouse", ("--warehouse", "wh=s3://bucket/wh"), ()),
            ("--token", ("--token", "t"), ()),
            ("--client", ("--client", "me:secret:catalog"), ()),
            ("--token-ttl", ("--token-ttl", "5"), ("--client", "me:secret")),
            ("--vend", ("--vend", "s3"), ()),
            ("--hide", ("--hide", "listViews"), ()),
            ("--profile", ("--profile", "single-level-namespaces"), ()),
            ("--spec", ("--spec", "1.11.0"), ()),
            ("--idempotency-lifetime", ("--idempotency-lifetime", "PT5M"), ("--spec", "1.11.0")),
            ("--namespace-separator", ("--namespace-separator", "%2E"), ()),
            ("--seed", ("--seed", "7"), ()),
            ("--root", ("--root", "here"), ()),
            ("--table-locations", ("--table-locations", "by-name"), ()),
            ("--page-size-max", ("--page-size-max", "5"), ()),
            ("--fault", ("--fault", "answer-lost,times=2"), ()),
            ("--defect", ("--defect", "namespace-drop-cascades"), ()),
            ("--allow-location", ("--allow-location", "file:/tmp/icecheck"), ()),
            ("--allow-host", ("--allow-host", "mock.test"), ()),
            ("--ready-file", ("--ready-file", "ready.json"), ()),
            ("--seed-file", ("--seed-file", "no-such.yaml"), ()),
            ("--admin", ("--no-admin",), ()),
            ("--admin-token", ("--admin-token", "boss"), ()),
            ("--log", ("--log", "off"), ()),
            ("--quiet", ("--quiet",), ()),
            ("--journal-file", ("--journal-file", "requests.jsonl"), ()),
            ("--run", ("--run",), ("--", "true")),
        )
    }
    | {"beside": Sample(("--run", "--", "true"), otherwise=("--run",), **_MOCK)},
    "proxy": _SHARED
    | {
        "--host": Sample(("--host", "127.0.0.2")),
        "--port": Sample(("--port", "8282")),
        "--allow-host": Sample(("--allow-host", "mock.test")),
        "--implementation": Sample(("--implementation", "Mine")),
        "--output": Sample(("--output", "mine")),
        "--ready-file": Sample(("--ready-file", "ready.json")),
        "--run": Sample(("--run",), beside=("--", "true")),
        "beside": Sample(("--run", "--", "true"), otherwise=("--run",)),
    },
    "connect": {
        name: Sample((name, value), ("spark",), **_MOCK)
        for name, value in (
            ("--uri", "http://another:1"),
            ("--warehouse", "another"),
            ("--name", "another"),
            ("--token", "t0ken"),
            ("--credential", "me:secret"),
        )
    }
    | {"--s3": Sample(("--s3",), ("spark",), **_MOCK)}
    | {"client": Sample(("duckdb",), otherwise=("spark",), **_MOCK)},
}


def sample_of(command: str, option: str) -> Sample | None:
    """Return the sample of an option of a command; None if nobody has written one."""
    return OF_COMMAND[command].get(option)
