"""The specification as data: operations, responses, errata, lines and the requirements register.

`load(version)` returns the contract of one specification version. Slow parts (the register, the
corrected documents) are read when first asked for and then kept.

Line numbers that a comment or docstring of this project names, such as L109-L138, are those of the
1.10.0 document. No code reads them: the register cites sentences by their words, and their lines
are looked up per version.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from icecheck.contract import document, operations, releases
from icecheck.contract.document import DEFAULT_SPEC_VERSION, SPEC_VERSIONS
from icecheck.contract.facts import (
    PROFILES,
    PROFILES_SINCE,
    Action,
    Changes,
    Creation,
    Facts,
    IncompleteFacts,
    Object,
    Place,
    When,
)
from icecheck.contract.faults import ContractError
from icecheck.contract.model import (
    Basis,
    Erratum,
    Later,
    Level,
    Lines,
    Operation,
    Parameter,
    Ref,
    RefKind,
    Requirement,
    Response,
    UnknownRef,
    UnresolvedRows,
)

JUDGED_VERSIONS = SPEC_VERSIONS
"""The versions that a run can hold to: of each demand there is a check, or a reason why not.

A version that is only imported is not among them: nothing is called conformant to it.
"""

__all__ = [
    "DEFAULT_SPEC_VERSION",
    "JUDGED_VERSIONS",
    "PROFILES",
    "SPEC_VERSIONS",
    "Action",
    "Basis",
    "Changes",
    "Contract",
    "ContractError",
    "Creation",
    "Erratum",
    "Facts",
    "IncompleteFacts",
    "Later",
    "Level",
    "Lines",
    "Object",
    "Operation",
    "Parameter",
    "Place",
    "Ref",
    "RefKind",
    "Requirement",
    "Response",
    "UnknownRef",
    "UnresolvedRows",
    "When",
    "contract_for",
    "first_with",
    "load",
]


@dataclass(frozen=True, slots=True)
class Contract:
    """One version of the specification. Everything it returns is shared and must not be changed."""

    version: str

    def is_at_least(self, release: str) -> bool:
        """Return whether this version is a release's, or a later one."""
        return not releases.is_newer(release, self.version)

    @property
    def operations(self) -> Mapping[str, Operation]:
        """Operation id -> Operation, 30 of them in 1.10.0, in the document's order."""
        return operations.operations(self.version)

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles of this version, the core first: all but those that came later."""
        later = {p for p, s in PROFILES_SINCE.items() if releases.is_newer(s, self.version)}
        return tuple(profile for profile in PROFILES if profile not in later)

    @property
    def default_endpoints(self) -> tuple[str, ...]:
        """The endpoints that a client assumes when the configuration lists none (L109-L138)."""
        return operations.default_endpoints(self.version)

    @property
    def before_config(self) -> frozenset[str]:
        """Ids of the operations that clients call before they know the config: config and token."""
        return operations.before_config(self.version)

    def by_object(self, action: Action) -> Mapping[str, str]:
        """Return object -> id of the operation with this action, such as table -> dropTable."""
        return operations.by_object(self.version, action)

    def operation_that(self, action: Action, what: Object | str) -> str:
        """Return the id of the one operation that does this with an object, such as dropTable.

        Raises LookupError where none does, or several.
        """
        return operations.operation_that(self.version, action, Object(what)).id

    @property
    def documented_responses(self) -> tuple[Response, ...]:
        """Every row of every response table, 259 in 1.10.0."""
        return tuple(
            row for operation in self.operations.values() for row in operation.responses.values()
        )

    @property
    def table_updates(self) -> tuple[str, ...]:
        """The actions of a table commit, 23 in 1.10.0."""
        return operations.table_updates(self.version)

    @property
    def view_updates(self) -> tuple[str, ...]:
        """The actions of a view commit, 8 in 1.10.0."""
        return operations.view_updates(self.version)

    @property
    def table_assertions(self) -> tuple[str, ...]:
        """The requirement types of a table commit, 8 in 1.10.0."""
        return operations.table_assertions(self.version)

    @property
    def view_assertions(self) -> tuple[str, ...]:
        """The requirement types of a view commit, 1 in 1.10.0."""
        return operations.view_assertions(self.version)

    @property
    def requirements(self) -> Mapping[str, Requirement]:
        """Requirement id -> Requirement: the register, generated rows first.

        Raises UnresolvedRows, which lists every row that points at nothing in this version.
        """
        from icecheck.contract.register import register_of

        return register_of(self.version).rows

    @property
    def elsewhere(self) -> Mapping[str, str]:
        """Ids of requirements that only other versions have -> why, such as "since 1.11.0"."""
        from icecheck.contract.register import register_of

        return register_of(self.version).elsewhere

    @property
    def errata(self) -> Mapping[str, Erratum]:
        """Erratum id -> what is wrong in the official document."""
        from icecheck.contract.overlay import errata

        return errata(self.version)

    @property
    def raw(self) -> dict[str, Any]:
        """The document as published, without its prose and examples."""
        return document.raw_document(self.version)

    @property
    def document_sha256(self) -> str:
        """Hex sha256 of the official document's canonical structure."""
        return document.official_sha256(self.version)

    def document_at(self, release: str) -> tuple[str, str, str]:
        """Return the tag, the hash of the structure and the URL of a release's document."""
        older = releases.document_of(self.version, release)
        brought, sha256 = older or (self.version, self.document_sha256)
        tag = f"apache-iceberg-{brought}"
        return tag, sha256, document.whole_document(tag)

    def corrected(
        self, parts: Collection[str] = ("repair",), leave_out: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the document with errata applied.

        `parts` are "repair" and "strict"; `leave_out` names erratum ids not to apply. An unknown
        part raises ValueError, an unknown erratum UnknownRef.
        """
        from icecheck.contract.overlay import corrected

        return corrected(self.version, parts, leave_out)

    def tolerant(self) -> dict[str, Any]:
        """Return the repaired document, which also allows what later documents allow in answers."""
        from icecheck.contract.overlay import tolerant

        return tolerant(self.version)

    def response(self, operation_id: str, status: int) -> Response | None:
        """Return the documented row for a status, the 5XX row for an unlisted 5xx, or None."""
        return operations.response(self.version, operation_id, status)

    def lines(self, pointer: str) -> Lines:
        """Return the lines of a JSON pointer in the official document.

        Raises UnknownRef for a pointer that is not in it.
        """
        return document.lines_of(self.version, pointer)

    def permalink(self, lines: Lines) -> str:
        """Return the URL of a span of lines of the official document at its release tag.

        Lines are counted in the document that the contract was made from; the file at the tag has
        fewer (L19-L22 are a note of the person who copied it), and the URL allows for that.
        """
        return document.permalink(self.version, releases.released_lines(self.version, lines))

    @property
    def lines_not_released(self) -> int:
        """How many lines the contract's document has that the file at its release tag has not."""
        return releases.lines_not_released(self.version)

    @property
    def releases(self) -> tuple[str, ...]:
        """The releases whose document differs from the one before, up to this version."""
        return releases.releases(self.version)

    @property
    def later(self) -> tuple[Later, ...]:
        """The facts of documents after this version that a catalog's answers can show."""
        return releases.later(self.version)

    def since(self, ref: Ref, lines: Lines | None = None) -> str:
        """Return the first release whose document has a Ref, and the words of lines if given.

        A member of a schema is as old as its lines. Raises UnknownRef for a Ref without a date.
        """
        return releases.since(self.version, (ref,), lines)

    def where(self, ref: Ref) -> Lines:
        """Return the lines that a Ref points at.

        Raises UnknownRef when it points at nothing.
        """
        from icecheck.contract.citations import lines_of_ref

        return lines_of_ref(self.version, ref)


def contract_for(release: str) -> Contract:
    """Return the contract of the demands in a release's document.

    It is that of the oldest version whose document is not older: its register dates every demand.
    Raises ValueError for a release that is newer than all versions.
    """
    for version in sorted(SPEC_VERSIONS, key=releases.number):
        if not releases.is_newer(release, version):
            return load(version)
    raise ValueError(f"no document covers release {release!r}; known: {SPEC_VERSIONS}")


def first_with(id_: str) -> Contract:
    """Return the oldest contract with this operation or requirement; LookupError without one."""
    for contract in map(Contract, sorted(SPEC_VERSIONS, key=releases.number)):
        if id_ in contract.operations or id_ in contract.requirements:
            return contract
    raise LookupError(f"no version has the operation or requirement {id_}")


def load(version: str) -> Contract:
    """Return the contract of a specification version, such as 1.10.0.

    Raises ValueError, which names the known ones, for any other.
    """
    if version not in SPEC_VERSIONS:
        raise ValueError(f"unknown specification version {version!r}; known: {SPEC_VERSIONS}")
    return Contract(version)
