"""One sequence of requests, sent to both sides, with every difference of the answers found."""

import time

from tests.interop.oracle.answer import Answer, Json
from tests.interop.oracle.difference import (
    ANSWER,
    BODY,
    COMMIT,
    CREATE,
    CREATING_COMMIT,
    FILE,
    VERSION,
    WHOLE,
    Difference,
    answer_differences,
    metadata_differences,
    said,
)
from tests.interop.oracle.normal import Names
from tests.interop.oracle.reference import Reference
from tests.interop.oracle.step import Step
from tests.interop.oracle.subject import Subject


class Duel:
    """Both sides with one table, or none yet.

    `table` is the mock's metadata, `staged` that of the last staged table; `steps` is what was
    sent. After a difference the reference continues from the mock's table; `over` says that it
    cannot, because it does not read that table as the mock does.
    """

    def __init__(self, reference: Reference, subject: Subject) -> None:
        self._reference, self._subject = reference, subject
        subject.start_again()
        reference.hold(None)
        start_ms = time.time_ns() // 1_000_000
        files: dict[str, str] = {}
        self._sides = (Names(start_ms, files), Names(start_ms, files))
        self._locations: list[str | None] = [None, None]
        self._files = files
        self.over = False
        self.table: Json | None = None
        self.staged: Json | None = None
        self.steps: list[Step] = []
        self.answers: tuple[Answer, Answer] | None = None

    def send(self, step: Step) -> list[Difference]:
        """Send one request to both; give what differs, each with the change that makes it."""
        self.steps.append(step)
        before = self.table
        one, other = self._both(step)
        self.answers = one, other
        found = self._compared(step, before, one, other)
        if other.accepted:
            if step.creates and step.body.get("stage-create"):
                self.staged = other.metadata
            else:
                self.table = other.metadata
        if any(not each.only_in_type for each in found):
            if not step.creates:
                found = [self._blamed(step, each, before) for each in found]
            self._level()
        return found

    def _both(self, step: Step) -> tuple[Answer, Answer]:
        bodies = [side.written(step.body) for side in self._sides]
        if step.creates:
            answers = (
                self._reference.create_table(bodies[0]),
                self._subject.create_table(bodies[1]),
            )
        else:
            answers = (
                self._reference.update_table(bodies[0]),
                self._subject.update_table(bodies[1]),
            )
        return answers

    def _level(self) -> None:
        held = self._reference.hold(self.table)
        self._locations[0] = held
        if held is not None:
            read = self._reference.update_table({"requirements": [], "updates": []})
            self.over = read.metadata != self.table
            assert self._locations[1] is not None
            self._files[held] = self._files[self._locations[1]]
            self._sides[0].uuid = self._sides[1].uuid
            self._sides[0].location = self._sides[1].location

    def _compared(
        self, step: Step, before: Json | None, one: Answer, other: Answer
    ) -> list[Difference]:
        operation = CREATE if step.creates else COMMIT if before else CREATING_COMMIT
        if not (one.accepted and other.accepted):
            if other.accepted:
                self._note(step, before, 1, other)
            return answer_differences(operation, one, other)
        changed = [self._note(step, before, at, answer) for at, answer in ((0, one), (1, other))]
        if changed[0] != changed[1]:
            return [Difference(operation, BODY, VERSION, _yes(changed[0]), _yes(changed[1]))]
        documents = [
            side.normal(_metadata(answer))
            for side, answer in zip(self._sides, (one, other), strict=True)
        ]
        found = metadata_differences(operation, *documents)
        if one.metadata_location is not None and other.metadata_location is not None and changed[0]:
            places = [
                side.place_of_file(location)
                for side, location in zip(self._sides, map(str, self._locations), strict=True)
            ]
            if places[0] != places[1]:
                found.append(Difference(operation, BODY, FILE, *places))
        return found

    def _note(self, step: Step, before: Json | None, at: int, answer: Answer) -> bool:
        """Remember what a side calls things now; whether it made a new version."""
        own_location = before is None and not (step.creates and step.body.get("location"))
        if not step.creates:
            own_location &= all(u.get("action") != "set-location" for u in step.body["updates"])
        if before is None:
            self._sides[at].learn(answer, own_location=own_location)
        else:
            self._sides[at].learn(answer, own_location=False)
        location = answer.metadata_location
        if location is None:
            return False
        changed = location != self._locations[at]
        self._locations[at] = location
        if changed:
            self._files[location] = f"$version{len(self.steps)}"
        return changed

    # Which change makes a difference

    def _blamed(self, step: Step, found: Difference, before: Json | None) -> Difference:
        """Find the change that makes a difference, by sending parts of the commit again.

        A refusal is made by the change with which it begins. Other differences too; but the
        first changes of a commit that creates make no table yet, so there it is the last change
        without which the difference is gone.
        """
        if found.of_the_whole:
            return found.by(WHOLE)
        requirements, updates = step.body["requirements"], step.body["updates"]
        if found.operation == CREATING_COMMIT and found.what != ANSWER:
            return found.by(self._gone_without(found, requirements, updates))
        for at, requirement in enumerate(requirements):
            if self._begins(found, requirements[: at + 1], [], before):
                return found.by(str(requirement.get("type")))
        for at, update in enumerate(updates[:-1]):
            if self._begins(found, requirements, updates[: at + 1], before):
                return found.by(str(update.get("action")))
        return found.by(str(updates[-1].get("action")))

    def _gone_without(
        self, found: Difference, requirements: list[Json], updates: list[Json]
    ) -> str:
        """The action of the last update, or of all but the first of an action, in question."""
        shorter = [(update, updates[:at] + updates[at + 1 :]) for at, update in enumerate(updates)]
        for update in updates:
            first = next(each for each in updates if each.get("action") == update.get("action"))
            rest = [u for u in updates if u is first or u.get("action") != update.get("action")]
            shorter.insert(0, (update, rest))
        for update, rest in reversed(shorter):
            again = self._again(requirements, rest, found.operation, None)
            if again is not None and found not in again:
                return str(update.get("action"))
        return WHOLE

    def _begins(
        self, found: Difference, requirements: list[Json], updates: list[Json], before: Json | None
    ) -> bool:
        if found.what != ANSWER:
            return found in (self._again(requirements, updates, found.operation, before) or [])
        body = self._sides[1].written({"requirements": requirements, "updates": updates})
        if found.ours != "200":
            answer = self._subject.tried(body)
            return (answer.outcome, said(answer)) == (found.ours, found.we_say)
        self._reference.hold(before)
        answer = self._reference.update_table(body)
        return (answer.outcome, said(answer)) == (found.reference, found.says)

    def _again(
        self, requirements: list[Json], updates: list[Json], operation: str, before: Json | None
    ) -> list[Difference] | None:
        """What differs when this is sent to the table as it was, but for the names of files.

        None if one of the sides refuses it.
        """
        held = self._reference.hold(before)
        ours = self._sides[1]
        body = ours.written({"requirements": requirements, "updates": updates})
        one, other = self._reference.update_table(body), self._subject.tried(body)
        if not (one.accepted and other.accepted):
            return None
        documents = []
        for answer in (one, other):
            uuid = _metadata(answer)["table-uuid"]
            side = Names(ours.start_ms, {}, uuid, ours.location, ours.sent_ms)
            documents.append(side.normal(_metadata(answer)))
        found = metadata_differences(operation, *documents)
        changed = one.metadata_location != held, _metadata(other) != before
        if changed[0] != changed[1]:
            found.append(Difference(operation, BODY, VERSION, _yes(changed[0]), _yes(changed[1])))
        return found


def _metadata(answer: Answer) -> Json:
    assert answer.metadata is not None
    return answer.metadata


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
