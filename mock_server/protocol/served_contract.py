"""The contract that the mock serves: one version of the document, named in this place."""

from icecheck.contract import load

SERVED = load("1.10.0")
