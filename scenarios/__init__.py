"""Histories: state machines and multi-step workflows, judged against a reference model.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
