"""The contract that the tests are about, where they do not name a version of their own."""

from icecheck.contract import DEFAULT_SPEC_VERSION, load

CONTRACT = load(DEFAULT_SPEC_VERSION)
