"""The share of mutants that the tests notice is counted per module, and too small a one fails."""

import pytest

from tests.mutation.__main__ import holds


def results(**counts):
    """What mutmut prints: for each module, how many mutants ended how."""
    lines = [
        f"    icecheck.{module}.x_f{ending.split()[0]}__mutmut_{number}: {ending}"
        for module, endings in counts.items()
        for ending, count in endings.items()
        for number in range(count)
    ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("printed", "enough"),
    [
        (results(judge={"killed": 9, "survived": 1}), True),
        (results(judge={"killed": 8, "timeout": 1, "survived": 1}), True),
        (results(judge={"killed": 89, "survived": 11}), False),
        (results(judge={"killed": 8, "no tests": 2}), False),
        (results(judge={"killed": 8, "not checked": 2}), False),
        (results(judge={"killed": 99}, expect={"killed": 1, "survived": 1}), False),
        ("", False),
    ],
    ids=["enough", "timeout", "too-few", "no-tests", "not-checked", "one-module", "nothing"],
)
def test_every_module_is_held_to_its_share(printed, enough):
    assert holds(printed) is enough


def test_what_went_unnoticed_is_named(capsys):
    holds(results(judge={"killed": 9, "survived": 1}))
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "survived: icecheck.judge.x_fsurvived__mutmut_0",
        "icecheck.judge: 9 of 10 noticed (90.0%)",
    ]
