"""Checks by sequences of steps that are judged by a reference model, and by recorded clients.

PYTEST_DONT_REWRITE: checks contain no assert statements.
"""
